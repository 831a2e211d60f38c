import assert from 'node:assert/strict';

import { isStoreError, type Revision } from '../store.js';
import { following, type Scene } from './scene.js';

const compacted = (err: unknown): boolean => isStoreError(err, 'compacted');

export function compaction(s: Scene): void {
  const compact = (at: Revision): Promise<void> => s.store.compact(at, s.signal);

  it('makes reads below it fail', async () => {
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    await compact(two);
    await assert.rejects(s.get('a', one), compacted);
    await assert.rejects(s.range({ revision: one }), compacted);
  });

  it('leaves reads at it and above it as they were', async () => {
    await s.put('a', 'one');
    await s.put('b', 'one');
    const at = await s.put('a', 'two');
    const later = await s.put('b', 'two');
    await compact(at);
    assert.equal(await s.valueOf('a', at), 'two');
    assert.equal(await s.valueOf('b', at), 'one');
    assert.deepEqual(
      (await s.range({ revision: at })).kvs.map((kv) => kv.value.toString()),
      ['two', 'one'],
    );
    assert.deepEqual(
      (await s.range({ revision: later })).kvs.map((kv) => kv.value.toString()),
      ['two', 'two'],
    );
  });

  it('keeps the newest value of every key, however old', async () => {
    const a = await s.put('a', 'A');
    for (let i = 0; i < 10; i++) await s.put('b', String(i));
    await compact(await s.head());
    const kv = await s.get('a');
    assert.deepEqual([kv?.value.toString(), kv?.createRevision, kv?.modRevision], ['A', a, a]);
    assert.equal(await s.valueOf('b'), '9');
  });

  it('keeps a key that was made, deleted and made again', async () => {
    await s.put('a', '1');
    await s.remove('a');
    const again = await s.put('a', '2');
    await compact(again);
    const kv = await s.get('a', again);
    assert.deepEqual([kv?.value.toString(), kv?.createRevision], ['2', again]);
  });

  it('leaves deleted keys deleted', async () => {
    await s.put('a', '1');
    const gone = await s.remove('a');
    await s.put('b', '1');
    await compact(gone);
    assert.equal(await s.get('a'), undefined);
    assert.equal(await s.get('a', gone), undefined);
    assert.deepEqual(await s.names(), ['b']);
    await compact(await s.head());
    assert.equal(await s.get('a'), undefined);
    assert.equal((await s.transact([s.unchanged('a')], [s.putOf('a', '2')])).succeeded, true);
  });

  it('shows a key that was deleted after it, as it stood before', async () => {
    const at = await s.put('a', '1');
    await s.remove('a');
    await compact(at);
    assert.equal(await s.valueOf('a', at), '1');
    assert.equal(await s.get('a'), undefined);
  });

  it('refuses the same revision a second time, and any below', async () => {
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    await compact(two);
    await assert.rejects(compact(two), compacted);
    await assert.rejects(compact(one), compacted);
  });

  it('may go on from revision to revision', async () => {
    const at = [];
    for (let i = 0; i < 6; i++) at.push(await s.put('a', String(i)));
    for (const [i, revision] of at.entries()) {
      await compact(revision);
      assert.equal(await s.valueOf('a', revision), String(i));
    }
    assert.equal(await s.valueOf('a'), '5');
  });

  it('refuses a revision that is yet to come', async () => {
    const at = following(await s.head());
    await assert.rejects(compact(at), (err) => isStoreError(err, 'future'));
    await s.put('a', '1');
    await compact(at);
  });

  it('writes no revision of its own', async () => {
    const at = await s.put('a', '1');
    await compact(at);
    assert.equal(await s.head(), at);
    assert.equal(await s.put('a', '2'), at + 1);
  });

  it('names the oldest readable revision, if any, in the error', async () => {
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    await compact(two);
    const { seen } = s.watch({ from: one });
    const error = await seen.endedWith('compacted');
    assert.ok(error.compactRevision === undefined || error.compactRevision === two);
  });

  it('ends a watch that would begin below it, and delivers nothing to it', async () => {
    const one = await s.put('a', 'one');
    await s.put('a', 'two');
    await compact(await s.put('a', 'three'));
    const { seen } = s.watch({ from: one });
    await seen.endedWith('compacted');
    assert.deepEqual([seen.all.length, seen.endings.length], [0, 1]);
  });

  it('ends a watch that would begin at it: what was deleted there cannot be told any more', async () => {
    await s.put('a', 'one');
    const gone = await s.remove('a');
    await s.put('b', 'later');
    await compact(gone);
    const { seen } = s.watch({ from: gone, withPrevious: true });
    await seen.endedWith('compacted');
    assert.deepEqual([seen.all.length, seen.endings.length], [0, 1]);
  });

  it('ends a watch that would begin at it: what a put there replaced cannot be told any more', async () => {
    await s.put('a', 'one');
    const two = await s.put('a', 'two');
    await compact(two);
    const { seen } = s.watch({ from: two, withPrevious: true });
    await s.put('a', 'three');
    await seen.endedWith('compacted');
    assert.equal(seen.all.length, 0);
  });

  it('ends a paused watch that had come to it', async () => {
    const { seen, watch } = s.watch({ from: following(await s.put('a', 'one')) });
    watch.requestProgress();
    await seen.until('the watch to be there', () => seen.progressed.length > 0);
    watch.pause();
    const gone = await s.remove('a');
    await compact(gone);
    watch.resume();
    await s.put('b', 'later');
    await seen.endedWith('compacted');
    assert.equal(seen.all.length, 0);
  });

  it('lets a watch begin right above it', async () => {
    await s.put('a', 'one');
    const two = await s.put('a', 'two');
    const three = await s.put('a', 'three');
    const gone = await s.remove('a');
    await compact(two);
    const { seen } = s.watch({ from: following(two), withPrevious: true });
    await seen.count(2);
    assert.deepEqual(seen.lines(s.prefix), [`put a=three@${three}`, `delete a@${gone}`]);
    assert.deepEqual(
      seen.all.map((e) => e.previous?.toString()),
      ['two', 'three'],
    );
  });

  it('does not disturb a watch that has passed it', async () => {
    const from = following(await s.head());
    const { seen } = s.watch({ from });
    for (let i = 0; i < 20; i++) {
      const at = await s.put('a', String(i));
      if (i % 5 === 4) {
        await seen.reached(at);
        await compact(at);
      }
    }
    await seen.count(20);
    seen.assertOrdered();
    assert.deepEqual(seen.endings, []);
  });

  it('does not disturb writes that go on meanwhile', async () => {
    await s.fill('k', 500, 'v');
    const at = await s.fill('k', 500, 'w');
    const writes = Array.from({ length: 100 }, (_, i) => s.put(`k${i}`, 'x'));
    await compact(at);
    const written = (await Promise.all(writes)).toSorted((a, b) => a - b);
    assert.equal(written.at(-1), at + 100);
    const { kvs } = await s.range({ revision: at });
    assert.equal(kvs.length, 500);
    assert.ok(kvs.every((kv) => kv.value.toString() === 'w'));
  });
}
