import assert from 'node:assert/strict';

import { namesOf, noise, type Scene } from './scene.js';

export function ranges(s: Scene): void {
  it('is empty where there is nothing', async () => {
    const at = await s.head();
    assert.deepEqual(await s.range(), { revision: at, kvs: [], more: false, count: 0 });
  });

  it('returns keys in bytewise order, not in the order of UTF-16 units', async () => {
    // U+1F600 is D83D DE00 in UTF-16, below U+FFFD; in UTF-8 it is F0.., above EF...
    const inOrder = ['A', 'Z', 'a', 'a!', 'a-', 'a/', 'a0', 'é', '語', '\uFFFD', '😀'];
    for (const name of inOrder.toReversed()) await s.put(name, 'v');
    assert.deepEqual(await s.names(), inOrder);
  });

  it('returns a prefix and none of its neighbours', async () => {
    for (const name of ['a', 'a.', 'a/', 'a/1', 'a/2', 'a/b/c', 'a0', 'a0/1', 'ab', 'ab/1', 'b'])
      await s.put(name, 'v');
    assert.deepEqual(await s.names({}, 'a/'), ['a/', 'a/1', 'a/2', 'a/b/c']);
    assert.deepEqual(await s.names({}, 'a0'), ['a0', 'a0/1']);
    assert.deepEqual(await s.names({}, 'a/b'), ['a/b/c']);
    assert.equal((await s.range({}, 'a/')).count, 4);
  });

  it('takes a prefix that ends in the highest character', async () => {
    const last = '\u{10FFFF}';
    for (const name of ['a', `a${last}`, `a${last}b`, 'b']) await s.put(name, 'v');
    assert.deepEqual(await s.names({}, `a${last}`), [`a${last}`, `a${last}b`]);
  });

  it('returns one key when the prefix is a whole key that no other begins with', async () => {
    await s.put('one', 'v');
    assert.deepEqual(await s.names({}, 'one'), ['one']);
  });

  it('returns values and both revisions', async () => {
    const a = await s.put('a', 'A');
    await s.put('b', 'B');
    const b = await s.put('b', 'BB');
    const { kvs } = await s.range();
    const told = kvs.map((kv) => [kv.key, kv.value.toString(), kv.createRevision, kv.modRevision]);
    assert.deepEqual(told, [
      [s.key('a'), 'A', a, a],
      [s.key('b'), 'BB', b - 1, b],
    ]);
  });

  it('leaves out what was deleted', async () => {
    for (const name of ['a', 'b', 'c']) await s.put(name, 'v');
    await s.remove('b');
    assert.deepEqual(await s.names(), ['a', 'c']);
    assert.equal((await s.range()).count, 2);
  });

  it('shows the prefix as it stood at an old revision', async () => {
    await s.put('a', '1');
    const early = await s.put('b', '1');
    await s.put('a', '2');
    await s.remove('b');
    await s.put('c', '1');
    const { kvs, count, more } = await s.range({ revision: early });
    assert.deepEqual(
      kvs.map((kv) => [kv.key, kv.value.toString()]),
      [
        [s.key('a'), '1'],
        [s.key('b'), '1'],
      ],
    );
    assert.deepEqual([count, more], [2, false]);
  });

  it('shows each of many revisions of the same keys', async () => {
    const at = [];
    for (let i = 0; i < 20; i++) {
      at.push((await s.transact([], [s.putOf('a', `a${i}`), s.putOf(i % 2 === 0 ? 'b' : 'c', `${i}`)])).revision);
    }
    for (const [i, revision] of at.entries()) {
      const { kvs } = await s.range({ revision });
      assert.equal(kvs[0]?.value.toString(), `a${i}`);
      assert.deepEqual(namesOf(kvs, s.prefix), i === 0 ? ['a', 'b'] : ['a', 'b', 'c']);
    }
  });

  it('is not torn: every transaction is seen whole or not at all', async () => {
    await s.transact([], [s.putOf('x', '0'), s.putOf('y', '0')]);
    const torn: string[] = [];
    let writing = true;
    const write = async (): Promise<void> => {
      for (let i = 1; i <= 100; i++) await s.transact([], [s.putOf('x', String(i)), s.putOf('y', String(i))]);
      writing = false;
    };
    const read = async (): Promise<void> => {
      while (writing) {
        const [x, y] = (await s.range()).kvs.map((kv) => kv.value.toString());
        if (x !== y) torn.push(`${x ?? ''} and ${y ?? ''}`);
      }
    };
    await Promise.all([write(), read(), read()]);
    assert.deepEqual(torn, []);
  });

  it('returns 5,000 keys at once', async () => {
    await s.fill('k', 5000, 'x'.repeat(1200));
    const { kvs, count, more } = await s.range();
    assert.deepEqual([kvs.length, count, more], [5000, 5000, false]);
    const names = namesOf(kvs, s.prefix);
    assert.deepEqual(names, names.toSorted());
    assert.ok(kvs.every((kv) => kv.value.length === 1200));
  });

  it('returns ten values of 1 MB', async () => {
    const values = Array.from({ length: 10 }, () => noise(1_000_000));
    for (const [i, value] of values.entries()) await s.put(`big${i}`, value);
    const { kvs } = await s.range();
    assert.ok(kvs.every((kv, i) => kv.value.equals(values[i]!)));
    assert.equal(kvs.length, 10);
  });
}
