import assert from 'node:assert/strict';

import { runCompactor } from '../compactor/compactor.js';
import { NO_REVISION, isStoreError, type KeyValueStore, type Revision } from '../store.js';
import { startEtcd, type EtcdServer } from '../testing/start-etcd.js';
import { put } from '../testing/wired-etcd.js';
import { openEtcdStore } from './store.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const KEY = '/registry/compaction';

for (const version of ['3.5', '3.4'] as const) {
  describe(`EtcdStore on a full etcd ${version}`, function () {
    this.timeout(30_000);
    let etcd: EtcdServer;
    let store: KeyValueStore;
    let signal: AbortSignal;
    let last: Revision;

    before(async () => {
      signal = AbortSignal.timeout(25_000);
      etcd = await startEtcd({ version, args: [`--quota-backend-bytes=${4 << 20}`] });
      store = await openEtcdStore({ endpoints: [etcd.url], log });
      assert.equal((await store.space(signal)).full, false);
      await assert.rejects(
        async () => {
          for (let i = 0; i < 40; i++) await put(store, '/registry/a', Buffer.alloc(500_000), signal);
        },
        { code: 'noSpace', message: 'etcdserver: mvcc: database space exceeded' },
      );
      // Read, as the refused write may have been kept.
      const { kv } = await store.get('/registry/a', {}, signal);
      last = kv?.modRevision ?? NO_REVISION;
    });
    after(async () => {
      await store.close();
      await etcd.stop();
    });

    it('says so, refuses what is to be kept, and reads and deletes', async () => {
      const { full, bytes } = await store.space(signal);
      assert.equal(full, true);
      assert.ok(bytes > 2 << 20, String(bytes)); // the write that would fill it is refused
      await assert.rejects(put(store, '/b', 'v', signal), (err) => isStoreError(err, 'noSpace'));
      await assert.rejects(store.grantLease(60, signal), (err) => isStoreError(err, 'noSpace'));
      assert.equal((await store.get('/registry/a', {}, signal)).kv?.modRevision, last);
      const gone = await store.transact({ conditions: [], operations: [{ type: 'delete', key: '/x' }] }, signal);
      assert.equal(gone.succeeded, true);
    });

    it('is compacted all the same, an interval after a replica has seen its head', async () => {
      const stop = new AbortController();
      const told: string[] = [];
      const head = await store.head(signal);
      const slept: (() => void)[] = [];
      let asleep: () => void = () => undefined;
      const sleeping = (): Promise<void> => new Promise((resolve) => (asleep = resolve));
      const clock = {
        now: () => 0,
        sleep: (_: number, over: AbortSignal) =>
          new Promise((resolve) => {
            slept.push(() => resolve(undefined));
            over.addEventListener('abort', () => resolve(undefined));
            asleep();
          }),
      };
      const note = (message: string): void => void told.push(message);
      let next = sleeping();
      const running = runCompactor(
        { store, key: KEY, intervalMs: 1000, clock, log: { info: note, warn: note } },
        stop.signal,
      );
      await next;
      assert.deepEqual(told, [], 'nothing is old yet');
      next = sleeping();
      slept.shift()?.();
      await next;
      assert.deepEqual(told, ['History compacted']);
      await assert.rejects(store.get('/registry/a', { revision: (head - 1) as Revision }, signal), (err) =>
        isStoreError(err, 'compacted'),
      );
      assert.equal((await store.get('/registry/a', { revision: head }, signal)).kv?.modRevision, last);
      stop.abort();
      await running;
    });
  });
}
