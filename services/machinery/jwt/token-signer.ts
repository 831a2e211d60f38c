import { createPrivateKey, type KeyObject } from 'node:crypto';
import { algorithmsOf, keyId } from './signing-keys.js';

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
  const [alg] = algorithmsOf(key);
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
