import { createHash, createPublicKey, type KeyObject } from 'node:crypto';

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;

/** How a key may sign, by what it is: as headers of tokens name it (RFC 7518, 3.1). */
const ALGORITHMS = new Map<string, readonly [string, ...string[]]>([
  ['rsa', RSA],
  ['prime256v1', ['ES256']],
  ['secp384r1', ['ES384']],
  ['secp521r1', ['ES512']],
]);
/** Shorter ones can be guessed (RFC 7518, 3.3). */
const LEAST_RSA_BITS = 2048;

/**
 * How tokens that a key has signed may be signed; this server itself signs with the first.
 *
 * @param key Either half.
 * @throws {Error} In one line, for a key that cannot sign tokens.
 */
export function algorithmsOf(key: KeyObject): readonly [string, ...string[]] {
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '';
  const algorithms = ALGORITHMS.get(kind);
  if (algorithms === undefined) throw new Error(`a key of type ${kind} cannot sign tokens; RSA or EC is needed`);
  if ((key.asymmetricKeyDetails?.modulusLength ?? LEAST_RSA_BITS) < LEAST_RSA_BITS) {
    throw new Error(`an RSA key of less than ${LEAST_RSA_BITS} bits cannot sign tokens`);
  }
  return algorithms;
}

/** Names a key by its public half, so that a verifier finds it, whatever the file is called. */
export const keyId = (key: KeyObject): string =>
  createHash('sha256')
    .update((key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }))
    .digest('base64url');
