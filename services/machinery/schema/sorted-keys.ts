import type { Trail } from './trail.js';

/** No client has longer keys; they are shown in messages, compared and sorted. */
const MAX_KEY_LENGTH = 64 * 1024;

/** The keys of a map in order. Most maps come sorted: one pass tells. @throws {StatusError} for a key that is too long */
export function sortedKeys(map: object, trail: Trail): string[] {
  const keys = Object.keys(map);
  let previous = '';
  let isSorted = true;
  for (const key of keys) {
    if (key.length > MAX_KEY_LENGTH) throw trail.malformed(`a key has more than ${MAX_KEY_LENGTH} characters`);
    if (key < previous) isSorted = false;
    previous = key;
  }
  return isSorted ? keys : keys.sort();
}
