import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';

/** The claims of an ID token that a client reads. The signature is checked by the server that it is shown to. */
export interface IdTokenClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly expiresAtMs: number;
}

const MAX_LENGTH = 64 * 1024;

/** undefined for what is no token with issuer, subject and expiry (OpenID Connect Core, 2). */
export function idTokenClaims(token: string): IdTokenClaims | undefined {
  const parts = token.length > MAX_LENGTH ? [] : token.split('.');
  if (parts.length !== 3) return undefined;
  const claims = parsed(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'));
  if (!isJsonObject(claims)) return undefined;
  const [issuer, subject, expiry] = ['iss', 'sub', 'exp'].map((name) => getOwn(claims, name));
  if (typeof issuer !== 'string' || typeof subject !== 'string' || typeof expiry !== 'number') return undefined;
  return { issuer, subject, expiresAtMs: expiry * 1000 };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
