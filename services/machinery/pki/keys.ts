import { createPrivateKey } from 'node:crypto';

/** The older form of each kind of key, by what node:crypto calls the kind: SEC1 (RFC 5915) and PKCS#1 (RFC 8017). */
const TRADITIONAL = new Map<string | undefined, 'sec1' | 'pkcs1'>([
  ['ec', 'sec1'],
  ['rsa', 'pkcs1'],
]);

/**
 * A private key in the PEM form that is older than PKCS#8, which every client reads; kinds that have none stay as they are.
 *
 * @throws {Error} When `pem` is no private key.
 */
export function traditionalPem(pem: string): string {
  const key = createPrivateKey(pem);
  const type = TRADITIONAL.get(key.asymmetricKeyType);
  return type === undefined ? pem : key.export({ type, format: 'pem' }).toString();
}
