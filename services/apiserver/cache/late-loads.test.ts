import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { revision, StoreError } from '../../storage/store.js';
import type { ResourceCache } from './resource-cache.js';
import { Door, LateScene, never, told } from './testing/late-scene.js';

/** More than the first page of a load holds. */
const TWO_PAGES = 150;
const LOADED_WITHIN_MS = 10_000;

const revisionOf = (change: string): number => Number(change.split('@')[1]);

for (const kind of ['embedded', 'etcd'] as const) {
  describe(`caches that come and go, on ${kind}`, () => {
    let s: LateScene;
    let other: ResourceCache;
    beforeEach(async () => {
      s = await LateScene.open(kind);
      other = s.cache('others');
      s.feed.register(other);
    });
    afterEach(() => s.close());

    const fill = (cache: ResourceCache): Promise<number[]> =>
      Promise.all(Array.from({ length: TWO_PAGES }, (_, i) => s.put(cache, `n-${i}`)));
    const loaded = async (cache: ResourceCache): Promise<void> =>
      assert.equal(await cache.whenLoaded(LOADED_WITHIN_MS, never), true);
    /** Holds the load of a cache up before its second page. */
    const heldUp = (cache: ResourceCache): Door => {
      const door = new Door();
      let pages = 0;
      s.beforePage = (prefix) => (prefix === cache.keys.prefix && ++pages === 2 ? door.pass() : undefined);
      return door;
    };
    /** The writes that a watcher has to be told of, which began when the cache was loaded. */
    const since = (cache: ResourceCache): string[] =>
      (s.written.get(cache.keys.prefix) ?? [])
        .filter((change) => revisionOf(change) > cache.history.floor)
        .sort((a, b) => revisionOf(a) - revisionOf(b));

    it('loads a late one, and sees each change exactly once that comes meanwhile and later', async () => {
      const late = s.cache('widgets');
      await fill(late);
      await s.start();
      const stop = new AbortController();
      const writer = (async (): Promise<void> => {
        for (let i = 0; !stop.signal.aborted; i++)
          await (i % 3 === 2 ? s.remove(late, `w-${i - 1}`) : s.put(late, `w-${i}`));
      })();
      const door = heldUp(late);
      s.feed.register(late);
      await door.reached;
      await s.put(late, 'n-3'); // of the first page, and
      await s.put(late, 'n-99'); // of the second one
      await s.remove(late, 'n-4');
      await s.remove(late, 'n-98');
      await s.settled();
      assert.equal(late.loaded, false);
      door.open();
      await loaded(late);
      const floor = late.history.floor;
      const watching = s.watch(late);
      for (let i = 0; i < 50; i++) await s.put(late, `after-${i}`);
      stop.abort();
      await writer;
      await s.settled();
      await turn();
      late.flush();
      assert.deepEqual(s.held(late), await s.stored(late));
      assert.deepEqual(watching.changes, since(late));
      assert.equal(late.history.floor, floor, 'it was loaded once');
    });

    it('reads again what was compacted away while it was loading', async () => {
      const late = s.cache('widgets');
      await fill(late);
      await s.start();
      const door = heldUp(late);
      s.feed.register(late);
      await door.reached;
      await s.remove(late, 'n-0');
      await s.put(late, 'n-1');
      await s.settled();
      await s.store.compact(revision(await s.put(late, 'n-2')), never);
      door.open();
      await loaded(late);
      await s.settled();
      assert.deepEqual(s.held(late), await s.stored(late));
    });

    for (const code of ['compacted', 'replaced'] as const) {
      it(`is loaded with all others when the feed starts over meanwhile (${code})`, async () => {
        const late = s.cache('widgets');
        await fill(late);
        await s.start();
        const door = heldUp(late);
        s.feed.register(late);
        await door.reached;
        const others = s.watch(other);
        s.endWatch(new StoreError(code, 'The history is gone'));
        await s.put(late, 'n-1');
        await loaded(late);
        assert.equal(others.expired(), true);
        const watching = s.watch(late);
        door.open();
        await s.put(late, 'after');
        await s.settled();
        await turn();
        late.flush();
        assert.equal(watching.expired(), false, 'what was held up is not loaded over it');
        assert.deepEqual(watching.changes, since(late));
        assert.deepEqual(s.held(late), await s.stored(late));
      });
    }

    it('loads one that comes while the feed itself is loading', async () => {
      const late = s.cache('widgets');
      await fill(late);
      const door = new Door();
      s.beforePage = (prefix) => (prefix === '/registry/' ? door.pass() : undefined);
      s.run();
      await door.reached;
      s.feed.register(late);
      door.open();
      await loaded(late);
      await s.put(late, 'after');
      await s.settled();
      assert.deepEqual(s.held(late), await s.stored(late));
    });

    it('loads few at once, and all of them', async () => {
      await s.start();
      let [running, most] = [0, 0];
      s.beforePage = async () => {
        most = Math.max(most, ++running);
        await turn();
        running--;
      };
      const many = Array.from({ length: 20 }, (_, i) => s.cache(`many-${i}`));
      for (const cache of many) await s.put(cache, 'one');
      await s.settled();
      for (const cache of many) s.feed.register(cache);
      for (const cache of many) await loaded(cache);
      assert.deepEqual([most, many.map((cache) => cache.size)], [4, many.map(() => 1)]);
    });

    it('ends the watches of one that goes, those that begin after it too, and no others', async () => {
      const going = s.cache('widgets');
      s.feed.register(going);
      await s.start();
      const [ended, stays] = [s.watch(going), s.watch(other)];
      const revisions = [await s.put(going, 'a'), await s.put(other, 'b')];
      await s.settled();
      s.feed.unregister(going);
      assert.deepEqual([ended.expired(), s.watch(going).expired(), going.watchers.count], [true, true, 0]);
      revisions.push(await s.put(going, 'c'), await s.put(other, 'd'));
      await s.settled();
      await turn();
      other.flush();
      assert.equal(stays.expired(), false);
      assert.deepEqual(stays.changes, [told('b', revisions[1] ?? 0), told('d', revisions[3] ?? 0)]);
      assert.equal(going.get(`${going.keys.prefix}ns/c`), undefined, 'nobody tells it of changes any more');
    });

    it('lets go of the history of one that goes', async () => {
      const going = s.cache('widgets');
      s.feed.register(going);
      await s.start();
      await s.put(other, 'b');
      await s.settled();
      const before = s.budget.bytes;
      await s.put(going, 'a');
      await s.settled();
      assert.ok(s.budget.bytes > before);
      s.feed.unregister(going);
      assert.equal(s.budget.bytes, before);
    });

    it('has one that comes again start with what is stored, and nothing else of the one before', async () => {
      const first = s.cache('widgets');
      s.feed.register(first);
      await s.start();
      await s.put(first, 'a');
      await s.settled();
      const again = s.cache('widgets');
      s.feed.unregister(first);
      s.feed.register(again);
      await loaded(again);
      await s.put(again, 'b');
      await s.settled();
      assert.deepEqual(s.held(again), await s.stored(again));
      assert.equal(again.history.end - again.history.first, 1);
      s.feed.unregister(first); // it has gone already: this is not about the one that is there now
      await s.put(again, 'c');
      await s.settled();
      assert.deepEqual(s.held(again), await s.stored(again));
    });

    it('stops loading one that goes meanwhile, whose waiters are told', async () => {
      const going = s.cache('widgets');
      await fill(going);
      await s.start();
      const door = heldUp(going);
      s.feed.register(going);
      await door.reached;
      const waiting = going.whenLoaded(LOADED_WITHIN_MS, never);
      const again = s.cache('widgets');
      s.feed.unregister(going);
      assert.equal(await waiting, false);
      s.feed.register(again);
      door.open();
      await loaded(again);
      await s.put(again, 'after');
      await s.settled();
      assert.deepEqual([going.size, going.closed, s.held(again)], [0, true, await s.stored(again)]);
    });
  });
}
