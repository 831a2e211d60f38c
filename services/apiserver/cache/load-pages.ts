import { PageSize } from '../../storage/page-size.js';
import type { KeyValue, KeyValueStore, Revision } from '../../storage/store.js';

/** Most entries in a page of a load. */
const PAGE = 1000;

/** Some of what stands under a prefix at one revision. */
export interface LoadPage {
  readonly kvs: readonly KeyValue[];
  /** The same for all pages. */
  readonly at: Revision;
}

/**
 * Reads everything under a prefix as it stood at one revision, in order.
 *
 * @param at undefined: the newest at the time of the first page.
 * @throws {StoreError} compacted, unavailable @throws `signal.reason`
 */
export async function* loadPages(
  store: Pick<KeyValueStore, 'range'>,
  prefix: string,
  at: Revision | undefined,
  signal: AbortSignal,
): AsyncGenerator<LoadPage, void> {
  const size = new PageSize(PAGE);
  let pinned = at;
  let from: string | undefined;
  for (;;) {
    const o = { ...(pinned === undefined ? {} : { revision: pinned }), ...(from === undefined ? {} : { from }) };
    const { kvs, more, revision } = await store.range(prefix, { limit: size.entries, ...o }, signal);
    pinned ??= revision;
    size.learn(kvs);
    yield { kvs, at: pinned };
    const last = kvs.at(-1);
    if (!more || last === undefined) return;
    from = `${last.key}\0`;
  }
}
