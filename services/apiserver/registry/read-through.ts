import type { CachedObject } from '../cache/cached-object.js';
import type { ResourceCache } from '../cache/resource-cache.js';
import type { ChangeFilter } from '../cache/watchers.js';
import { turns, type Asker } from '../http/turns.js';

/** So much is read at once without a pause: some 2 ms. */
const AT_ONCE_BYTES = 256 * 1024;

/**
 * Has the objects read that a filter will look at and that were not parsed before, in stints between which others
 * have their turn: the first selector over a large collection parses all of it.
 *
 * @throws `asker.signal.reason` when the asker has left
 */
export async function readThrough(
  cache: Pick<ResourceCache, 'current' | 'range'>,
  namespace: string,
  filter: ChangeFilter,
  asker: Asker,
): Promise<void> {
  if (filter.id === '' || filter.byName === true) return;
  const range = cache.range(namespace);
  const unread: CachedObject[] = [];
  let bytes = 0;
  for (const object of cache.current.unlisted(range.from, range.to, filter)) {
    if (object.isRead) continue;
    unread.push(object);
    bytes += object.bytes.length;
  }
  if (bytes <= AT_ONCE_BYTES) return;
  const stint = await turns.begin(asker);
  try {
    for (const object of unread) {
      filter.matches(object); // which keeps what it has read
      if (stint.over) await stint.pause();
    }
  } finally {
    stint.end();
  }
}
