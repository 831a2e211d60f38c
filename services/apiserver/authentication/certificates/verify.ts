import type { X509Certificate } from 'node:crypto';

/** Certificates of a client: its own first, then those that lead to an authority. */
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
/** The extended key usage of clients. One for any usage does not name it, and is refused (RFC 5280, 4.2.1.12), as by TLS. */
const CLIENT_USAGE = '1.3.6.1.5.5.7.3.2';

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
  if (usages !== undefined && !usages.includes(CLIENT_USAGE)) {
    throw new CertificateRefused('The certificate is not for clients');
  }
  if (!isValidAt(leaf, nowMs)) throw new CertificateRefused('The certificate has expired or is not valid yet');
  const path = pathFrom(leaf, between.slice(0, MAX_PATH), anchors, nowMs);
  if (path === undefined) throw new CertificateRefused('The certificate leads to no known authority');
  return { untilMs: Math.min(...path.map((certificate) => Date.parse(certificate.validTo))) };
}

/**
 * The shortest path. Each certificate is looked at once: authorities that sign themselves or one another, or that a client
 * sends along many times, lead to as many paths as there are orders of them.
 */
function pathFrom(
  leaf: X509Certificate,
  between: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  nowMs: number,
): readonly X509Certificate[] | undefined {
  const left = new Map(between.map((certificate) => [certificate.fingerprint256, certificate]));
  let reached: (readonly [X509Certificate, ...X509Certificate[]])[] = [[leaf]];
  for (let length = 1; length < MAX_PATH && reached.length > 0; length++) {
    const further: typeof reached = [];
    for (const path of reached) {
      const end = endOf(path, anchors, nowMs);
      if (end !== 'open') return end;
      for (const [id, issuer] of left) {
        if (!issuer.ca || !isValidAt(issuer, nowMs) || !isIssuedBy(path[0], issuer)) continue;
        left.delete(id);
        further.push([issuer, ...path]);
      }
    }
    reached = further;
  }
  return undefined;
}

/** The whole path where it ends at an authority. @param path The last certificate first. */
function endOf(
  path: readonly [X509Certificate, ...X509Certificate[]],
  anchors: readonly X509Certificate[],
  nowMs: number,
): readonly X509Certificate[] | 'open' {
  for (const anchor of anchors) {
    if (!isValidAt(anchor, nowMs)) continue;
    if (path[0].raw.equals(anchor.raw)) return path;
    if (isIssuedBy(path[0], anchor)) return [anchor, ...path];
  }
  return 'open';
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
