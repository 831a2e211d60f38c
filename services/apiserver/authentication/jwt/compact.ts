import { isJsonObject } from '../../../machinery/meta/own.js';

/** The compact form of a JSON Web Signature (RFC 7515, 7.1); one without a signature is none of ours. */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Header and claims of a token whose signature has not been checked. */
export interface Unverified {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Whether a text can be a token of this kind. Costs next to nothing for texts that are none. */
export const isCompact = (token: string): boolean => token.includes('.') && FORM.test(token);

/** Reads a token without looking at its signature. undefined when its parts are no JSON objects. */
export function unverified(token: string): Unverified | undefined {
  const [header = '', claims = ''] = token.split('.', 2);
  const [parsedClaims, parsedHeader] = [object(claims), object(header)];
  if (parsedClaims === undefined || parsedHeader === undefined) return undefined;
  return { header: parsedHeader, claims: parsedClaims };
}

function object(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // it may be a token of another kind
  }
}
