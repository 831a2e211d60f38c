import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEmbeddedStore } from '../embedded/embedded-store.js';
import { StoreError, isStoreError, revision, type KeyValueStore, type Revision } from '../store.js';
import { runCompactor, type CompactorClock, type CompactorOptions } from './compactor.js';

const KEY = '/registry/compaction';
const INTERVAL_MS = 300_000;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Time passes when the test says so. */
class ManualClock implements CompactorClock {
  #now = Date.UTC(2026, 0, 1);
  #sleepers: { readonly wakesAt: number; readonly wake: () => void }[] = [];
  #watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        reject(new Error('aborted'));
      };
      const wake = (): void => {
        signal.removeEventListener('abort', aborted);
        resolve();
      };
      signal.addEventListener('abort', aborted);
      this.#sleepers.push({ wakesAt: this.#now + ms, wake });
      const asleep = this.#sleepers.length;
      this.#watchers = this.#watchers.filter((w) => {
        if (asleep >= w.count) w.resolve();
        return asleep < w.count;
      });
    });
  }

  /** Resolves when so many sleep: all that they had to do is done. */
  asleep(count: number): Promise<void> {
    if (this.#sleepers.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.push({ count, resolve }));
  }

  pass(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter((s) => s.wakesAt <= this.#now);
    this.#sleepers = this.#sleepers.filter((s) => s.wakesAt > this.#now);
    for (const s of due) s.wake();
  }
}

describe('runCompactor()', () => {
  let directory: string;
  let store: KeyValueStore;
  let clock: ManualClock;
  let stop: AbortController;
  let running: Promise<void>[];
  /** Revisions at which any replica has asked to compact. */
  let compactions: Revision[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'compactor-'));
    store = await openEmbeddedStore({ directory, log, onFatal: (err) => assert.fail(err) });
    clock = new ManualClock();
    stop = new AbortController();
    running = [];
    compactions = [];
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const counted = (): CompactorOptions['store'] => ({
    head: (signal) => store.head(signal),
    get: (key, o, signal) => store.get(key, o, signal),
    transact: (t, signal) => store.transact(t, signal),
    compact: async (at, signal) => {
      compactions.push(at);
      await store.compact(at, signal);
    },
  });
  const start = (o: Partial<CompactorOptions> = {}): void => {
    running.push(runCompactor({ store: counted(), key: KEY, intervalMs: INTERVAL_MS, clock, log, ...o }, stop.signal));
  };
  const put = async (value: string): Promise<Revision> => {
    const operations = [{ type: 'put', key: '/registry/a', value: Buffer.from(value) }] as const;
    return (await store.transact({ conditions: [], operations }, stop.signal)).revision;
  };
  const readable = async (at: Revision): Promise<boolean> => {
    try {
      await store.get('/registry/a', { revision: at }, stop.signal);
      return true;
    } catch (err) {
      assert.ok(isStoreError(err, 'compacted'), String(err));
      return false;
    }
  };

  it('compacts, at every interval, at the head of one interval ago', async () => {
    const one = await put('one');
    const two = await put('two');
    start();
    await clock.asleep(1);
    const three = await put('three');
    assert.deepEqual(compactions, []);

    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions, [two]);
    assert.deepEqual([await readable(one), await readable(two), await readable(three)], [false, true, true]);

    const head = await put('four');
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions, [two, revision(head - 2)]);
  });

  it('takes its turn by deleting the record when there is no room for another, and by writing it when there is', async () => {
    let full = false;
    const limited: CompactorOptions['store'] = {
      ...counted(),
      transact: (t, signal) =>
        full && t.operations.some(({ type }) => type === 'put')
          ? Promise.reject(new StoreError('noSpace', 'full'))
          : store.transact(t, signal),
    };
    await put('one');
    start({ store: limited });
    await clock.asleep(1);
    const record = await store.head(stop.signal);
    const two = await put('two');
    full = true;
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions, [revision(record - 1)], 'at the head that the record names');
    assert.equal((await store.get(KEY, {}, stop.signal)).kv, undefined);
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions.slice(1), [two], 'at the head that was seen an interval ago');
    full = false;
    const three = await store.head(stop.signal);
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions.slice(2), [three]);
    assert.notEqual((await store.get(KEY, {}, stop.signal)).kv, undefined);
  });

  it('leaves a record of another replica in a full store alone', async () => {
    await put('one');
    const limited: CompactorOptions['store'] = {
      ...counted(),
      transact: (t, signal) =>
        t.operations.some(({ type }) => type === 'put')
          ? Promise.reject(new StoreError('noSpace', 'full'))
          : store.transact(t, signal),
    };
    const record = (at: number): Promise<unknown> => {
      const value = Buffer.from(JSON.stringify({ time: '', revision: at }));
      return store.transact({ conditions: [], operations: [{ type: 'put', key: KEY, value }] }, stop.signal);
    };
    await record(1);
    start({ store: limited });
    await clock.asleep(1);
    await record(2);
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions, []);
    assert.notEqual((await store.get(KEY, {}, stop.signal)).kv, undefined);
  });

  it('does nothing before the interval has passed', async () => {
    start();
    await clock.asleep(1);
    const head = await store.head(stop.signal);
    clock.pass(INTERVAL_MS - 1);
    await clock.asleep(1);
    assert.equal(await store.head(stop.signal), head);
    assert.deepEqual(compactions, []);
  });

  it('compacts once per interval however many replicas wake at once', async () => {
    for (let i = 0; i < 3; i++) start();
    await clock.asleep(3);
    for (let round = 1; round <= 4; round++) {
      await put(`round ${round}`);
      clock.pass(INTERVAL_MS);
      await clock.asleep(3);
      assert.equal(compactions.length, round);
    }
  });

  it('leaves a record alone that another replica has just written', async () => {
    start();
    await clock.asleep(1);
    clock.pass(INTERVAL_MS / 2);
    start();
    await clock.asleep(2);
    await put('a');
    clock.pass(INTERVAL_MS / 2); // the first wins
    await clock.asleep(2);
    assert.equal(compactions.length, 1);
    await put('b');
    clock.pass(INTERVAL_MS / 2); // the second finds a record younger than an interval
    await clock.asleep(2);
    assert.equal(compactions.length, 1);
  });

  it('goes on where a replica that has gone left off', async () => {
    const former = new AbortController();
    const done = runCompactor({ store: counted(), key: KEY, intervalMs: INTERVAL_MS, clock, log }, former.signal);
    await clock.asleep(1);
    former.abort();
    await done;
    const left = (await store.get(KEY, {}, stop.signal)).kv;
    await put('a');
    start();
    await clock.asleep(2);
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions, [revision(left!.modRevision - 1)]);
  });

  it('survives errors of the store and goes on', async () => {
    let failing = true;
    const warned: string[] = [];
    const flaky = counted();
    const transact: typeof flaky.transact = (t, signal) =>
      failing ? Promise.reject(new StoreError('unavailable', 'gone')) : flaky.transact(t, signal);
    start({ store: { ...flaky, transact }, log: { info: () => undefined, warn: (message) => warned.push(message) } });
    await clock.asleep(1);
    assert.equal(warned.length, 1);
    failing = false;
    for (let i = 0; i < 2; i++) {
      await put(String(i));
      clock.pass(INTERVAL_MS);
      await clock.asleep(1);
    }
    assert.equal(compactions.length, 1);
  });

  it('takes a compaction that somebody else made for its own', async () => {
    const warned: string[] = [];
    start({ log: { info: () => undefined, warn: (message) => warned.push(message) } });
    await clock.asleep(1);
    await store.compact(await put('a'), stop.signal);
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(warned, []);
  });

  it('replaces a record that it cannot read, without compacting', async () => {
    const operations = [{ type: 'put', key: KEY, value: Buffer.from('{not json') }] as const;
    await store.transact({ conditions: [], operations }, stop.signal);
    start();
    await clock.asleep(1);
    clock.pass(INTERVAL_MS);
    await clock.asleep(1);
    assert.deepEqual(compactions, []);
    const record = JSON.parse((await store.get(KEY, {}, stop.signal)).kv!.value.toString()) as unknown;
    assert.deepEqual(record, { time: new Date(clock.now()).toISOString(), revision: 2 });
  });

  it('ends when the signal fires while it sleeps', async () => {
    start();
    await clock.asleep(1);
    stop.abort();
    await Promise.all(running);
  });

  it('refuses an interval that is not positive', async () => {
    const o = { store, key: KEY, clock, log };
    await assert.rejects(runCompactor({ ...o, intervalMs: 0 }, stop.signal), RangeError);
    await assert.rejects(runCompactor({ ...o, intervalMs: Number.NaN }, stop.signal), RangeError);
  });
});
