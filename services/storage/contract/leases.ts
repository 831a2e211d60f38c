import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { isStoreError, revision, type LeaseId } from '../store.js';
import type { Scene } from './scene.js';

/** A store may lengthen a short lease (etcd: to about 2 s) and look for ended ones now and then. */
const AT_MOST_MS = 10_000;

export function leases(s: Scene): void {
  const grant = (ttlSeconds: number): Promise<LeaseId> => s.store.grantLease(ttlSeconds, s.signal);

  it('have an id that is a decimal number', async () => {
    const ids = [await grant(60), await grant(60)];
    for (const id of ids) assert.match(id, /^[1-9][0-9]{0,18}$/);
    assert.notEqual(ids[0], ids[1]);
  });

  it('delete their keys when they end, not before', async () => {
    const began = performance.now();
    const lease = await grant(1);
    const put = await s.put('a', 'v', lease);
    await s.put('b', 'v');
    const { seen } = s.watch({ from: revision(put + 1), under: 'a' });
    await seen.count(1);
    const tookMs = performance.now() - began;
    assert.equal(seen.all[0]?.type, 'delete');
    assert.ok(tookMs >= 950 && tookMs <= AT_MOST_MS, `the key went after ${tookMs} ms`);
    assert.deepEqual(await s.names(), ['b']);
  });

  it('are gone when they have ended', async () => {
    const lease = await grant(1);
    const put = await s.put('a', 'v', lease);
    await s.watch({ from: revision(put + 1) }).seen.count(1);
    await assert.rejects(s.store.renewLease(lease, s.signal), (err) => isStoreError(err, 'leaseNotFound'));
  });

  it('live on while they are renewed', async () => {
    const renewed = await grant(2);
    const left = await grant(2);
    await s.put('renewed', 'v', renewed);
    const put = await s.put('left', 'v', left);
    const { seen } = s.watch({ from: revision(put + 1) });
    // Time is the subject: the one that is left alone says when long enough has passed.
    while (seen.all.length === 0) {
      await s.store.renewLease(renewed, s.signal);
      await delay(250, undefined, { signal: s.signal });
    }
    assert.deepEqual(
      seen.all.map((e) => e.key),
      [s.key('left')],
    );
    assert.equal(await s.valueOf('renewed'), 'v');
  });

  it('delete all their keys at one revision when they are revoked', async () => {
    const lease = await grant(60);
    for (const name of ['a', 'b', 'c']) await s.put(name, 'v', lease);
    const put = await s.put('d', 'v');
    const { seen } = s.watch({ from: revision(put + 1) });
    await s.store.revokeLease(lease, s.signal);
    await seen.count(3);
    assert.deepEqual(
      seen.lines(s.prefix).toSorted(),
      ['a', 'b', 'c'].map((name) => `delete ${name}@${put + 1}`),
    );
    assert.equal(seen.batches.length, 1);
    assert.deepEqual(await s.names(), ['d']);
    assert.equal(await s.head(), put + 1);
  });

  it('write nothing when they end without keys', async () => {
    const lease = await grant(60);
    const before = await s.head();
    await s.store.revokeLease(lease, s.signal);
    assert.equal(await s.head(), before);
  });

  it('are not found once revoked', async () => {
    const lease = await grant(60);
    await s.store.revokeLease(lease, s.signal);
    const lost = (err: unknown): boolean => isStoreError(err, 'leaseNotFound');
    await assert.rejects(s.store.renewLease(lease, s.signal), lost);
    await assert.rejects(s.store.revokeLease(lease, s.signal), lost);
    await assert.rejects(s.put('a', 'v', lease), lost);
    assert.equal(await s.get('a'), undefined);
  });

  it('leave all of a transaction unwritten when they are not found', async () => {
    const lease = await grant(60);
    await s.store.revokeLease(lease, s.signal);
    const before = await s.head();
    const operations = [s.putOf('a', 'v'), s.putOf('b', 'v', lease)];
    await assert.rejects(s.transact([], operations), (err) => isStoreError(err, 'leaseNotFound'));
    assert.equal(await s.head(), before);
    assert.deepEqual(await s.names(), []);
  });

  it('let go of a key that is written again without one', async () => {
    const lease = await grant(60);
    await s.put('a', 'one', lease);
    await s.put('a', 'two');
    await s.store.revokeLease(lease, s.signal);
    assert.equal(await s.valueOf('a'), 'two');
  });

  it('pass a key on to the lease it is written with last', async () => {
    const [first, second] = [await grant(60), await grant(60)];
    await s.put('a', 'one', first);
    await s.put('a', 'two', second);
    await s.store.revokeLease(first, s.signal);
    assert.equal(await s.valueOf('a'), 'two');
    await s.store.revokeLease(second, s.signal);
    assert.equal(await s.get('a'), undefined);
  });

  it('let go of a key that was deleted and made again', async () => {
    const lease = await grant(60);
    await s.put('a', 'one', lease);
    await s.remove('a');
    await s.put('a', 'two');
    await s.store.revokeLease(lease, s.signal);
    assert.equal(await s.valueOf('a'), 'two');
  });

  it('take hold of a key that had none', async () => {
    const lease = await grant(60);
    await s.put('a', 'one');
    await s.put('a', 'two', lease);
    await s.store.revokeLease(lease, s.signal);
    assert.equal(await s.get('a'), undefined);
  });

  it('hold nothing when the condition of the write failed', async () => {
    const lease = await grant(60);
    await s.put('a', 'one');
    await s.transact([s.unchanged('a')], [s.putOf('a', 'two', lease)]);
    await s.store.revokeLease(lease, s.signal);
    assert.equal(await s.valueOf('a'), 'one');
  });
}
