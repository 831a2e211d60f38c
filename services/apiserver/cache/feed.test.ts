import assert from 'node:assert/strict';
import { StoreError, revision, type KeyValueStore, type WatchHandler } from '../../storage/store.js';
import { transformingStore } from '../../storage/encryption/transforming-store.js';
import { PREFIX } from './testing/objects.js';
import { FeedScene } from './testing/scene.js';
import { EVERYTHING, STORED_JSON } from './watchers.js';

const ALL = { scope: { namespace: '', name: '' }, filter: EVERYTHING, encoder: STORED_JSON };

describe('Feed', () => {
  const scenes: FeedScene[] = [];
  const open = async (...args: Parameters<typeof FeedScene.open>): Promise<FeedScene> => {
    const scene = await FeedScene.open(...args);
    scenes.push(scene);
    return scene;
  };
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.close();
  });

  it('loads what is there before it started', async () => {
    const s = await open();
    const [a, b] = [await s.put('a'), await s.put('b')];
    await s.start();
    assert.deepEqual(s.names(), [`a@${a}`, `b@${b}`]);
    assert.equal(s.feed.revision, b);
  });

  it('loads more than one page at one revision', async () => {
    const s = await open();
    for (let i = 0; i < 2100; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => s.put(`n-${String(i + j).padStart(4, '0')}`)));
    }
    await s.start();
    assert.equal(s.cache.size, 2100);
  });

  it('asks for as many as make a page of a few megabytes', async () => {
    const limits: (number | undefined)[] = [];
    const counted = (store: KeyValueStore): KeyValueStore =>
      new Proxy(store, {
        get: (target, name: keyof KeyValueStore) =>
          name === 'range'
            ? (...[prefix, o, signal]: Parameters<KeyValueStore['range']>) => {
                limits.push(o.limit);
                return target.range(prefix, o, signal);
              }
            : target[name].bind(target),
      });
    const s = await open(counted);
    await Promise.all(Array.from({ length: 110 }, (_, i) => s.put(`n-${i}`, 'x'.repeat(400_000))));
    await s.start();
    assert.equal(s.cache.size, 110);
    assert.deepEqual(limits, [100, 10], 'the first page teaches that four megabytes are ten objects');
  });

  it('follows every write', async () => {
    const s = await open();
    await s.start();
    await s.put('a');
    const changed = await s.put('a', 'red');
    await s.put('b');
    const last = await s.remove('b');
    assert.equal(await s.feed.waitFor(last, 1000), true);
    assert.deepEqual(s.names(), [`a@${changed}`]);
    assert.equal(s.cache.get('/registry/core/configmaps/ns/a')?.field('data.color'), 'red');
  });

  it('passes by keys that are no objects, and moves on with them', async () => {
    const s = await open();
    await s.start();
    const { signal } = new AbortController();
    for (const key of ['/registry/-/vocabulary', '/registry/core/configmaps/odd', '/registry/core/unknown/ns/x']) {
      await s.store.transact({ conditions: [], operations: [{ type: 'put', key, value: Buffer.from('x') }] }, signal);
    }
    const last = await s.put('a');
    assert.equal(await s.feed.waitFor(last, 1000), true);
    assert.deepEqual(s.names(), [`a@${last}`]);
  });

  it('leaves a state that somebody reads as it is', async () => {
    const s = await open();
    const first = await s.put('a');
    await s.start();
    const { from, to } = s.cache.range('');
    const before = s.cache.current;
    await s.put('a', 'red');
    assert.equal(await s.feed.waitFor(await s.put('b'), 1000), true);
    assert.deepEqual(
      [...before.between(from, to)].map((o) => o.revision),
      [first],
    );
    assert.equal([...before.items(from, to)].length, 1);
    assert.equal(s.cache.current.size, 2);
  });

  it('notices that it does not follow its store, and that it does again', async () => {
    let ahead = 0;
    const heads = (store: KeyValueStore): KeyValueStore =>
      new Proxy(store, {
        get: (target, name: keyof KeyValueStore) =>
          name === 'head'
            ? async (signal: AbortSignal) => revision((await target.head(signal)) + ahead)
            : target[name].bind(target),
      });
    const s = await open(heads, { checkEveryMs: 2, maxLagMs: 10 });
    await s.put('a');
    await s.start();
    const until = async (sound: boolean): Promise<void> => {
      while (s.feed.sound !== sound) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    await until(true);
    ahead = 1;
    await until(false);
    assert.equal(s.feed.ready, true, 'to every other check it looks well');
    ahead = 0;
    await until(true);
  });

  it('says false when a revision does not come in time', async () => {
    const s = await open();
    await s.start();
    assert.equal(await s.feed.waitFor(s.feed.revision + 1, 20), false);
  });

  it('goes back with a store that was replaced, and is not loaded meanwhile', async () => {
    let handler: WatchHandler | undefined;
    const instead: { store?: KeyValueStore } = {};
    let loadAgain: () => void = () => undefined;
    const replaced = new Promise<void>((resolve) => (loadAgain = resolve));
    const replaceable = (store: KeyValueStore): KeyValueStore =>
      new Proxy(store, {
        get: (_, name: keyof KeyValueStore) => {
          const target = instead.store ?? store;
          if (name === 'watch')
            return (...[o, h]: Parameters<KeyValueStore['watch']>) => target.watch(o, (handler = h));
          if (name === 'range' && instead.store !== undefined)
            return (...asked: Parameters<KeyValueStore['range']>) => replaced.then(() => target.range(...asked));
          return target[name].bind(target);
        },
      });
    const [s, other] = [await open(replaceable), await open()];
    const kept = await other.put('kept');
    for (const name of ['kept', 'lost', 'gone']) await s.put(name);
    await s.start();
    const expired = new Promise<void>((resolve) => {
      s.cache.watchers
        .add(ALL, { write: () => true, expired: resolve, failed: () => undefined }, s.cache.history.end)
        .resume();
    });
    instead.store = other.store;
    handler?.ended(new StoreError('replaced', 'The store is another'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([s.feed.loaded, s.feed.ready], [false, false]);
    loadAgain();
    await expired;
    await s.feed.whenLoaded(new AbortController().signal);
    assert.deepEqual([s.feed.revision, s.feed.ready, s.names()], [kept, true, [`kept@${kept}`]]);
    assert.equal(s.cache.history.floor, kept);
    assert.equal(await s.feed.waitFor(await other.put('new'), 1000), true);
  });

  it('loads everything again, and ends all watches, when what it missed is gone', async () => {
    let handler: WatchHandler | undefined;
    const loseable = (store: KeyValueStore): KeyValueStore =>
      new Proxy(store, {
        get: (target, name: keyof KeyValueStore) =>
          name === 'watch'
            ? (...[o, h]: Parameters<KeyValueStore['watch']>) => target.watch(o, (handler = h))
            : target[name].bind(target),
      });
    const s = await open(loseable);
    await s.start();
    await s.put('a');
    const loaded: boolean[] = [];
    const expired = new Promise<void>((resolve) => {
      s.cache.watchers
        .add(ALL, { write: () => true, expired: resolve, failed: () => undefined }, s.cache.history.end)
        .resume();
    });
    handler?.ended(new StoreError('compacted', 'The history is gone'));
    setImmediate(() => loaded.push(s.feed.loaded, s.feed.ready));
    const b = await s.put('b');
    await expired;
    assert.deepEqual(loaded, [true, false], 'what it holds is old, and of the same history');
    assert.equal(await s.feed.waitFor(b, 2000), true);
    assert.equal(s.names().length, 2);
    assert.equal(s.feed.loads, 2);
    assert.ok(s.cache.history.floor >= b - 1, 'nothing from before can be told');
  });

  it('goes on around a value that cannot be read, and takes it once it can', async () => {
    let mayRead = false;
    const marked = <T extends object>(of: T & { readonly key: string }): T =>
      mayRead || !of.key.endsWith('/b') ? of : { ...of, value: Buffer.alloc(0), unreadable: new Error('no key') };
    const seen = (store: KeyValueStore): KeyValueStore => ({
      ...transformingStore(store, () => undefined),
      get: async (...asked) => {
        const result = await store.get(...asked);
        return result.kv === undefined ? result : { ...result, kv: marked(result.kv) };
      },
      range: async (...asked) => {
        const result = await store.range(...asked);
        return { ...result, kvs: result.kvs.map(marked) };
      },
      watch: (o, handler) =>
        store.watch(o, {
          events: (batch) => handler.events(batch.map(marked)),
          progress: (at) => handler.progress?.(at),
          ended: (err) => handler.ended(err),
        }),
    });
    const s = await open(seen, { checkEveryMs: 5 });
    await s.put('a');
    await s.put('b');
    await s.start();
    const waits = (): boolean => s.cache.hasUnreadable;
    assert.ok(waits());
    const changed = await s.put('b', 'red');
    const other = await s.put('c');
    assert.ok(await s.feed.waitFor(other, 5_000));
    assert.ok(waits());
    mayRead = true;
    while (waits()) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual((s.cache.get(`${PREFIX}ns/b`)?.parse() as { data: object }).data, { color: 'red' });
    assert.ok(s.names().includes(`b@${changed}`));
  });
});
