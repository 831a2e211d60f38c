import { canonicalTime } from '../schema/scalars.js';

/* Bootstrap tokens (spec 2, 2.2 and 5.5): each is a Secret of the system namespace. */

/** The name of the Secret of a token is this and the token's id. */
export const BOOTSTRAP_SECRET_PREFIX = 'bootstrap-token-';

/** Id and secret of a token. */
export const BOOTSTRAP_TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/**
 * When a token expires, in milliseconds since 1970; Infinity: never. One that cannot be read is one that has passed.
 *
 * @param text `expiration` of its Secret, decoded; '' when there is none.
 */
export function bootstrapExpiry(text: string): number {
  if (text === '') return Infinity;
  const isTime = typeof canonicalTime(text, 'second') === 'string';
  return isTime ? Date.parse(text.replace(',', '.')) : -Infinity; // with its fraction
}
