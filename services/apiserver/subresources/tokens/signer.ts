import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

interface Algorithm {
  /** As headers of tokens name it (RFC 7518, 3.1). */
  readonly alg: string;
  readonly hash: string;
}

/** How a key signs, by what it is. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  rsa: { alg: 'RS256', hash: 'sha256' },
  prime256v1: { alg: 'ES256', hash: 'sha256' },
  secp384r1: { alg: 'ES384', hash: 'sha384' },
  secp521r1: { alg: 'ES512', hash: 'sha512' },
};
/** Shorter ones can be guessed (RFC 7518, 3.3). */
const LEAST_RSA_BITS = 2048;

const signAsync = promisify(sign);
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

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
  const algorithm = Object.hasOwn(ALGORITHMS, kind) ? ALGORITHMS[kind] : undefined;
  if (algorithm === undefined) throw new Error(`a key of type ${kind} cannot sign tokens; RSA or EC is needed`);
  if ((key.asymmetricKeyDetails?.modulusLength ?? LEAST_RSA_BITS) < LEAST_RSA_BITS) {
    throw new Error(`an RSA key of less than ${LEAST_RSA_BITS} bits cannot sign tokens`);
  }
  const { alg, hash } = algorithm;
  const header = encoded({ alg, kid: keyId(key) });
  return {
    sign: async (claims) => {
      const content = `${header}.${encoded(claims)}`;
      const signature = await signAsync(hash, Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
      return `${content}.${signature.toString('base64url')}`;
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
