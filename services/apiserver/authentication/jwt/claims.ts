import { getOwn } from '../../../machinery/meta/own.js';
import { TokenRefused } from '../token-reviewer.js';

/** The claims of a token, as they were parsed. */
export type Claims = Readonly<Record<string, unknown>>;

export const malformed = (claim: string): TokenRefused =>
  new TokenRefused(`The claim ${claim} is missing or malformed`);

/**
 * A time of RFC 7519, section 2: it may have a fraction.
 *
 * @param absent NaN: it has to be there. @throws {TokenRefused}
 */
export function timeIn(claims: Claims, claim: string, absent: number): number {
  const value = getOwn(claims, claim) ?? absent;
  if (typeof value !== 'number' || Number.isNaN(value)) throw malformed(claim);
  return value;
}

/** One text or a list of them (RFC 7519, 4.1.3). @throws {TokenRefused} When there is neither. */
export function audiencesIn(claims: Claims): readonly string[] {
  const value = getOwn(claims, 'aud');
  const listed = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(listed) || !listed.every((it): it is string => typeof it === 'string')) throw malformed('aud');
  return listed;
}

/** When a token is good, in seconds since 1970. */
export interface Times {
  readonly notBefore: number;
  /** Infinity: it does not expire. */
  readonly expires: number;
}

/**
 * Servers that issue tokens and servers that are sent them have clocks of their own: a token may be from so far in the
 * future. One that has expired gets no more time.
 */
const CLOCKS_DIFFER_SECONDS = 60;

/** @throws {TokenRefused} */
export function checkTimes({ notBefore, expires }: Times, nowMs: number): void {
  const nowSeconds = nowMs / 1000;
  if (nowSeconds >= expires) throw new TokenRefused('The token has expired');
  if (nowSeconds < notBefore - CLOCKS_DIFFER_SECONDS) throw new TokenRefused('The time of the token has not come');
}
