import { repeat } from '../../machinery/loop/repeat.js';
import {
  isStoreError,
  revision,
  type StoreError,
  type KeyValueStore,
  type Revision,
  type StoreEvent,
  type StoreWatch,
} from '../../storage/store.js';
import type { CachedObject } from './cached-object.js';
import { LateLoads, type Taker } from './late-loads.js';
import { loadPages } from './load-pages.js';
import type { ResourceCache } from './resource-cache.js';

export interface FeedLog {
  info(message: string, keys?: object): void;
  warn(message: string, keys?: object): void;
}

export interface FeedOptions {
  readonly store: KeyValueStore;
  /** Ends in "/"; every key of ours starts with it. */
  readonly prefix: string;
  readonly log: FeedLog;
  /** How often the feed is held against the store's head. */
  readonly checkEveryMs?: number;
  /** A feed that is behind the head for longer than this is not healthy. */
  readonly maxLagMs?: number;
}

const RETRY = { leastMs: 200, mostMs: 200 };
/** Longest that changes wait for the next flush. */
const MAX_REST_MS = 20;
const CHECK_EVERY_MS = 5_000;
const MAX_LAG_MS = 15_000;
/** So many values of a resource are tried in vain at each check. */
const MAX_HEALING_FAILURES = 8;

/**
 * The one change feed of the process (design, decision 6): loads everything under the prefix, then follows a single
 * watch, decodes each change once and hands it to the cache of its resource.
 *
 * Order of events at each batch: caches take all changes, `revision` moves, waiters wake up, watchers are flushed in
 * the next turn of the event loop, so that changes which arrive together leave in one write.
 */
export class Feed {
  readonly #o: FeedOptions;
  /** By the prefix of their keys; those that are not loaded yet as well. */
  readonly #caches = new Map<string, ResourceCache>();
  /** The receiver of changes below a prefix: its cache, or a buffer while that is loaded. */
  #takers = new Map<string, Taker>();
  readonly #late: LateLoads;
  /** Those that have something to hand out at the next flush. */
  readonly #dirty = new Set<Taker>();
  /** The state that the present watch began with has been loaded: caches that come from now on are late. */
  #following = false;
  #revision = 0;
  #loaded = false;
  #loads = 0;
  #connected = false;
  #watch: StoreWatch | undefined;
  #waiters: { readonly revision: number; readonly wake: () => void }[] = [];
  #flushing = false;
  /** No flush before this, on the clock of `performance`. */
  #restUntilMs = 0;
  /** The store told a head that the feed did not reach in time. */
  #stuck = false;
  #checking = false;
  #onLoaded: (() => void)[] = [];
  /** By the prefix of the keys that they are about. */
  readonly #listeners = new Map<string, ((event: StoreEvent) => void)[]>();

  constructor(o: FeedOptions) {
    this.#o = o;
    this.#late = new LateLoads({
      store: o.store,
      log: o.log,
      revision: () => revision(this.#revision),
      lead: (cache, taker) => void this.#takers.set(cache.keys.prefix, taker),
    });
  }

  /** Up to where the caches have followed the store. */
  get revision(): number {
    return this.#revision;
  }

  /** Everything has been loaded, and the store is still the one that it came from. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** How often everything was loaded. */
  get loads(): number {
    return this.#loads;
  }

  /** Loaded, and the watch has its store. */
  get ready(): boolean {
    return this.#loaded && this.#connected;
  }

  /** False when the store answers and the feed does not follow it, though its watch may look well. */
  get sound(): boolean {
    return !this.#stuck;
  }

  /**
   * Has a cache loaded, and keeps it in step with the store, from now until `unregister`. At most one for each prefix.
   */
  register(cache: ResourceCache): void {
    this.#caches.set(cache.keys.prefix, cache);
    if (this.#following) this.#late.add(cache);
  }

  /** Ends the watches of a cache, and lets go of it. */
  unregister(cache: ResourceCache): void {
    const { prefix } = cache.keys;
    if (this.#caches.get(prefix) !== cache) return;
    this.#caches.delete(prefix);
    this.#takers.delete(prefix);
    this.#late.drop(cache);
    this.#dirty.delete(cache);
    cache.close();
  }

  /**
   * @param prefix `<registry prefix>/<group>/<resource>/`. @param listener Called with every change of a key below it.
   */
  listen(prefix: string, listener: (event: StoreEvent) => void): void {
    this.#listeners.set(prefix, [...(this.#listeners.get(prefix) ?? []), listener]);
  }

  /** Resolves once everything has been loaded. @throws `signal.reason` */
  async whenLoaded(signal: AbortSignal): Promise<void> {
    if (this.#loaded) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      this.#onLoaded.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }

  /**
   * Resolves true when the feed has reached `target`, false after `timeoutMs`. Costs nothing when it has already.
   */
  waitFor(target: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#revision >= target) return Promise.resolve(true);
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        outcome();
      };
      const leave = (outcome: () => void): void => {
        this.#waiters = this.#waiters.filter((w) => w !== waiter);
        settle(outcome);
      };
      const onAbort = (): void => leave(() => reject(signal?.reason as Error));
      const timer = setTimeout(() => leave(() => resolve(false)), timeoutMs);
      const waiter = { revision: target, wake: (): void => settle(() => resolve(true)) };
      signal?.addEventListener('abort', onAbort);
      this.#waiters.push(waiter);
    });
  }

  /** Asks the store where its feed stands: needed when others write to it. */
  requestProgress(): void {
    this.#watch?.requestProgress();
  }

  /** Follows the store until `signal` fires. Never throws; what fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const check = setInterval(() => void this.#check(signal), this.#o.checkEveryMs ?? CHECK_EVERY_MS);
    try {
      await repeat(
        { round: () => this.#round(signal), onFailure: (err) => this.#startOver(err), retry: RETRY },
        signal,
      );
    } finally {
      clearInterval(check);
      this.#late.stop();
      this.#watch?.close();
      this.#connected = false;
    }
  }

  async #round(signal: AbortSignal): Promise<number> {
    await this.#follow(await this.#load(signal), signal);
    return 0;
  }

  #startOver(err: unknown): void {
    this.#connected = false;
    if (isStoreError(err, 'replaced')) this.#loaded = false; // what the caches hold is of another history
    this.#o.log.warn('Change feed starts over', { err });
  }

  async #load(signal: AbortSignal): Promise<Revision> {
    this.#following = false;
    this.#late.stop();
    const loads = new Map(
      [...this.#caches].map(([prefix, cache]) => [prefix, { cache, objects: [] as CachedObject[] }]),
    );
    let loadedAt = revision(0);
    for await (const { kvs, at } of loadPages(this.#o.store, this.#o.prefix, undefined, signal)) {
      loadedAt = at;
      for (const kv of kvs) {
        const { key, value, modRevision } = kv;
        const load = loads.get(this.#prefixOf(key));
        const object = load?.cache.decode(key, value, modRevision, kv);
        if (object !== undefined) load?.objects.push(object);
      }
    }
    this.#takers = new Map();
    for (const [prefix, { cache, objects }] of loads) {
      if (this.#caches.get(prefix) !== cache) continue; // it has gone meanwhile
      cache.load(objects, loadedAt);
      this.#takers.set(prefix, cache);
    }
    if (loadedAt < this.#revision) this.#revision = 0; // the store was replaced
    this.#moveTo(loadedAt);
    this.#stuck = false;
    this.#following = true;
    for (const [prefix, cache] of this.#caches) if (!this.#takers.has(prefix)) this.#late.add(cache);
    return loadedAt;
  }

  /** Returns never but by an error: the watch ended, and everything has to be loaded again. */
  async #follow(loadedAt: Revision, signal: AbortSignal): Promise<never> {
    return new Promise((_resolve, reject) => {
      const stop = (): void => {
        watch.close();
        reject(signal.reason as Error);
      };
      const watch = this.#o.store.watch(
        { prefix: this.#o.prefix, from: revision(loadedAt + 1) },
        {
          events: (batch) => this.#take(batch),
          progress: (r) => this.#moveTo(r),
          connected: (up) => {
            this.#connected = up;
          },
          ended: (error: StoreError) => {
            signal.removeEventListener('abort', stop);
            reject(error);
          },
        },
      );
      this.#watch = watch;
      this.#connected = true;
      this.#loaded = true;
      this.#loads += 1;
      for (const resolve of this.#onLoaded.splice(0)) resolve();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
    });
  }

  #take(batch: readonly StoreEvent[]): void {
    for (const event of batch) {
      const prefix = this.#prefixOf(event.key);
      const taker = this.#takers.get(prefix);
      if (taker?.apply(event) === true) this.#dirty.add(taker);
      const listeners = this.#listeners.get(prefix);
      if (listeners !== undefined) for (const listener of listeners) listener(event);
    }
    const last = batch.at(-1);
    if (last !== undefined) this.#moveTo(last.modRevision);
    this.#scheduleFlush();
  }

  /**
   * In the next turn; or, when the last flush was long (many watchers), after a pause of the same length. So fan-out
   * takes half of the time at most, and changes that come in the pause leave in the same writes.
   */
  #scheduleFlush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    const pauseMs = this.#restUntilMs - performance.now();
    if (pauseMs < 1) setImmediate(() => this.#flush());
    else setTimeout(() => this.#flush(), pauseMs);
  }

  #flush(): void {
    this.#flushing = false;
    const from = performance.now();
    for (const taker of this.#dirty) taker.flush();
    this.#dirty.clear();
    const now = performance.now();
    this.#restUntilMs = now + Math.min(now - from, MAX_REST_MS);
  }

  #moveTo(to: number): void {
    if (to <= this.#revision) return;
    this.#revision = to;
    if (this.#waiters.length === 0) return;
    const reached = this.#waiters.filter((w) => w.revision <= to);
    if (reached.length === 0) return;
    this.#waiters = this.#waiters.filter((w) => w.revision > to);
    for (const waiter of reached) waiter.wake();
  }

  /** `<prefix><group>/<resource>/`; '' for a key that is no object's. */
  #prefixOf(key: string): string {
    const group = key.indexOf('/', this.#o.prefix.length);
    const resource = group < 0 ? -1 : key.indexOf('/', group + 1);
    return key.slice(0, resource + 1);
  }

  /** Looks once more at values that could not be read: their keys may have come back. */
  async #heal(signal: AbortSignal): Promise<void> {
    for (const cache of this.#caches.values()) {
      let failures = 0;
      for (const key of cache.unreadable) {
        const { kv } = await this.#o.store.get(key, {}, signal);
        if (kv !== undefined && !cache.heal(kv)) failures += 1;
        if (failures === MAX_HEALING_FAILURES) break;
      }
    }
  }

  /** The canary: a watch that has silently stopped looks well to every other check. */
  async #check(signal: AbortSignal): Promise<void> {
    if (this.#checking || !this.#connected) return;
    this.#checking = true;
    try {
      const head = await this.#o.store.head(signal);
      if (this.#revision < head) this.requestProgress();
      this.#stuck = !(await this.waitFor(head, this.#o.maxLagMs ?? MAX_LAG_MS));
      await this.#heal(signal);
    } catch (err) {
      if (!signal.aborted) this.#o.log.warn('Change feed could not be checked', { err });
    } finally {
      this.#checking = false;
    }
  }
}
