import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';

import { isStoreError, revision, type KeyValueStore, type LeaseId } from '../store.js';
import { Recorder } from './recorder.js';
import { following, type Scene } from './scene.js';

type Call = (store: KeyValueStore, lease: LeaseId, key: string, signal: AbortSignal) => Promise<unknown>;

/** Every method that waits. */
const CALLS: Readonly<Record<string, Call>> = {
  head: (store, _lease, _key, signal) => store.head(signal),
  get: (store, _lease, key, signal) => store.get(key, {}, signal),
  range: (store, _lease, key, signal) => store.range(key, {}, signal),
  transact: (store, _lease, key, signal) =>
    store.transact({ conditions: [], operations: [{ type: 'put', key, value: Buffer.from('v') }] }, signal),
  compact: (store, _lease, _key, signal) => store.compact(revision(1), signal),
  grantLease: (store, _lease, _key, signal) => store.grantLease(60, signal),
  renewLease: (store, lease, _key, signal) => store.renewLease(lease, signal),
  revokeLease: (store, lease, _key, signal) => store.revokeLease(lease, signal),
};

export function signalsAndClose(s: Scene): void {
  for (const [name, call] of Object.entries(CALLS)) {
    it(`${name}() throws the reason of a signal that has fired, and does nothing`, async () => {
      const lease = await s.store.grantLease(60, s.signal);
      await s.put('a', 'v', lease);
      const before = await s.head();
      const reason = new Error('enough');
      await assert.rejects(call(s.store, lease, s.key('new'), AbortSignal.abort(reason)), (err) => err === reason);
      assert.equal(await s.head(), before);
      await s.store.renewLease(lease, s.signal);
    });
  }

  it('throw the reason of a signal that fires while they wait', async () => {
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const reason = new Error('enough');
    const writes = Array.from({ length: 20 }, (_, i) =>
      s.store.transact(
        { conditions: [], operations: [{ type: 'put', key: s.key(`k${i}`), value: Buffer.from('v') }] },
        abort.signal,
      ),
    );
    const settled = Promise.allSettled(writes);
    abort.abort(reason);
    for (const r of await settled) assert.ok(r.status === 'rejected' && r.reason === reason);
    await s.put('after', 'v');
  });

  it('hold on to nothing when the signal fires after the answer', async () => {
    const abort = new AbortController();
    await s.store.get(s.key('a'), {}, abort.signal);
    abort.abort(new Error('too late'));
    await s.put('a', 'v');
  });

  it('throw closed after close()', async () => {
    const other = await s.openAnother();
    const lease = await other.store.grantLease(60, s.signal);
    await other.store.close();
    try {
      for (const [name, call] of Object.entries(CALLS)) {
        await assert.rejects(call(other.store, lease, '/a', s.signal), (err) => isStoreError(err, 'closed'), name);
      }
      assert.throws(
        () => other.store.watch({ prefix: '/', from: revision(2) }, new Recorder()),
        (err) => isStoreError(err, 'closed'),
      );
    } finally {
      await other.dispose();
    }
  });

  it('may be closed twice, also at once', async () => {
    const other = await s.openAnother();
    try {
      await Promise.all([other.store.close(), other.store.close()]);
      await other.store.close();
    } finally {
      await other.dispose();
    }
  });

  it('end watches without a word at close()', async () => {
    const other = await s.openAnother();
    try {
      const seen = new Recorder();
      const watch = other.store.watch({ prefix: '/', from: following(await other.store.head(s.signal)) }, seen);
      const put = { type: 'put', key: '/a', value: Buffer.from('v') } as const;
      await other.store.transact({ conditions: [], operations: [put] }, s.signal);
      await seen.count(1);
      await other.store.close();
      assert.deepEqual([seen.all.length, seen.endings.length], [1, 0]);
      watch.pause();
      watch.resume();
      watch.requestProgress();
      watch.close();
    } finally {
      await other.dispose();
    }
  });

  it('answer every call that is under way at close(), one way or the other', async () => {
    const other = await s.openAnother();
    try {
      const writes = Array.from({ length: 50 }, (_, i) => {
        const put = { type: 'put', key: `/k${i}`, value: Buffer.from('v') } as const;
        return other.store.transact({ conditions: [], operations: [put] }, s.signal);
      });
      const [results] = await Promise.all([Promise.allSettled(writes), other.store.close()]);
      for (const r of results) {
        const reason: unknown = r.status === 'rejected' ? r.reason : undefined;
        const told = isStoreError(reason, 'closed') || isStoreError(reason, 'unavailable');
        assert.ok(r.status === 'fulfilled' || told, String(reason));
      }
    } finally {
      await other.dispose();
    }
  });
}
