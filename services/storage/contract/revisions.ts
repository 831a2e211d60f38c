import assert from 'node:assert/strict';

import { NO_REVISION, isStoreError, revision } from '../store.js';
import type { Scene } from './scene.js';

export function revisions(s: Scene): void {
  it('start at 1 in an empty store', async () => {
    const fresh = await s.openAnother();
    try {
      assert.equal(await fresh.store.head(s.signal), 1);
      const read = await fresh.store.get('/nothing', {}, s.signal);
      assert.deepEqual(read, { revision: revision(1), kv: undefined });
    } finally {
      await fresh.dispose();
    }
  });

  it('rise by one with each transaction that writes', async () => {
    const before = await s.head();
    assert.equal(await s.put('a', '1'), before + 1);
    assert.equal(await s.put('b', '1'), before + 2);
    assert.equal(await s.put('a', '1'), before + 3);
    assert.equal(await s.remove('a'), before + 4);
    assert.equal(await s.head(), before + 4);
  });

  it('do not rise when a missing key is deleted', async () => {
    const before = await s.put('a', '1');
    assert.equal(await s.remove('missing'), before);
    assert.equal(await s.head(), before);
  });

  it('do not rise when a transaction has nothing to do', async () => {
    const before = await s.put('a', '1');
    const result = await s.transact([s.unchanged('a', before)], []);
    assert.deepEqual(result, { succeeded: true, revision: before });
    assert.equal(await s.head(), before);
  });

  it('do not rise when a condition fails', async () => {
    const before = await s.put('a', '1');
    const result = await s.transact([s.unchanged('a')], [s.putOf('a', '2')]);
    assert.equal(result.succeeded, false);
    assert.equal(result.revision, before);
    assert.equal(await s.head(), before);
  });

  it('are shared by all keys of a transaction', async () => {
    const before = await s.put('gone', '1');
    const { revision: at } = await s.transact([], [s.putOf('a', '1'), s.putOf('b', '2'), s.deleteOf('gone')]);
    assert.equal(at, before + 1);
    assert.equal((await s.get('a'))?.modRevision, at);
    assert.equal((await s.get('b'))?.modRevision, at);
    assert.equal(await s.get('gone'), undefined);
  });

  it('count a transaction of which only one delete found its key', async () => {
    const before = await s.put('here', '1');
    const { revision: at } = await s.transact([], [s.deleteOf('missing'), s.deleteOf('here')]);
    assert.equal(at, before + 1);
  });

  it('are told by every answer', async () => {
    const at = await s.put('a', '1');
    assert.equal((await s.store.get(s.key('a'), {}, s.signal)).revision, at);
    assert.equal((await s.store.get(s.key('a'), { revision: at }, s.signal)).revision, at);
    assert.equal((await s.range()).revision, at);
    const later = await s.put('b', '1');
    assert.equal((await s.range({ revision: at })).revision, later, 'the head, also when an older one was asked for');
  });

  it('of a key tell when it was made and when it was last written', async () => {
    const made = await s.put('a', '1');
    const written = await s.put('a', '2');
    const kv = await s.get('a');
    assert.deepEqual([kv?.createRevision, kv?.modRevision], [made, written]);
    assert.equal(kv?.key, s.key('a'));
  });

  it('of a key begin anew when it is made again', async () => {
    await s.put('a', '1');
    await s.remove('a');
    const made = await s.put('a', '2');
    const kv = await s.get('a');
    assert.deepEqual([kv?.createRevision, kv?.modRevision], [made, made]);
  });

  it('are never behind a write that was acknowledged', async () => {
    const behind: string[] = [];
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        const written = await s.put(`w${writer}`, String(i));
        const [head, read] = await Promise.all([s.head(), s.get(`w${writer}`)]);
        if (head < written) behind.push(`head ${head} < ${written}`);
        if (read?.modRevision !== written) behind.push(`read ${read?.modRevision ?? 'nothing'}, not ${written}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    assert.deepEqual(behind, []);
  });

  it('are one for each of many transactions at once', async () => {
    const before = await s.head();
    const got = await Promise.all(Array.from({ length: 200 }, (_, i) => s.put(`k${i}`, String(i))));
    const sorted = got.toSorted((a, b) => a - b);
    assert.deepEqual(
      sorted,
      Array.from({ length: 200 }, (_, i) => before + 1 + i),
    );
  });

  it('let a key be read as it stood', async () => {
    const start = await s.head();
    const one = await s.put('a', 'one');
    const two = await s.put('a', 'two');
    const gone = await s.remove('a');
    const again = await s.put('a', 'again');
    assert.equal(await s.get('a', start), undefined);
    assert.equal(await s.valueOf('a', one), 'one');
    assert.equal(await s.valueOf('a', two), 'two');
    assert.equal(await s.get('a', gone), undefined);
    const last = await s.get('a', again);
    assert.deepEqual([last?.value.toString(), last?.createRevision], ['again', again]);
    const first = await s.get('a', two);
    assert.deepEqual([first?.createRevision, first?.modRevision], [one, two]);
  });

  it('that are yet to come cannot be read', async () => {
    const at = revision((await s.head()) + 1);
    await assert.rejects(s.get('a', at), (err) => isStoreError(err, 'future'));
    await assert.rejects(s.range({ revision: at }), (err) => isStoreError(err, 'future'));
  });

  it('of a missing key count as 0 in a condition', async () => {
    assert.equal((await s.transact([s.unchanged('a', NO_REVISION)], [s.putOf('a', '1')])).succeeded, true);
    assert.equal((await s.transact([s.unchanged('a', NO_REVISION)], [s.putOf('a', '2')])).succeeded, false);
  });
}
