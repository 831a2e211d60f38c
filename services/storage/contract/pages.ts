import assert from 'node:assert/strict';

import { isStoreError, type RangeOptions, type Revision } from '../store.js';
import { namesOf, numbered, type Scene } from './scene.js';

/** Reads all pages of `under` at one revision, as a list with a continue token does. */
async function readPages(s: Scene, limit: number, between: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  let o: RangeOptions & { readonly limit: number } = { limit };
  let at: Revision | undefined;
  for (;;) {
    const page = await s.range(o);
    at ??= page.revision;
    assert.ok(page.kvs.length <= limit);
    names.push(...namesOf(page.kvs, s.prefix));
    if (!page.more) return names;
    await between();
    o = { limit, revision: at, from: `${page.kvs.at(-1)!.key}\0` };
  }
}

export function pages(s: Scene): void {
  it('returns at most the limit, says that there is more, and counts all', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await s.put(name, 'v');
    const { kvs, more, count } = await s.range({ limit: 2 });
    assert.deepEqual(namesOf(kvs, s.prefix), ['a', 'b']);
    assert.deepEqual([more, count], [true, 5]);
  });

  it('says that there is no more when the limit is just met', async () => {
    for (const name of ['a', 'b', 'c']) await s.put(name, 'v');
    for (const limit of [3, 4]) {
      const { kvs, more, count } = await s.range({ limit });
      assert.deepEqual([kvs.length, more, count], [3, false, 3]);
    }
  });

  it('starts at the first key that is not below `from`', async () => {
    for (const name of ['a', 'b', 'd', 'e']) await s.put(name, 'v');
    assert.deepEqual(await s.names({ from: s.key('b') }), ['b', 'd', 'e']);
    assert.deepEqual(await s.names({ from: s.key('b\0') }), ['d', 'e']);
    assert.deepEqual(await s.names({ from: s.key('c') }), ['d', 'e']);
  });

  it('counts from `from` to the end of the prefix', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await s.put(name, 'v');
    const { kvs, more, count } = await s.range({ from: s.key('b'), limit: 1 });
    assert.deepEqual(namesOf(kvs, s.prefix), ['b']);
    assert.deepEqual([more, count], [true, 3]);
  });

  it('stays within the prefix wherever `from` lies', async () => {
    for (const name of ['a', 'p/1', 'p/2', 'q']) await s.put(name, 'v');
    assert.deepEqual(await s.names({ from: s.key('a') }, 'p/'), ['p/1', 'p/2']);
    assert.deepEqual(await s.names({ from: s.key('p/2') }, 'p/'), ['p/2']);
    const past = await s.range({ from: s.key('q') }, 'p/');
    assert.deepEqual([past.kvs.length, past.more, past.count], [0, false, 0]);
  });

  it('reads all keys in pages at one revision, whatever is written meanwhile', async () => {
    await s.fill('k', 250, 'v');
    let n = 0;
    const names = await readPages(s, 20, async () => {
      n++;
      await s.transact(
        [],
        [s.putOf(`k0010${n % 10}x`, 'new'), s.putOf(numbered('k', n), 'new'), s.deleteOf(numbered('k', 249 - n))],
      );
    });
    assert.deepEqual(
      names,
      Array.from({ length: 250 }, (_, i) => numbered('k', i)),
    );
  });

  it('limits and counts at an old revision as that revision stood', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await s.put(name, 'v');
    const old = await s.head();
    await s.put('aa', 'v');
    await s.remove('b');
    await s.remove('d');
    const { kvs, more, count } = await s.range({ revision: old, from: s.key('b'), limit: 2 });
    assert.deepEqual(namesOf(kvs, s.prefix), ['b', 'c']);
    assert.equal(more, true);
    assert.ok(count === undefined || count === 3, 'a store may leave it out rather than walk all');
    assert.deepEqual(await s.names(), ['a', 'aa', 'c']);
  });

  it('fails with compacted when the revision goes between two pages', async () => {
    await s.fill('k', 30, 'v');
    const pages = readPages(s, 10, async () => {
      const at = await s.put('k00005', 'new');
      await s.store.compact(at, s.signal);
    });
    await assert.rejects(pages, (err) => isStoreError(err, 'compacted'));
  });
}
