import assert from 'node:assert/strict';
import { hasReason, StatusError } from '../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import { revision, type KeyValueStore, type RangeOptions } from '../../storage/store.js';
import { ConsistentReadGate } from '../cache/gate.js';
import { FeedScene } from '../cache/testing/scene.js';
import { EVERYTHING } from '../cache/watchers.js';
import { turns } from '../http/turns.js';
import { Reader, type ListParameters, type Page, type ReaderOptions } from './reader.js';
import type { StoredResource } from './resources.js';

const { signal } = new AbortController();
const red = { id: 'red', matches: (o: { field(name: string): string }) => o.field('data.color') === 'red' };

describe('Reader', function () {
  this.timeout(15_000);
  let s: FeedScene;
  let stored: StoredResource;
  let ranges: RangeOptions[];
  beforeEach(async () => {
    s = await FeedScene.open();
    ranges = [];
    const hub = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true };
    stored = { cache: s.cache, hub: hub as ResourceDeclaration } as StoredResource; // it asks for nothing else
    for (const [name, color] of [
      ['a', 'red'],
      ['b', 'blue'],
      ['c', 'red'],
      ['d', 'red'],
    ] as const)
      await s.put(name, color);
    await s.start();
  });
  afterEach(() => s.close());

  function reader(o: Partial<ReaderOptions> = {}): Reader {
    const store = new Proxy(s.store, {
      get: (target, name: keyof KeyValueStore) =>
        name === 'range'
          ? (...[prefix, range, ends]: Parameters<KeyValueStore['range']>) => {
              ranges.push(range);
              return target.range(prefix, range, ends);
            }
          : target[name].bind(target),
    });
    const gate = new ConsistentReadGate(s.store, s.feed);
    return new Reader({
      store,
      feed: s.feed,
      gate,
      consistentFrom: 'cache',
      chunks: true,
      countsRemaining: true,
      signal,
      ...o,
    });
  }
  const asked = (o: Partial<ListParameters> = {}): ListParameters => ({
    namespace: '',
    filter: EVERYTHING,
    limit: 0,
    continueToken: '',
    resourceVersion: undefined,
    match: '',
    ...o,
  });
  const names = (page: Page): string =>
    page
      .objects()
      .map((o) => o.name)
      .join('');
  const exact = (at: number): Partial<ListParameters> => ({ resourceVersion: at, match: 'Exact' });

  it('waits for no version when its client has left', async () => {
    const asker = new AbortController();
    const future = { resourceVersion: s.feed.revision + 1, match: '' } as const;
    const reads = [reader().list(stored, asked(future), asker), reader().get(stored, 'ns', 'a', future.resourceVersion, asker)]; // prettier-ignore
    asker.abort(new Error('gone'));
    for (const read of reads) await assert.rejects(read, /gone/);
  });

  it('waits for no consistent read when its client has left', async () => {
    const store = { head: () => new Promise(() => undefined) } as Partial<KeyValueStore> as KeyValueStore;
    const asker = new AbortController();
    const waiting = reader({ gate: new ConsistentReadGate(store, s.feed) });
    const reads = [waiting.list(stored, asked(), asker), waiting.get(stored, 'ns', 'a', undefined, asker)];
    asker.abort(new Error('gone'));
    for (const read of reads) await assert.rejects(read, /gone/);
  });

  it('reads the store for nobody who has left', async () => {
    const left = { signal: AbortSignal.abort(new Error('gone')) };
    const r = reader({ consistentFrom: 'store' });
    await assert.rejects(r.list(stored, asked(), left), /gone/);
    await assert.rejects(r.get(stored, 'ns', 'a', undefined, left), /gone/);
  });

  for (const consistentFrom of ['cache', 'store'] as const) {
    describe(`with consistent reads from the ${consistentFrom}`, () => {
      it('lists what is there, with its revision', async () => {
        const page = await reader({ consistentFrom }).list(stored, asked());
        assert.deepEqual([names(page), page.revision, page.continueToken, page.remaining], ['abcd', 5, '', undefined]);
        assert.equal(ranges.length, consistentFrom === 'cache' ? 0 : 1);
      });

      it('sees what was written before it asked', async () => {
        const at = await s.put('e');
        const page = await reader({ consistentFrom }).list(stored, asked());
        assert.deepEqual([names(page), page.revision], ['abcde', at]);
        assert.equal((await reader({ consistentFrom }).get(stored, 'ns', 'e')).revision, at);
      });

      it('lists in chunks of one state, each with what is left', async () => {
        const r = reader({ consistentFrom });
        const first = await r.list(stored, asked({ limit: 3 }));
        assert.deepEqual([names(first), first.remaining], ['abc', 1]);
        await s.remove('d');
        await s.put('e');
        const rest = await r.list(stored, asked({ limit: 3, continueToken: first.continueToken }));
        assert.deepEqual([names(rest), rest.revision, rest.continueToken], ['d', first.revision, '']);
      });

      it('ends a chunk that is exactly the rest without a token', async () => {
        const page = await reader({ consistentFrom }).list(stored, asked({ limit: 4 }));
        assert.deepEqual([names(page), page.continueToken, page.remaining], ['abcd', '', undefined]);
      });

      it('does not tell what is left of a selection', async () => {
        const r = reader({ consistentFrom });
        const first = await r.list(stored, asked({ limit: 2, filter: red }));
        assert.deepEqual([names(first), first.remaining], ['ac', undefined]);
        const rest = await r.list(stored, asked({ limit: 2, filter: red, continueToken: first.continueToken }));
        assert.deepEqual([names(rest), rest.continueToken], ['d', '']);
      });

      it('says what is not there', async () => {
        await assert.rejects(reader({ consistentFrom }).get(stored, 'ns', 'zzz'), (err) => hasReason(err, 'NotFound'));
      });
    });
  }

  it('reads an old state from the store, in chunks as from the cache', async () => {
    await s.put('a', 'green');
    await s.remove('b');
    assert.equal(await s.feed.waitFor(7, 1000), true);
    const r = reader();
    const first = await r.list(stored, asked({ ...exact(5), limit: 2 }));
    assert.deepEqual([names(first), first.revision], ['ab', 5]);
    assert.equal(first.objects()[0]?.field('data.color'), 'red');
    const rest = await r.list(stored, asked({ limit: 2, continueToken: first.continueToken }));
    assert.deepEqual([names(rest), rest.continueToken], ['cd', '']);
    assert.deepEqual(
      ranges.map((it) => [it.revision, it.limit]),
      [
        [5, 2],
        [5, 2],
      ],
    );
  });

  it('reads the store in a turn of the event loop that has room for it', async () => {
    const at = await s.put('late', 'red');
    assert.equal(await s.feed.waitFor(await s.put('later', 'red'), 1000), true);
    const stint = await turns.begin({ signal });
    const lists = Array.from({ length: 3 }, () => reader().list(stored, asked(exact(at))));
    await Promise.resolve();
    assert.equal(ranges.length, 0, 'another one is at work');
    stint.end();
    assert.deepEqual((await Promise.all(lists)).map(names), ['abcdlate', 'abcdlate', 'abcdlate']);
    await new Promise(setImmediate);
    assert.equal(turns.free, true, 'what was taken is given back');
  });

  it('asks the store for no more objects at once than make a few megabytes', async () => {
    for (let i = 0; i < 120; i++) await s.put(`x${i}`, 'x'.repeat(200_000));
    const at = await s.put('y');
    await s.put('a', 'later');
    assert.equal(await s.feed.waitFor(at + 1, 5000), true);
    const page = await reader().list(stored, asked(exact(at)));
    assert.equal(page.objects().length, 125);
    assert.deepEqual(
      ranges.map(({ limit }) => limit),
      [100, 21, 20],
    );
  });

  it('lists an old state for which there is nothing in the store as expired, with a way to go on', async () => {
    const first = await reader().list(stored, asked({ limit: 2 }));
    await s.put('e');
    await s.store.compact(revision(await s.put('f')), signal);
    s.cache.load([...s.cache.objects()], s.feed.revision); // the snapshot is gone
    await assert.rejects(reader().list(stored, asked({ limit: 2, continueToken: first.continueToken })), (err) => {
      assert.ok(err instanceof StatusError && err.reason === 'Expired');
      assert.equal(typeof err.metadata['continue'], 'string');
      return true;
    });
  });

  it('waits for a revision that comes, and names one that does not', async () => {
    const later = reader().list(stored, asked({ resourceVersion: 6 }));
    await s.put('e');
    assert.equal(names(await later), 'abcde');
    const error = await reader()
      .list(stored, asked({ resourceVersion: 1000 }))
      .catch((err: unknown) => err);
    assert.ok(error instanceof StatusError && error.code === 504);
    assert.match(error.message, /^Too large resource version: 1000, current: 6$/);
  });

  it('lists no chunks where they are switched off', async () => {
    const page = await reader({ chunks: false }).list(stored, asked({ limit: 1 }));
    assert.deepEqual([names(page), page.continueToken], ['abcd', '']);
    const counted = await reader({ countsRemaining: false }).list(stored, asked({ limit: 1 }));
    assert.deepEqual([counted.remaining, counted.continueToken !== ''], [undefined, true]);
    assert.equal(page.revision, 5);
  });
});
