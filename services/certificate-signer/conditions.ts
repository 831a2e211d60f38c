import type { CertificateSigningRequest } from '../machinery/types/generated/certificates.v1.js';
import { now } from '../machinery/meta/time.js';

export type ConditionType = 'Approved' | 'Denied' | 'Failed';
type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number];

/** A condition that holds: only those of newer versions can be false. */
export const conditionOf = (csr: CertificateSigningRequest, type: ConditionType): Condition | undefined =>
  csr.status?.conditions?.find((it) => it.type === type && it.status !== 'False');

export const has = (csr: CertificateSigningRequest, type: ConditionType): boolean =>
  conditionOf(csr, type) !== undefined;

export const hasCertificate = ({ status }: CertificateSigningRequest): boolean => (status?.certificate ?? '') !== '';

/** The request with one more condition, as of now. */
export function withCondition<T extends CertificateSigningRequest>(
  csr: T,
  type: ConditionType,
  o: { readonly reason: string; readonly message: string },
): T {
  const time = now();
  const condition = { type, status: 'True', ...o, lastUpdateTime: time, lastTransitionTime: time };
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } };
}

/** The text of `spec.request`, which is base64 in JSON. */
export const requestText = ({ spec }: CertificateSigningRequest): string =>
  Buffer.from(spec?.request ?? '', 'base64').toString('latin1');
