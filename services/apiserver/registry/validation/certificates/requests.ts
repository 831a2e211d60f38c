import { signingRequestProblem } from '../../../../machinery/pki/signing-request.js';
import type * as certificates from '../../../../machinery/types/generated/certificates.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import type { KindValidation, TypeRules } from '../types.js';
import { checkSignerName } from './signer-names.js';
import { checkApproval, checkStatus } from './states.js';

/** More would be cut from the message. */
const MOST_SHOWN_BYTES = 1024;

const shownBytes = (bytes: Buffer): string =>
  `[]byte{${[...bytes.subarray(0, MOST_SHOWN_BYTES)].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`;

function checkRequest(at: At, request: string): void {
  const bytes = Buffer.from(request, 'base64');
  const problem = signingRequestProblem(bytes.toString('latin1'));
  if (problem !== undefined) at.invalidShown('request', shownBytes(bytes), problem);
}

export const certificatesRules = ({ signers }: Vocabulary): TypeRules<certificates.Types> => ({
  CertificateSigningRequestSpec: (at, { request, signerName = '' }) => {
    checkRequest(at, request ?? '');
    if (signerName === signers.legacyUnknown) {
      at.invalid('signerName', signerName, 'the legacy signerName is not allowed via this API version');
    } else if (signerName !== '') {
      checkSignerName(at, 'signerName', signerName);
    }
  },
});

export const certificateSigningRequests: KindValidation<certificates.CertificateSigningRequest> = {
  neverChanges: true,
  parts: { status: checkStatus, approval: checkApproval },
};
