import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../../storage/embedded/embedded-store.js';
import { NO_REVISION, type KeyValueStore } from '../../../storage/store.js';
import { Feed, type FeedOptions } from '../feed.js';
import { HistoryBudget } from '../history.js';
import { ResourceCache } from '../resource-cache.js';
import { FORM, LAYOUT, PREFIX, storedBytes } from './objects.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const never = new AbortController().signal;
setMaxListeners(0, never); // hundreds of calls at once share it

/** A real store with a feed on it and a cache of ConfigMaps. */
export class FeedScene {
  readonly store: KeyValueStore;
  readonly feed: Feed;
  readonly cache: ResourceCache;
  readonly #directory: string;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  private constructor(directory: string, store: KeyValueStore, seenStore: KeyValueStore, o: Partial<FeedOptions>) {
    this.#directory = directory;
    this.store = store;
    this.feed = new Feed({ store: seenStore, prefix: '/registry/', log: quiet, ...o });
    const budget = new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 });
    this.cache = new ResourceCache({ prefix: PREFIX, namespaced: true }, LAYOUT, FORM, budget);
    this.feed.register(this.cache);
  }

  /** @param seen What the feed is given in place of the store, to make happen what does not by itself. */
  static async open(
    seen: (store: KeyValueStore) => KeyValueStore = (store) => store,
    o: Partial<FeedOptions> = {},
  ): Promise<FeedScene> {
    const directory = mkdtempSync(join(tmpdir(), 'feed-'));
    const store = await openEmbeddedStore({ directory, log: quiet, onFatal: () => undefined });
    return new FeedScene(directory, store, seen(store), o);
  }

  async start(): Promise<void> {
    this.#running = this.feed.run(this.#stop.signal);
    await this.feed.whenLoaded(never);
  }

  /** @returns The revision of the write. */
  async put(name: string, color = ''): Promise<number> {
    const key = `${PREFIX}ns/${name}`;
    const { kv } = await this.store.get(key, {}, never);
    const value = storedBytes('ns', name, { color });
    const modRevision = kv?.modRevision ?? NO_REVISION;
    const operations = [{ type: 'put', key, value }] as const;
    return (await this.store.transact({ conditions: [{ key, modRevision }], operations }, never)).revision;
  }

  async remove(name: string): Promise<number> {
    const operations = [{ type: 'delete', key: `${PREFIX}ns/${name}` }] as const;
    return (await this.store.transact({ conditions: [], operations }, never)).revision;
  }

  names(): string[] {
    const { from, to } = this.cache.range('');
    return [...this.cache.current.between(from, to)].map((o) => `${o.name}@${o.revision}`);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('The test is over'));
    await this.#running;
    await this.store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
