import type { Work } from '../../machinery/work/work.js';
import { ByteWriter } from '../http/byte-writer.js';
import { turns, type Asker } from '../http/turns.js';

/** A piece of a list is no longer than this, as far as its objects allow. */
const PIECE_BYTES = 256 * 1024;
/** Fewer objects than that seldom make a piece. */
const FEW = 100;

/**
 * Encodes many objects one behind the other, in stints between which others have their turn.
 *
 * @returns Pieces that end where an object ends.
 * @throws `asker.signal.reason` when the asker has left
 */
export async function inSlices<T>(
  items: readonly T[],
  encode: (writer: ByteWriter, item: T) => void,
  asker: Asker,
): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  const stint = await turns.begin(asker);
  try {
    // One room for all pieces, with some for the object that ends one: what grows and is thrown away waits for the collector.
    const writer = new ByteWriter(items.length < FEW ? undefined : PIECE_BYTES * 1.25);
    for (const item of items) {
      encode(writer, item);
      if (writer.length >= PIECE_BYTES) pieces.push(writer.take());
      if (stint.over) await stint.pause();
    }
    if (writer.length > 0) pieces.push(writer.take());
    return pieces;
  } finally {
    stint.end();
  }
}

/** Pieces are made in less than this, unless there are many and none of them is kept. */
const SHORT_MS = 1;

/**
 * Takes all of what is made as it is taken: at once when that is short work, else in stints between which others have
 * their turn.
 *
 * @throws `asker.signal.reason` when the asker has left
 */
export function allPieces(pieces: Iterable<Buffer>, asker: Asker): Buffer[] | Promise<Buffer[]> {
  const taken: Buffer[] = [];
  const work = taking(pieces, taken);
  const startedMs = performance.now();
  while (work.next().done !== true) {
    if (performance.now() - startedMs >= SHORT_MS) return turns.inStints(work, asker).then(() => taken);
  }
  return taken;
}

function* taking(pieces: Iterable<Buffer>, taken: Buffer[]): Work<void> {
  for (const piece of pieces) {
    taken.push(piece);
    yield;
  }
}
