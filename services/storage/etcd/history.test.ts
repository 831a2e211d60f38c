import assert from 'node:assert/strict';

import { Recorder } from '../contract/recorder.js';
import { isStoreError, revision, type KeyValueStore, type Operation, type TransactionResult } from '../store.js';
import { ScriptedEtcd } from '../testing/scripted-etcd.js';
import { openEtcdStore } from './store.js';

describe('EtcdStore and the history that answers tell', () => {
  const { signal } = new AbortController();
  const PUT: Operation = { type: 'put', key: '/a', value: Buffer.from('v') };
  const refused = (err: unknown): boolean => isStoreError(err, 'unavailable');
  let etcd: ScriptedEtcd;
  let store: KeyValueStore;
  let errors: string[];
  let seen: Recorder;

  beforeEach(async () => {
    etcd = await ScriptedEtcd.start(50);
    errors = [];
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (_: string, keys?: object) => void errors.push((keys as { reason: string }).reason),
    };
    store = await openEtcdStore({ endpoints: [etcd.url], log });
    seen = new Recorder();
    assert.equal(await store.head(signal), 50);
  });
  afterEach(async () => {
    await store.close();
    etcd.close();
  });

  const transact = (operation: Operation): Promise<TransactionResult> =>
    store.transact({ conditions: [], operations: [operation] }, signal);
  /** A watch that has delivered one change, at revision 51. */
  const watching = async (): Promise<void> => {
    store.watch({ prefix: '/', from: revision(51) }, seen);
    await etcd.watched(1);
    etcd.head = 51;
    etcd.keys.set('/a', 51);
    etcd.sendPut('/a', 51);
    await seen.count(1);
  };
  /** Cuts the stream of the watch, and waits for the next. */
  const again = async (): Promise<void> => {
    const had = etcd.creates.length;
    etcd.stream?.close();
    await seen.until('the loss', () => seen.connections.at(-1) === false);
    await etcd.watched(had + 1);
  };

  for (const [name, call] of [
    ['a read', () => store.get('/a', {}, signal)],
    ['a list', () => store.range('/', {}, signal)],
    ['a write', () => transact(PUT)],
    ['a question for the head', () => store.head(signal)],
  ] as const) {
    it(`refuses the answer to ${name} that goes back, ends its watches and begins again`, async () => {
      await watching();
      etcd.head = 30;
      await assert.rejects(call(), refused);
      await seen.endedWith('replaced');
      assert.match(errors.join(), /is at revision 3\d, and was at 51/);
      assert.ok((await store.head(signal)) < 50, 'what it says now counts');
    });
  }

  it('takes a state that has not moved, and one that is ahead', async () => {
    await watching();
    assert.equal((await store.get('/a', {}, signal)).revision, 51);
    etcd.head = 60;
    assert.equal((await store.get('/a', {}, signal)).revision, 60);
    assert.deepEqual([seen.endings, errors], [[], []]);
  });

  it('refuses a write that gets a revision which was there before it', async () => {
    await watching();
    etcd.counts = false;
    await assert.rejects(transact(PUT), refused);
    await seen.endedWith('replaced');
    assert.match(errors.join(), /gave a write revision 51 a second time/);
  });

  it('takes a deletion of nothing, which has no revision of its own', async () => {
    await watching();
    assert.deepEqual(await transact({ type: 'delete', key: '/none' }), { succeeded: true, revision: 51 });
    assert.deepEqual([seen.endings, errors], [[], []]);
  });

  it('counts what a watch has told', async () => {
    await watching();
    etcd.head = 50;
    await assert.rejects(store.get('/a', {}, signal), refused);
    await seen.endedWith('replaced');
  });

  it('goes on with a watch whose last change is still there', async () => {
    await watching();
    await again();
    await seen.until('the return', () => seen.connections.at(-1) === true);
    assert.deepEqual([etcd.creates, seen.endings, errors], [[51, 52], [], []]);
  });

  it('ends a watch whose last change is not in what stands there now', async () => {
    await watching();
    etcd.head = 90;
    etcd.keys.set('/a', 40);
    await again();
    await seen.endedWith('replaced');
    assert.match(errors.join(), /what was told of revision 51 is not in it/);
  });

  it('knows a key that was deleted last by its not being there', async () => {
    await watching();
    etcd.head = 52;
    etcd.send({ events: [{ type: 'DELETE', kv: { key: Buffer.from('/a'), mod_revision: 52 } }] });
    await seen.count(2);
    etcd.keys.delete('/a');
    await again();
    await seen.until('the return', () => seen.connections.at(-1) === true);
    etcd.keys.set('/a', 51);
    await again();
    await seen.endedWith('replaced');
  });

  it('ends a watch on another cluster that is further on', async () => {
    store.watch({ prefix: '/', from: revision(51) }, seen);
    await etcd.watched(1);
    etcd.cluster = 2;
    etcd.head = 90;
    await again();
    await seen.endedWith('replaced');
    etcd.head = 80;
    await assert.rejects(store.get('/a', {}, signal), refused, 'of the new one, 90 was told');
  });

  it('waits with a watch from what is yet to come, where nobody was told of it', async () => {
    store.watch({ prefix: '/', from: revision(70) }, seen);
    await etcd.watched(1);
    etcd.head = 70;
    etcd.sendPut('/a', 70);
    await seen.count(1);
    assert.deepEqual([seen.endings, errors], [[], []]);
  });
});
