import { StatusError } from '../meta/status.js';

/**
 * Most members of one object, and items of one list. Several passes go over each of them when an object is written, and
 * nothing else runs meanwhile; no list and no map that is meant to be used comes near.
 */
export const MAX_MEMBERS = 10_000;
/** A member takes this much of a text, with its comma. */
const MIN_BYTES = 2;

/**
 * Refuses a value in which an object or a list is too wide. A short text cannot hold one, and is not looked at.
 *
 * @param bytes Length of its text.
 * @throws {StatusError} RequestEntityTooLarge
 */
export function refuseWide(value: unknown, bytes: number): void {
  if (bytes >= MIN_BYTES * MAX_MEMBERS) look(value);
}

/** Recurses: how deep a body may nest is bounded where it is parsed. */
function look(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (members.length > MAX_MEMBERS) {
    const what = Array.isArray(value) ? 'a list has' : 'an object has';
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: ${what} more than ${MAX_MEMBERS} members`,
    );
  }
  for (const member of members) look(member);
}
