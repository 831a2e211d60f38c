import type { X509Certificate } from 'node:crypto';
import { OID, readCertificate, valuesOf } from '../../../machinery/pki/certificate.js';
import { DerProblem } from '../../../machinery/pki/der.js';
import { CertificateRefused } from './verify.js';

/** The parts of a certificate's subject that name its holder. */
export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** @throws {CertificateRefused} Without a common name, and with several. */
export function subjectOf(certificate: X509Certificate): Subject {
  const [[commonName = '', ...others], organizations] = namesOf(certificate);
  if (commonName === '' || others.length > 0) throw new CertificateRefused('The certificate has no one common name');
  return { commonName, organizations };
}

function namesOf({
  raw,
}: X509Certificate): readonly [commonNames: readonly string[], organizations: readonly string[]] {
  try {
    const { subject } = readCertificate(raw);
    return [valuesOf(subject, OID.commonName), valuesOf(subject, OID.organization)];
  } catch (err) {
    if (err instanceof DerProblem) throw new CertificateRefused('The certificate is not in DER', { cause: err });
    throw err;
  }
}
