import { done, type Work } from '../../machinery/work/work.js';
import type { KeyValue } from '../../storage/store.js';
import { isReadable, type CachedObject } from '../cache/cached-object.js';
import type { ResourceCache } from '../cache/resource-cache.js';
import type { ChangeFilter } from '../cache/watchers.js';
import { turns, type Asker } from '../http/turns.js';

/** So much is decoded at once without a pause: less than a millisecond. */
const AT_ONCE_BYTES = 256 * 1024;

/** The selected objects of a page of the store. */
export interface Decoded {
  readonly objects: readonly CachedObject[];
  /** How many entries were looked at: not all when `most` was reached. */
  readonly used: number;
}

/**
 * Decodes what the store has read; a large page in stints between which others have their turn.
 *
 * @param most Objects after which the rest does not matter; at least 1.
 * @throws `asker.signal.reason` when the asker has left
 */
export function decodePage(
  cache: Pick<ResourceCache, 'decode'>,
  filter: ChangeFilter,
  kvs: readonly KeyValue[],
  most: number,
  asker: Asker,
): Decoded | Promise<Decoded> {
  const work = decoding(cache, filter, kvs, most);
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0);
  return bytes <= AT_ONCE_BYTES ? done(work) : turns.inStints(work, asker);
}

function* decoding(
  cache: Pick<ResourceCache, 'decode'>,
  filter: ChangeFilter,
  kvs: readonly KeyValue[],
  most: number,
): Work<Decoded> {
  const objects: CachedObject[] = [];
  for (const [i, kv] of kvs.entries()) {
    const object = cache.decode(kv.key, kv.value, kv.modRevision, kv);
    if (object !== undefined && !isReadable(object)) object.parse(); // which says why
    if (object !== undefined && filter.matches(object)) objects.push(object);
    if (objects.length === most) return { objects, used: i + 1 };
    yield;
  }
  return { objects, used: kvs.length };
}
