import type { AdmissionPlugin } from '../../plugin.js';
import { mayUseSigner, signingRequests, type SignersDeps } from './signers.js';

/** Who decides on a request for a certificate needs the right to `approve` for its signer (spec 2, 5.9). */
export const certificateApproval = (d: SignersDeps): AdmissionPlugin => ({
  operations: ['UPDATE'],
  resources: [signingRequests(d.vocabulary)],
  validate: (request) => (request.subresource === 'approval' ? mayUseSigner(d, request, 'approve') : undefined),
});
