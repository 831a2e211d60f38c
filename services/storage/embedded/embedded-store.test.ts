import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Recorder } from '../contract/recorder.js';
import { isStoreError, revision, type KeyValueStore, type Revision, type StoreEvent } from '../store.js';
import { openEmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.js';

describe('openEmbeddedStore()', function () {
  this.timeout(20_000);
  const signal = new AbortController().signal;
  setMaxListeners(0, signal); // dozens of calls at once share it
  const log = { info: () => undefined, error: () => undefined };
  let directory: string;
  let store: KeyValueStore;

  const open = (o: Partial<EmbeddedStoreOptions> = {}): Promise<KeyValueStore> =>
    openEmbeddedStore({ directory, log, onFatal: (err) => assert.fail(err), ...o });
  const put = async (key: string, value: string | Buffer): Promise<Revision> => {
    const operations = [{ type: 'put', key, value: Buffer.from(value) }] as const;
    return (await store.transact({ conditions: [], operations }, signal)).revision;
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'embedded-'));
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('has told every watch of a write when it answers the writer', async () => {
    const seen = new Recorder();
    store.watch({ prefix: '/', from: revision(2) }, seen);
    const late: string[] = [];
    const write = async (i: number): Promise<void> => {
      const at = await put(`/k${i}`, 'v');
      if (!seen.all.some((e) => e.modRevision === at)) late.push(`revision ${at}`);
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => write(i)));
    assert.deepEqual(late, []);
  });

  it('answers a failed condition no earlier than the write that it lost against', async () => {
    const order: string[] = [];
    const operations = [{ type: 'put', key: '/a', value: Buffer.from('1') }] as const;
    const won = store.transact({ conditions: [], operations }, signal).then(() => order.push('won'));
    const condition = { key: '/a', modRevision: revision(0) };
    const lost = store.transact({ conditions: [condition], operations: [], otherwiseGet: ['/a'] }, signal);
    const told = lost.then((r) => order.push(r.succeeded ? 'succeeded' : `lost to ${r.found[0]?.value.toString()}`));
    assert.equal((await store.get('/a', {}, signal)).kv, undefined, 'what is not durable yet is not read');
    await Promise.all([won, told]);
    assert.deepEqual(order, ['won', 'lost to 1']);
  });

  it('lets a handler write and read what it was just told', async () => {
    const echoed: Promise<Revision>[] = [];
    const read: Promise<string | undefined>[] = [];
    const handler = {
      events: (batch: readonly StoreEvent[]) => {
        for (const e of batch) {
          read.push(store.get(e.key, {}, signal).then((r) => r.kv?.value.toString()));
          if (e.key === '/a') echoed.push(put('/b', `saw ${e.modRevision}`));
        }
      },
      ended: (err: Error) => assert.fail(err),
    };
    store.watch({ prefix: '/', from: revision(2) }, handler);
    const at = await put('/a', 'one');
    await Promise.all(echoed);
    assert.deepEqual(await Promise.all(read), ['one', `saw ${at}`]);
  });

  it('ends a paused watch when what waits for it is compacted', async () => {
    const seen = new Recorder();
    const watch = store.watch({ prefix: '/', from: revision(2) }, seen);
    await put('/a', '1');
    watch.pause();
    await put('/a', '2');
    await store.compact(await put('/a', '3'), signal);
    watch.resume();
    const error = await seen.endedWith('compacted');
    assert.equal(error.compactRevision, 4);
    assert.equal(seen.all.length, 1);
  });

  it('delivers a revision of thousands of changes in one batch, from history', async () => {
    const lease = await store.grantLease(3600, signal);
    for (let i = 0; i < 20; i++) {
      const operations = Array.from(
        { length: 100 },
        (_, j) => ({ type: 'put', key: `/leased/${i}.${j}`, value: Buffer.from('v'), lease }) as const,
      );
      await store.transact({ conditions: [], operations }, signal);
    }
    await store.revokeLease(lease, signal);
    const seen = new Recorder();
    const head = await store.head(signal);
    store.watch({ prefix: '/', from: head }, seen);
    await seen.count(2000);
    assert.equal(seen.batches.length, 1);
    await store.compact(await put('/a', '1'), signal);
    assert.equal((await store.range('/leased/', {}, signal)).count, 0);
  });

  it('steps over a long history of single keys at any revision', async () => {
    const at: Revision[] = [];
    for (let i = 0; i < 100; i++) at.push(await put(i % 10 === 0 ? '/b' : '/a', String(i)));
    await put('/c', 'v');
    for (const [i, revision] of at.entries()) {
      const { kvs } = await store.range('/', { revision }, signal);
      const a = i % 10 === 0 ? i - 1 : i;
      const expected = [...(a < 1 ? [] : [`/a=${a}`]), `/b=${i - (i % 10)}`];
      assert.deepEqual(
        kvs.map((kv) => `${kv.key}=${kv.value.toString()}`),
        expected,
      );
    }
  });

  it('walks no further than a page of an old revision needs', async () => {
    for (let i = 0; i < 5; i++) await put(`/k${i}`, 'v');
    const old = await store.head(signal);
    await put('/k9', 'v');
    const page = await store.range('/', { revision: old, limit: 2 }, signal);
    assert.deepEqual([page.kvs.length, page.more, page.count], [2, true, undefined]);
    const rest = await store.range('/', { revision: old, limit: 3, from: '/k2' }, signal);
    assert.deepEqual([rest.kvs.length, rest.more, rest.count], [3, false, 3]);
  });

  it('lets others have a turn while one reads without end', async () => {
    for (let i = 0; i < 100; i++) await put(`/k${i}`, 'v');
    const turn = new AbortController();
    setImmediate(() => {
      turn.abort();
    });
    const until = performance.now() + 5000;
    while (!turn.signal.aborted && performance.now() < until) await store.range('/', {}, signal);
    assert.ok(turn.signal.aborted);
  });

  it('refuses keys and transactions that the table or etcd would not take', async () => {
    const tooLarge = (err: unknown): boolean => isStoreError(err, 'tooLarge');
    await assert.rejects(put('/'.repeat(1025), 'v'), tooLarge);
    const many = Array.from({ length: 129 }, (_, i) => ({ type: 'delete', key: `/k${i}` }) as const);
    await assert.rejects(store.transact({ conditions: [], operations: many }, signal), tooLarge);
    const twice = [
      { type: 'delete', key: '/a' },
      { type: 'put', key: '/a', value: Buffer.alloc(0) },
    ] as const;
    await assert.rejects(store.transact({ conditions: [], operations: twice }, signal), RangeError);
    await assert.rejects(store.range('/', { limit: 0 }, signal), RangeError);
    await assert.rejects(store.grantLease(0, signal), RangeError);
    assert.equal(await store.head(signal), 1);
  });

  it('tells how long each operation took', async () => {
    await store.close();
    const observed: string[] = [];
    store = await open({
      observe: (operation, seconds) => observed.push(`${operation} ${seconds >= 0 && seconds < 5}`),
    });
    await put('/a', '1');
    await store.get('/a', {}, signal);
    await store.range('/', {}, signal);
    store.watch({ prefix: '/', from: revision(2) }, new Recorder()).close();
    await store.compact(revision(2), signal);
    await store.grantLease(60, signal);
    assert.deepEqual(observed, ['txn true', 'get true', 'list true', 'watch true', 'compact true', 'lease true']);
  });

  it('refuses a directory that it cannot use or that is open already', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    await assert.rejects(open({ directory: join(file, 'store') }), (err) => isStoreError(err, 'unavailable'));
    await assert.rejects(open(), (err) => isStoreError(err, 'unavailable'));
  });
});
