import assert from 'node:assert/strict';

import { isStoreError, revision, type Revision } from '../store.js';
import { noise, type Scene } from './scene.js';

export function restart(s: Scene): void {
  it('keeps values, revisions and the head', async () => {
    const a = await s.put('a', 'one');
    const b = await s.put('a', 'two');
    await s.put('gone', 'v');
    const head = await s.remove('gone');
    await s.reopen();
    assert.equal(await s.head(), head);
    const kv = await s.get('a');
    assert.deepEqual([kv?.value.toString(), kv?.createRevision, kv?.modRevision], ['two', a, b]);
    assert.deepEqual(await s.names(), ['a']);
    assert.equal(await s.put('b', 'v'), head + 1);
  });

  it('keeps history: reads at old revisions and watches from them', async () => {
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    const gone = await s.remove('a');
    await s.reopen();
    assert.equal(await s.valueOf('a', one), 'one');
    const { seen } = s.watch({ from: one, withPrevious: true });
    const again = await s.put('a', 'again');
    await seen.count(4);
    assert.deepEqual(seen.lines(s.prefix), [
      `put a=one@${one}`,
      `put a=two@${two}`,
      `delete a@${gone}`,
      `put a=again@${again}`,
    ]);
    assert.deepEqual(
      seen.all.map((e) => e.previous?.toString()),
      [undefined, 'one', 'two', undefined],
    );
  });

  it('keeps conditions: a stale revision still loses, the right one still wins', async () => {
    const stale = await s.put('a', 'one');
    const read = await s.put('a', 'two');
    await s.reopen();
    assert.equal((await s.transact([s.unchanged('a', stale)], [s.putOf('a', 'late')])).succeeded, false);
    assert.equal((await s.transact([s.unchanged('a')], [s.putOf('a', 'late')])).succeeded, false);
    assert.equal((await s.transact([s.unchanged('a', read)], [s.putOf('a', 'three')])).succeeded, true);
  });

  it('keeps what was compacted compacted', async () => {
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    await s.store.compact(two, s.signal);
    await s.reopen();
    const compacted = (err: unknown): boolean => isStoreError(err, 'compacted');
    await assert.rejects(s.get('a', one), compacted);
    await assert.rejects(s.store.compact(two, s.signal), compacted);
    assert.equal(await s.valueOf('a', two), 'two');
  });

  it('keeps big values', async () => {
    const big = noise(1_000_000);
    await s.put('big', big);
    await s.reopen();
    assert.ok((await s.get('big'))?.value.equals(big));
  });

  it('keeps leases and what they hold', async () => {
    const lease = await s.store.grantLease(60, s.signal);
    const put = await s.put('a', 'v', lease);
    await s.put('b', 'v', lease);
    await s.put('b', 'free');
    await s.reopen();
    await s.store.renewLease(lease, s.signal);
    assert.equal((await s.get('a'))?.modRevision, put);
    await s.store.revokeLease(lease, s.signal);
    assert.deepEqual(await s.names(), ['b']);
  });

  it('keeps revoked leases revoked', async () => {
    const lease = await s.store.grantLease(60, s.signal);
    await s.store.revokeLease(lease, s.signal);
    await s.reopen();
    await assert.rejects(s.store.renewLease(lease, s.signal), (err) => isStoreError(err, 'leaseNotFound'));
  });

  it('lets leases end afterwards', async () => {
    const lease = await s.store.grantLease(1, s.signal);
    const put = await s.put('a', 'v', lease);
    await s.reopen();
    const { seen } = s.watch({ from: revision(put + 1) });
    await seen.count(1);
    assert.equal(seen.all[0]?.type, 'delete');
  });

  it('in the middle of writes loses none that was acknowledged', async () => {
    const acknowledged = new Map<string, Revision>();
    let stop = false;
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; !stop; i++) {
        const at = await s.put(`w${writer}/${i}`, `${writer}.${i}`);
        acknowledged.set(`w${writer}/${i}`, at);
      }
    };
    // A write whose answer was lost ends its writer; it may or may not be there.
    const writers = Array.from({ length: 8 }, (_, writer) => write(writer).catch(() => undefined));
    const from = await s.put('first', 'v');
    const { seen } = s.watch({ from });
    await seen.count(100);
    const reopened = s.reopen().finally(() => (stop = true));
    await Promise.all([reopened, ...writers]);

    const kvs = new Map((await s.range()).kvs.map((kv) => [kv.key, kv]));
    for (const [name, at] of acknowledged) assert.equal(kvs.get(s.key(name))?.modRevision, at, name);
    assert.ok((await s.head()) >= Math.max(...acknowledged.values()));
    const replay = s.watch({ from }).seen;
    await replay.reached(await s.put('last', 'v'));
    replay.assertOrdered();
    const replayed = new Set(replay.all.map((e) => e.key));
    for (const [name, at] of acknowledged) assert.ok(at < from || replayed.has(s.key(name)), name);
  });

  it('closes the store that was open before', async () => {
    const former = s.store;
    await s.reopen();
    await assert.rejects(former.head(s.signal), (err) => isStoreError(err, 'closed'));
  });
}
