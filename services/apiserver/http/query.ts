import { badRequest } from '../../machinery/meta/status.js';

/**
 * A flag of the query, as clients know flags: absent it is false, `0` and `false` in any case are false, and everything
 * else is true, nothing at all and words such as `no` included. Of several values the first counts.
 */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

const INTEGER = /^[+-]?\d{1,64}$/;
const INT64_END = 2n ** 63n;
const MOST = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * An integer of 64 bits; undefined when it is absent or empty. What a number cannot hold exactly becomes the largest or
 * the smallest that it can: no limit and no time is as long.
 *
 * @throws {StatusError} BadRequest
 */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!INTEGER.test(value)) throw invalidInteger(name, value, 'is not an integer');
  const n = BigInt(value.startsWith('+') ? value.slice(1) : value);
  if (n < -INT64_END || n >= INT64_END) throw invalidInteger(name, value, 'is beyond 64 bits');
  return Number(n > MOST ? MOST : n < -MOST ? -MOST : n);
}

const invalidInteger = (name: string, value: string, why: string): Error =>
  badRequest(`Invalid value for query parameter ${name}: ${JSON.stringify(value)} ${why}`);
