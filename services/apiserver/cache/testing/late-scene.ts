import { setMaxListeners } from 'node:events';
import { OPEN_STORE, type OpenStore } from '../../../storage/testing/open-store.js';
import type { KeyValueStore, RangeResult, StoreError, StoreWatch } from '../../../storage/store.js';
import { Feed } from '../feed.js';
import { HistoryBudget } from '../history.js';
import { ResourceCache } from '../resource-cache.js';
import { EVERYTHING, STORED_JSON } from '../watchers.js';
import { FORM, LAYOUT, storedBytes } from './objects.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
export const never = new AbortController().signal;
setMaxListeners(0, never); // hundreds of calls at once share it

/** One change, as a store has it or a watcher is told of it. */
export const told = (name: string, revision: number): string => `${name}@${revision}`;

/** The events of one watcher. */
export interface Watching {
  readonly changes: string[];
  readonly expired: () => boolean;
}

/** A feed over a real store whose questions a test can hold up, and caches that come and go. */
export class LateScene {
  readonly store: KeyValueStore;
  readonly feed: Feed;
  readonly budget = new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 });
  /** Called with the prefix before each page is read, and waited for. */
  beforePage: (prefix: string) => Promise<void> | void = () => undefined;
  /** Ends the feed's present watch. */
  endWatch: (error: StoreError) => void = () => undefined;
  /** Every change of the store, as `name@revision`, by prefix. */
  readonly written = new Map<string, string[]>();
  readonly #dispose: () => Promise<void>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  private constructor({ store, dispose }: OpenStore) {
    this.store = store;
    this.#dispose = dispose;
    this.feed = new Feed({ store: this.#seen(), prefix: '/registry/', log: quiet });
  }

  static async open(store: keyof typeof OPEN_STORE): Promise<LateScene> {
    return new LateScene(await OPEN_STORE[store]());
  }

  async start(): Promise<void> {
    this.run();
    await this.feed.whenLoaded(never);
  }

  run(): void {
    this.#running = this.feed.run(this.#stop.signal);
  }

  cache(resource: string): ResourceCache {
    const prefix = `/registry/example.com/${resource}/`;
    return new ResourceCache({ prefix, namespaced: true }, LAYOUT, FORM, this.budget);
  }

  /** @returns The revision of the write. */
  async put(cache: ResourceCache, name: string): Promise<number> {
    const operations = [
      { type: 'put', key: `${cache.keys.prefix}ns/${name}`, value: storedBytes('ns', name) },
    ] as const;
    return this.#noted(cache, name, (await this.store.transact({ conditions: [], operations }, never)).revision);
  }

  async remove(cache: ResourceCache, name: string): Promise<number> {
    const operations = [{ type: 'delete', key: `${cache.keys.prefix}ns/${name}` }] as const;
    return this.#noted(cache, name, (await this.store.transact({ conditions: [], operations }, never)).revision);
  }

  /** Resolves when the caches show all that has been written. */
  async settled(): Promise<void> {
    while (!(await this.feed.waitFor(await this.store.head(never), 5_000)));
  }

  /** The objects in the store. */
  async stored({ keys }: ResourceCache): Promise<string[]> {
    const { kvs } = await this.store.range(keys.prefix, {}, never);
    return kvs.map(({ key, modRevision }) => told(key.slice(`${keys.prefix}ns/`.length), modRevision));
  }

  /** The objects in the cache. */
  held(cache: ResourceCache): string[] {
    const { from, to } = cache.range('');
    return [...cache.current.between(from, to)].map((o) => told(o.name, o.revision));
  }

  watch(cache: ResourceCache): Watching {
    const changes: string[] = [];
    let expired = false;
    const sink = {
      write: (frames: Buffer): boolean => {
        for (const line of frames.toString().trimEnd().split('\n')) {
          const { object } = JSON.parse(line) as { object: { metadata: { name: string; resourceVersion: string } } };
          changes.push(told(object.metadata.name, Number(object.metadata.resourceVersion)));
        }
        return true;
      },
      expired: (): void => void (expired = true),
      failed: (): void => undefined,
    };
    const key = { scope: { namespace: '', name: '' }, filter: EVERYTHING, encoder: STORED_JSON };
    cache.watchers.add(key, sink, cache.history.end).resume();
    return { changes, expired: () => expired };
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('The test is over'));
    await this.#running;
    await this.#dispose();
  }

  #noted({ keys }: ResourceCache, name: string, revision: number): number {
    this.written.set(keys.prefix, [...(this.written.get(keys.prefix) ?? []), told(name, revision)]);
    return revision;
  }

  #seen(): KeyValueStore {
    const range = async (...asked: Parameters<KeyValueStore['range']>): Promise<RangeResult> => {
      await this.beforePage(asked[0]);
      return this.store.range(...asked);
    };
    const watch = (...[o, handler]: Parameters<KeyValueStore['watch']>): StoreWatch => {
      const watching = this.store.watch(o, handler);
      this.endWatch = (error) => {
        watching.close();
        handler.ended(error);
      };
      return watching;
    };
    return new Proxy(this.store, {
      get: (target, name: keyof KeyValueStore) =>
        name === 'range' ? range : name === 'watch' ? watch : target[name].bind(target),
    });
  }
}

/** A door that is shut until `open()`; `reached` resolves when a caller waits before it. */
export class Door {
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #arrive: () => void = () => undefined;
  open: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => (this.#arrive = resolve));
    this.#opened = new Promise((resolve) => (this.open = resolve));
  }

  pass(): Promise<void> {
    this.#arrive();
    return this.#opened;
  }
}
