import { DerProblem } from '../../../../machinery/pki/der.js';
import { requestedOrganizations } from '../../../../machinery/pki/signing-request.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { PRIVILEGED_GROUP } from '../../../request/users.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';
import { asSigningRequest, signingRequests } from './signers.js';

/** Nobody becomes a member of the group that may do everything by a certificate of the signer for clients (spec 2, 2.3). */
export const certificateSubjectRestriction = ({
  vocabulary,
}: {
  readonly vocabulary: Vocabulary;
}): AdmissionPlugin => ({
  operations: ['CREATE'],
  resources: [signingRequests(vocabulary)],
  validate: (request) => {
    const { signerName, request: pem = '' } = asSigningRequest(request.object).spec ?? {};
    if (request.subresource !== '' || signerName !== vocabulary.signers.apiServerClient) return;
    if (!organizationsOf(request, pem).includes(PRIVILEGED_GROUP)) return;
    throw refused(request, `use of ${signerName} signer with ${PRIVILEGED_GROUP} group is not allowed`);
  },
});

/** @throws {StatusError} Forbidden, where they cannot be read */
function organizationsOf(request: AdmissionRequest, base64: string): readonly string[] {
  try {
    return requestedOrganizations(Buffer.from(base64, 'base64').toString('latin1'));
  } catch (err) {
    if (err instanceof DerProblem) throw refused(request, `failed to parse CSR: ${err.message}`);
    throw err;
  }
}
