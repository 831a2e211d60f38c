import { badRequest } from './status.js';

/** The largest number of 64 bits. */
const MOST = '18446744073709551615';

/**
 * Reads a resourceVersion that a client sent. Those that this server has given are small; what is beyond 2^53 comes out
 * rounded, and is far ahead of any store either way.
 *
 * @returns undefined for '' (unset).
 * @throws {StatusError} BadRequest for anything but an unsigned decimal number of 64 bits.
 */
export function parseResourceVersion(text: string): number | undefined {
  if (text === '') return undefined;
  const significant = /^0*(\d{1,20})$/.exec(text)?.[1];
  if (significant === undefined || (significant.length === MOST.length && significant > MOST)) {
    const shown = JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}...` : text);
    throw badRequest(`resourceVersion: Invalid value: ${shown}: must be an unsigned decimal number of 64 bits`);
  }
  return Number(significant);
}
