import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

export interface LeafWanted {
  /** As node:crypto tells it: one attribute a line. */
  readonly subject: string;
  /** Host names and addresses that the certificate must be good for. */
  readonly hosts: readonly string[];
}

/** The texts of a certificate and its key; undefined: no such file. */
export interface Pair {
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

const tried = <T>(parse: () => T): T | undefined => {
  try {
    return parse();
  } catch {
    return undefined; // the caller says what that means
  }
};

export const certificateOf = (pem: string): X509Certificate | undefined => tried(() => new X509Certificate(pem));
export const privateKeyOf = (pem: string): KeyObject | undefined => tried(() => createPrivateKey(pem));

/** Whether a certificate is not valid yet, or not valid for long. */
export const endsWithin = (cert: X509Certificate, now: Date, ms: number): boolean =>
  Date.parse(cert.validFrom) > now.getTime() || Date.parse(cert.validTo) - now.getTime() < ms;

/** Whether a certificate is not valid yet, or less than a third of its life is left. */
export const isInLastThird = (cert: X509Certificate, now: Date): boolean =>
  endsWithin(cert, now, (Date.parse(cert.validTo) - Date.parse(cert.validFrom)) / 3);

function covers(cert: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return cert.checkIP(host) !== undefined;
  const names = (cert.subjectAltName ?? '').toLowerCase().split(', ');
  return names.includes(`dns:${host.toLowerCase()}`);
}

/** Why a certificate has to be made anew; undefined: it serves. */
export function faultOf(
  pair: Pair,
  wanted: LeafWanted,
  authority: X509Certificate,
  isEnding: (cert: X509Certificate) => boolean,
): string | undefined {
  if (pair.cert === undefined || pair.key === undefined) return 'missing';
  const cert = certificateOf(pair.cert);
  const key = privateKeyOf(pair.key);
  if (cert === undefined || key === undefined) return 'unreadable';
  if (!cert.checkPrivateKey(key)) return 'certificate and key do not belong together';
  if (!cert.checkIssued(authority) || !cert.verify(authority.publicKey)) return 'made by another authority';
  if (isEnding(cert)) return 'expired, or soon to be';
  if (cert.subject !== wanted.subject) return 'made for another subject';
  const missing = wanted.hosts.filter((host) => !covers(cert, host));
  return missing.length === 0 ? undefined : `not valid for ${missing.join(', ')}`;
}

/** Whether one of the certificates in the text `authorities` made `cert`. */
export function isIssuedByOneOf(cert: string, authorities: string): boolean {
  const leaf = certificateOf(cert);
  const candidates = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return candidates.some((pem) => {
    const authority = certificateOf(pem);
    return authority !== undefined && leaf?.checkIssued(authority) === true && leaf.verify(authority.publicKey);
  });
}
