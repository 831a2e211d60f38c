import type { AdmissionPlugin } from '../../plugin.js';
import { asSigningRequest, mayUseSigner, signingRequests, type SignersDeps } from './signers.js';

/** Who writes a certificate needs the right to `sign` for the signer (spec 2, 5.9). */
export const certificateSigning = (d: SignersDeps): AdmissionPlugin => ({
  operations: ['UPDATE'],
  resources: [signingRequests(d.vocabulary)],
  validate: (request) => {
    if (request.subresource !== 'status') return undefined;
    const [now, before] = [request.object, request.oldObject].map((it) => asSigningRequest(it).status?.certificate);
    return now === before ? undefined : mayUseSigner(d, request, 'sign');
  },
});
