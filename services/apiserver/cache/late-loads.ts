import { repeat } from '../../machinery/loop/repeat.js';
import type { KeyValueStore, Revision, StoreEvent } from '../../storage/store.js';
import type { CachedObject } from './cached-object.js';
import type { FeedLog } from './feed.js';
import { loadPages } from './load-pages.js';
import type { ResourceCache } from './resource-cache.js';

/** Takes the changes of one resource. */
export interface Taker {
  /** @returns Whether it has to be flushed. */
  apply(event: StoreEvent): boolean;
  flush(): void;
}

export interface LateLoadsOptions {
  readonly store: Pick<KeyValueStore, 'range'>;
  readonly log: FeedLog;
  /** Up to where the feed has handed out changes. */
  readonly revision: () => Revision;
  /** From now on the changes of a cache's resource go to `taker`. */
  readonly lead: (cache: ResourceCache, taker: Taker) => void;
}

/** Loads at once: types may come by the hundred, and each load is several questions to the store. */
const AT_ONCE = 4;
const RETRY = { leastMs: 200, mostMs: 1_000 };

/**
 * Caches that come while the feed is under way. Each is loaded as of the feed's revision, while the newest change of each
 * of its keys that comes meanwhile is kept beside it; both together are the state at which it goes on to follow. A state
 * that was compacted away is read again, as of where the feed is by then.
 */
export class LateLoads {
  readonly #o: LateLoadsOptions;
  readonly #waiting = new Set<ResourceCache>();
  readonly #running = new Map<ResourceCache, AbortController>();

  constructor(o: LateLoadsOptions) {
    this.#o = o;
  }

  add(cache: ResourceCache): void {
    this.#waiting.add(cache);
    this.#next();
  }

  /** The cache is not wanted any more. */
  drop(cache: ResourceCache): void {
    this.#waiting.delete(cache);
    this.#running.get(cache)?.abort(new Error('The resource is no more'));
  }

  /** The feed loads everything itself. */
  stop(): void {
    this.#waiting.clear();
    for (const load of this.#running.values()) load.abort(new Error('The feed starts over'));
  }

  #next(): void {
    for (const cache of this.#waiting) {
      if (this.#running.size >= AT_ONCE) return;
      this.#waiting.delete(cache);
      void this.#run(cache);
    }
  }

  async #run(cache: ResourceCache): Promise<void> {
    const stop = new AbortController();
    this.#running.set(cache, stop);
    const round = (): Promise<'finished'> => this.#load(cache, stop.signal);
    const onFailure = (err: unknown): void =>
      this.#o.log.warn('A resource could not be loaded yet', { prefix: cache.keys.prefix, err });
    await repeat({ round, onFailure, retry: RETRY }, stop.signal);
    if (this.#running.get(cache) === stop) this.#running.delete(cache);
    this.#next();
  }

  async #load(cache: ResourceCache, signal: AbortSignal): Promise<'finished'> {
    const { store, revision, lead } = this.#o;
    const newer = new Newer(cache);
    const at = revision();
    lead(cache, newer);
    const objects = new Map<string, CachedObject>();
    for await (const { kvs } of loadPages(store, cache.keys.prefix, at, signal)) {
      for (const kv of kvs) {
        const { key, value, modRevision } = kv;
        const object = newer.objects.has(key) ? undefined : cache.decode(key, value, modRevision, kv);
        if (object !== undefined) objects.set(key, object);
      }
    }
    signal.throwIfAborted();
    for (const [key, object] of newer.objects) {
      if (object === undefined) objects.delete(key);
      else objects.set(key, object);
    }
    cache.load([...objects.values()], revision());
    lead(cache, cache);
    return 'finished';
  }
}

/** The newest state of each key that has changed since a load began: no more than there are keys. */
class Newer implements Taker {
  /** undefined where there is no object any more. */
  readonly objects = new Map<string, CachedObject | undefined>();
  readonly #cache: ResourceCache;

  constructor(cache: ResourceCache) {
    this.#cache = cache;
  }

  apply(event: StoreEvent): boolean {
    const { type, key, value, modRevision } = event;
    this.objects.set(key, type === 'put' ? this.#cache.decode(key, value, modRevision, event) : undefined);
    return false;
  }

  flush(): void {
    /* nobody watches what is not loaded */
  }
}
