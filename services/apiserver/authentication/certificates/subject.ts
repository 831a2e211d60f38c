import type { X509Certificate } from 'node:crypto';
import { CertificateRefused } from './verify.js';

/** The parts of a certificate's subject that name its holder. */
export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** @throws {CertificateRefused} Without a common name, and with several: nobody could tell which one is meant. */
export function subjectOf(certificate: X509Certificate): Subject {
  const { subject } = certificate.toLegacyObject() as { subject?: { CN?: string | string[]; O?: string | string[] } };
  const [commonName = '', ...others] = all(subject?.CN);
  if (commonName === '' || others.length > 0) throw new CertificateRefused('The certificate has no one common name');
  return { commonName, organizations: all(subject?.O) };
}

/** Node gives one value as a string and several as a list. */
const all = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;
