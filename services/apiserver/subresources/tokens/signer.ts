import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** How a key signs, by what it is: as headers of tokens name it (RFC 7518, 3.1). */
const ALGORITHMS: Readonly<Record<string, string>> = {
  rsa: 'RS256',
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
/** Shorter ones can be guessed (RFC 7518, 3.3). */
const LEAST_RSA_BITS = 2048;

/** Signs claims: the compact form of a JSON Web Signature (RFC 7515, 7.1). */
export interface TokenSigner {
  sign(claims: object): Promise<string>;
}

/**
 * @param pem A private RSA or EC key.
 * @throws {Error} In one line, for a key that cannot sign tokens.
 */
export function tokenSigner(pem: string): TokenSigner {
  const key = privateKey(pem);
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '';
  const alg = Object.hasOwn(ALGORITHMS, kind) ? ALGORITHMS[kind] : undefined;
  if (alg === undefined) throw new Error(`a key of type ${kind} cannot sign tokens; RSA or EC is needed`);
  if ((key.asymmetricKeyDetails?.modulusLength ?? LEAST_RSA_BITS) < LEAST_RSA_BITS) {
    throw new Error(`an RSA key of less than ${LEAST_RSA_BITS} bits cannot sign tokens`);
  }
  const header = { alg, kid: keyId(key) };
  return {
    sign: async (claims) => {
      const { CompactSign } = await import('jose'); // few servers issue tokens, and it is slow to load
      return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key);
    },
  };
}

function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('there is no private key in PEM'); // what OpenSSL says of it may quote the key
  }
}

/** Names a key by its public half, so that whoever checks a token finds it, whatever the file is called. */
export const keyId = (key: KeyObject): string =>
  createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('base64url');
