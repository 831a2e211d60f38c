import { setImmediate as nextTurn } from 'node:timers/promises';
import { StatusError } from '../../machinery/meta/status.js';

/** So many objects are encoded at a stretch, which takes a few milliseconds: others are waiting for their answers. */
const SLICE = 256;

/**
 * Encodes many objects with pauses.
 *
 * @param isGone Asked in the pauses whether anybody still waits for it.
 * @throws {StatusError} when nobody does
 */
export async function inSlices<T>(
  items: readonly T[],
  encode: (slice: readonly T[]) => Buffer,
  isGone: () => boolean,
): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < items.length; at += SLICE) {
    if (at > 0) await nextTurn();
    if (isGone()) throw new StatusError('Timeout', 'The client has gone away');
    pieces.push(encode(items.slice(at, at + SLICE)));
  }
  return pieces;
}
