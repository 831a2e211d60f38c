import assert from 'node:assert/strict';

import { isStoreError, revision, type TransactionResult } from '../store.js';
import { noise, type Scene } from './scene.js';

export function transactions(s: Scene): void {
  it('creates a key only if it is absent', async () => {
    const made = await s.transact([s.unchanged('a')], [s.putOf('a', 'one')]);
    assert.equal(made.succeeded, true);
    const again = await s.transact([s.unchanged('a')], [s.putOf('a', 'two')]);
    assert.equal(again.succeeded, false);
    assert.equal(await s.valueOf('a'), 'one');
  });

  it('updates a key only at the revision that was read', async () => {
    const read = await s.put('a', 'one');
    assert.equal((await s.transact([s.unchanged('a', read)], [s.putOf('a', 'two')])).succeeded, true);
    assert.equal((await s.transact([s.unchanged('a', read)], [s.putOf('a', 'late')])).succeeded, false);
    assert.equal(await s.valueOf('a'), 'two');
  });

  it('deletes a key only at the revision that was read', async () => {
    const read = await s.put('a', 'one');
    const newer = await s.put('a', 'two');
    assert.equal((await s.transact([s.unchanged('a', read)], [s.deleteOf('a')])).succeeded, false);
    assert.equal(await s.valueOf('a'), 'two');
    assert.equal((await s.transact([s.unchanged('a', newer)], [s.deleteOf('a')])).succeeded, true);
    assert.equal(await s.get('a'), undefined);
  });

  it('refuses the revision of a key that was deleted and made again', async () => {
    const read = await s.put('a', 'one');
    await s.remove('a');
    assert.equal((await s.transact([s.unchanged('a', read)], [s.putOf('a', 'late')])).succeeded, false);
    await s.put('a', 'two');
    assert.equal((await s.transact([s.unchanged('a', read)], [s.putOf('a', 'late')])).succeeded, false);
    assert.equal(await s.valueOf('a'), 'two');
  });

  it('creates a key again once it was deleted', async () => {
    await s.put('a', 'one');
    await s.remove('a');
    assert.equal((await s.transact([s.unchanged('a')], [s.putOf('a', 'two')])).succeeded, true);
  });

  it('needs all of several conditions', async () => {
    const a = await s.put('a', '1');
    const b = await s.put('b', '1');
    const both = [s.unchanged('a', a), s.unchanged('b', b)];
    const stale = [s.unchanged('a', a), s.unchanged('b', a)];
    assert.equal((await s.transact(stale, [s.putOf('c', '1')])).succeeded, false);
    assert.equal((await s.transact(both, [s.putOf('c', '1')])).succeeded, true);
    assert.equal((await s.transact([...both, s.unchanged('c')], [s.putOf('d', '1')])).succeeded, false);
    assert.deepEqual(await s.names(), ['a', 'b', 'c']);
  });

  it('may depend on a key that it does not write', async () => {
    const guard = await s.put('guard', '1');
    assert.equal((await s.transact([s.unchanged('guard', guard)], [s.putOf('a', '1')])).succeeded, true);
    assert.equal((await s.get('guard'))?.modRevision, guard);
  });

  it('changes nothing at all when a condition fails', async () => {
    const kept = await s.put('kept', '1');
    const operations = [s.putOf('new', '1'), s.putOf('kept', '2'), s.deleteOf('kept2')];
    await s.put('kept2', '1');
    assert.equal((await s.transact([s.unchanged('kept')], operations)).succeeded, false);
    assert.deepEqual(await s.names(), ['kept', 'kept2']);
    assert.equal((await s.get('kept'))?.modRevision, kept);
  });

  it('tells what stands at otherwiseGet, in its order, when a condition fails', async () => {
    const a = await s.put('a', 'A');
    const b = await s.put('b', 'B');
    const result = await s.transact([s.unchanged('a')], [s.putOf('c', '1')], ['b', 'missing', 'a']);
    assert.ok(!result.succeeded);
    assert.equal(result.revision, b);
    const found = result.found.map((kv) => kv && [kv.key, kv.value.toString(), kv.createRevision, kv.modRevision]);
    assert.deepEqual(found, [[s.key('b'), 'B', b, b], undefined, [s.key('a'), 'A', a, a]]);
  });

  it('tells nothing when a condition fails and nothing was asked for', async () => {
    await s.put('a', '1');
    const result = await s.transact([s.unchanged('a')], [s.putOf('a', '2')]);
    assert.deepEqual(result.succeeded ? 'succeeded' : result.found, []);
  });

  it('reads otherwiseGet in the same transaction, not before the writes it lost against', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => s.transact([s.unchanged('a')], [s.putOf('a', String(i))], ['a'])),
    );
    const won = results.filter((r) => r.succeeded);
    assert.equal(won.length, 1);
    for (const r of results) {
      if (!r.succeeded) assert.equal(r.found[0]?.modRevision, won[0]!.revision);
    }
  });

  it('lets exactly one of many racing writers through at each revision', async () => {
    await s.put('counter', '0');
    const add = async (): Promise<void> => {
      for (;;) {
        const kv = await s.get('counter');
        const next = String(Number(kv!.value.toString()) + 1);
        const r: TransactionResult = await s.transact(
          [s.unchanged('counter', kv!.modRevision)],
          [s.putOf('counter', next)],
        );
        if (r.succeeded) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, add));
    assert.equal(await s.valueOf('counter'), '20');
  });

  it('puts, deletes and creates in one step', async () => {
    const old = await s.put('old', '1');
    const moved = await s.transact(
      [s.unchanged('old', old), s.unchanged('new')],
      [s.deleteOf('old'), s.putOf('new', '1')],
    );
    assert.equal(moved.succeeded, true);
    assert.deepEqual(await s.names(), ['new']);
  });

  it('keeps empty values apart from missing keys', async () => {
    await s.put('empty', Buffer.alloc(0));
    assert.equal((await s.get('empty'))?.value.length, 0);
    assert.equal((await s.range()).kvs[0]?.value.length, 0);
  });

  it('keeps every byte of a binary value', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await s.put('bytes', bytes);
    assert.deepEqual((await s.get('bytes'))?.value, bytes);
  });

  it('is not disturbed by a caller that reuses its buffer after the answer', async () => {
    const buffer = Buffer.from('one');
    await s.put('a', buffer);
    buffer.write('two');
    assert.equal(await s.valueOf('a'), 'one');
  });

  it('keeps a value of 1 MB', async () => {
    const big = noise(1_000_000);
    await s.put('big', big);
    assert.ok((await s.get('big'))?.value.equals(big));
  });

  for (const [size, bytes] of [
    ['1.75 MiB', 1.75 * 1024 * 1024],
    ['5 MiB', 5 * 1024 * 1024],
  ] as const) {
    it(`refuses a value of ${size}`, async () => {
      const before = await s.head();
      await assert.rejects(s.put('big', noise(bytes)), (err) => isStoreError(err, 'tooLarge'));
      assert.equal(await s.head(), before);
      assert.equal(await s.get('big'), undefined);
    });
  }

  it('writes 100 keys at once', async () => {
    const at = await s.fill('k', 100, 'v');
    const { kvs } = await s.range();
    assert.equal(kvs.length, 100);
    assert.ok(kvs.every((kv) => kv.modRevision === at && kv.createRevision === at));
  });

  it('fails a condition on a revision that is yet to come', async () => {
    const at = await s.put('a', '1');
    assert.equal((await s.transact([s.unchanged('a', revision(at + 1))], [s.putOf('a', '2')])).succeeded, false);
  });
}
