import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';

import {
  NO_REVISION,
  revision,
  type Condition,
  type KeyValue,
  type KeyValueStore,
  type LeaseId,
  type Operation,
  type RangeOptions,
  type RangeResult,
  type Revision,
  type StoreWatch,
  type TransactionResult,
  type WatchOptions,
} from '../store.js';
import { Recorder } from './recorder.js';

/** A store of its own, empty at first, and what a test may do to the ground it stands on. */
export interface StoreUnderTest {
  readonly store: KeyValueStore;
  /**
   * Ends the store hard (an etcd process is killed and started again, embedded files are closed and opened again) and
   * opens it anew. `store` is closed afterwards; the one returned takes its place.
   */
  reopen(): Promise<KeyValueStore>;
  /** Closes the store and removes what it kept. */
  dispose(): Promise<void>;
}

export type OpenStore = () => Promise<StoreUnderTest>;

/** No single wait of a test is longer; a store that needs more than this for one step has failed. */
export const STEP_MS = 10_000;
const TEST_MS = 30_000;

/** A watch that was opened by a test, with all that it delivered. */
export interface Observed {
  readonly seen: Recorder;
  readonly watch: StoreWatch;
}

/**
 * The scene of a test: a store shared by the tests of one area, a prefix of its own (`/t7/`), a signal that ends it.
 * Keys are given without the prefix.
 */
export class Scene {
  prefix = '';
  signal: AbortSignal = AbortSignal.timeout(TEST_MS);
  #under: StoreUnderTest | undefined;
  #store: KeyValueStore | undefined;
  #watches: StoreWatch[] = [];
  #tests = 0;
  readonly #open: OpenStore;

  constructor(open: OpenStore) {
    this.#open = open;
  }

  get store(): KeyValueStore {
    if (this.#store === undefined) throw new Error('No store is open: the hook before this test failed');
    return this.#store;
  }

  async begin(): Promise<void> {
    this.#under = await this.#open();
    this.#store = this.#under.store;
  }

  next(): void {
    this.#tests++;
    this.prefix = `/t${this.#tests}/`;
    this.signal = AbortSignal.timeout(TEST_MS);
    setMaxListeners(0, this.signal); // hundreds of calls at once share it
  }

  closeWatches(): void {
    for (const w of this.#watches.splice(0)) w.close();
  }

  async end(): Promise<void> {
    await this.#under?.dispose();
  }

  async reopen(): Promise<void> {
    if (this.#under === undefined) throw new Error('Cannot reopen a store that was never opened');
    this.#store = await this.#under.reopen();
  }

  /** A second, empty store for a test that closes it. The caller disposes of it. */
  openAnother(): Promise<StoreUnderTest> {
    return this.#open();
  }

  key(name: string): string {
    return this.prefix + name;
  }

  /** Writes without a condition. */
  async put(name: string, value: string | Buffer, lease?: LeaseId): Promise<Revision> {
    const result = await this.transact([], [this.putOf(name, value, lease)]);
    return result.revision;
  }

  async remove(name: string): Promise<Revision> {
    const result = await this.transact([], [this.deleteOf(name)]);
    return result.revision;
  }

  putOf(name: string, value: string | Buffer, lease?: LeaseId): Operation {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    const put = { type: 'put', key: this.key(name), value: bytes } as const;
    return lease === undefined ? put : { ...put, lease };
  }

  deleteOf(name: string): Operation {
    return { type: 'delete', key: this.key(name) };
  }

  /** Holds when `name` was last written at `at`; without `at`, when it does not exist. */
  unchanged(name: string, at: Revision = NO_REVISION): Condition {
    return { key: this.key(name), modRevision: at };
  }

  transact(
    conditions: readonly Condition[],
    operations: readonly Operation[],
    otherwiseGet: readonly string[] = [],
  ): Promise<TransactionResult> {
    const keys = otherwiseGet.map((name) => this.key(name));
    return this.store.transact({ conditions, operations, otherwiseGet: keys }, this.signal);
  }

  async get(name: string, at?: Revision): Promise<KeyValue | undefined> {
    const options = at === undefined ? {} : { revision: at };
    return (await this.store.get(this.key(name), options, this.signal)).kv;
  }

  async valueOf(name: string, at?: Revision): Promise<string | undefined> {
    return (await this.get(name, at))?.value.toString();
  }

  head(): Promise<Revision> {
    return this.store.head(this.signal);
  }

  range(o: RangeOptions = {}, under = ''): Promise<RangeResult> {
    return this.store.range(this.key(under), o, this.signal);
  }

  /** The names (without this test's prefix) that a range returns. */
  async names(o: RangeOptions = {}, under = ''): Promise<string[]> {
    return namesOf((await this.range(o, under)).kvs, this.prefix);
  }

  /** Watches this test's prefix; closed when the test is over. */
  watch(o: Pick<WatchOptions, 'from' | 'withPrevious'> & { readonly under?: string }, seen = new Recorder()): Observed {
    const { under = '', ...rest } = o;
    const watch = this.store.watch({ ...rest, prefix: this.key(under) }, seen);
    this.#watches.push(watch);
    return { seen, watch };
  }

  /** Writes `count` keys `<name>00000` and up, in transactions of up to 100; returns the last revision. */
  async fill(name: string, count: number, value: string | Buffer): Promise<Revision> {
    let last = NO_REVISION;
    for (let i = 0; i < count; i += 100) {
      const size = Math.min(100, count - i);
      const puts = Array.from({ length: size }, (_, j) => this.putOf(numbered(name, i + j), value));
      last = (await this.transact([], puts)).revision;
    }
    return last;
  }
}

/** From here a watch tells what comes after `at`. */
export const following = (at: Revision): Revision => revision(at + 1);

export const numbered = (name: string, i: number): string => `${name}${String(i).padStart(5, '0')}`;

export const namesOf = (kvs: readonly { readonly key: string }[], prefix: string): string[] =>
  kvs.map((kv) => kv.key.slice(prefix.length));

/** Bytes that no compression makes small. */
export const noise = (bytes: number): Buffer => randomBytes(bytes);

/** One part of the contract: its own store for its tests. */
export function area(title: string, open: OpenStore, body: (s: Scene) => void): void {
  describe(title, function () {
    this.timeout(TEST_MS);
    const scene = new Scene(open);
    before(() => scene.begin());
    beforeEach(() => {
      scene.next();
    });
    afterEach(() => {
      scene.closeWatches();
    });
    after(() => scene.end());
    body(scene);
  });
}
