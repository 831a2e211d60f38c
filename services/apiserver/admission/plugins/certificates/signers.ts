import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { CertificateSigningRequest } from '../../../../machinery/types/generated/certificates.v1.js';
import type { Attributes, Decision } from '../../../authorization/authorizer.js';
import type { UserInfo } from '../../../request/request.js';
import type { AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';

export interface SignersDeps {
  readonly vocabulary: Vocabulary;
  /** Asks all authorizers. */
  readonly decide: (user: UserInfo, attributes: Attributes) => Promise<Decision> | Decision;
}

/** As the schema has checked it. */
export const asSigningRequest = (object: ApiObject | undefined): Pick<CertificateSigningRequest, 'spec' | 'status'> =>
  (object ?? {}) as Pick<CertificateSigningRequest, 'spec' | 'status'>;

export const signingRequests = ({ groups }: Vocabulary): string => `certificatesigningrequests.${groups.certificates}`;

/** The signer of a request may be named, or all of its domain. @throws {StatusError} Forbidden, without the right */
export async function mayUseSigner(
  { vocabulary, decide }: SignersDeps,
  request: AdmissionRequest,
  verb: 'approve' | 'sign',
): Promise<void> {
  const { signerName = '' } = asSigningRequest(request.oldObject).spec ?? {};
  const [domain = ''] = signerName.split('/');
  for (const name of [signerName, `${domain}/*`]) {
    const { decision } = await decide(request.user, {
      kind: 'resource',
      verb,
      group: vocabulary.groups.certificates,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
    });
    if (decision === 'allow') return;
  }
  throw refused(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`);
}
