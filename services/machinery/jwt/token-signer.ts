import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FileChanges } from '../files/file-changes.js';
import type { Log } from '../log/log.js';
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

/** Signs with the key that lies in a file. @throws {Error} In one line, for one that cannot be used. */
export function fileSigner(file: string, log: Pick<Log, 'info' | 'warn'>): TokenSigner {
  const changes = new FileChanges([file]);
  const read = (): TokenSigner => {
    try {
      return tokenSigner(readFileSync(file, 'utf8'));
    } catch (err) {
      throw new Error(`Cannot use ${file} to sign tokens: ${(err as Error).message}`, { cause: err });
    }
  };
  let signer = read();
  const reread = { what: 'the key that signs tokens', read: () => void (signer = read()), log };
  return {
    sign: (claims) => {
      changes.reread(reread);
      return signer.sign(claims);
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
