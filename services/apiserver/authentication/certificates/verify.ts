import type { X509Certificate } from 'node:crypto';

/** What a client presented: its own certificate first, then what it sent along to lead to an authority. */
export type Presented = readonly [X509Certificate, ...X509Certificate[]];

/** Why a certificate does not count. */
export class CertificateRefused extends Error {
  override readonly name = 'CertificateRefused';
}

/** When what was verified stops holding, in milliseconds: the first end among the certificates of the path. */
export interface Verified {
  readonly untilMs: number;
}

/** Longest path, the client's certificate and the authority included. */
const MAX_PATH = 8;
/** Extended key usages (RFC 5280, 4.2.1.12): of clients, and any. */
const CLIENT_USAGES: ReadonlySet<string> = new Set(['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']);

/**
 * Finds a path of valid signatures and dates from the client's certificate to one of `anchors` (RFC 5280, 6.1). The
 * listener's TLS has checked the rest (constraints, lengths of paths) against all authorities that it knows; here it is
 * settled to which of them a certificate leads, and that it still does.
 *
 * @throws {CertificateRefused}
 */
export function verifyPath(presented: Presented, anchors: readonly X509Certificate[], nowMs: number): Verified {
  const [leaf, ...between] = presented;
  const usages = leaf.keyUsage as readonly string[] | undefined; // none when the certificate does not say
  if (usages !== undefined && !usages.some((usage) => CLIENT_USAGES.has(usage))) {
    throw new CertificateRefused('The certificate is not for clients');
  }
  if (!isValidAt(leaf, nowMs)) throw new CertificateRefused('The certificate has expired or is not valid yet');
  const path = pathFrom(leaf, between.slice(0, MAX_PATH), anchors, nowMs, 1);
  if (path === undefined) throw new CertificateRefused('The certificate leads to no known authority');
  return { untilMs: Math.min(...path.map((certificate) => Date.parse(certificate.validTo))) };
}

function pathFrom(
  certificate: X509Certificate,
  between: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  nowMs: number,
  length: number,
): X509Certificate[] | undefined {
  if (length >= MAX_PATH) return undefined;
  for (const anchor of anchors) {
    if (certificate.raw.equals(anchor.raw)) return isValidAt(anchor, nowMs) ? [certificate] : undefined;
    if (isValidAt(anchor, nowMs) && isIssuedBy(certificate, anchor)) return [certificate, anchor];
  }
  for (const issuer of between) {
    if (!issuer.ca || !isValidAt(issuer, nowMs) || !isIssuedBy(certificate, issuer)) continue;
    const others = between.filter((other) => other !== issuer); // each at most once, so the search ends
    const rest = pathFrom(issuer, others, anchors, nowMs, length + 1);
    if (rest !== undefined) return [certificate, ...rest];
  }
  return undefined;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false; // a key of a kind that cannot verify
  }
}

function isValidAt({ validFrom, validTo }: X509Certificate, nowMs: number): boolean {
  return Date.parse(validFrom) <= nowMs && nowMs <= Date.parse(validTo);
}
