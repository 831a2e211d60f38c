import assert from 'node:assert/strict';
import { StoreError, type KeyValueStore, type WatchHandler } from '../../storage/store.js';
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
    assert.equal(before.items(from, to).length, 1);
    assert.equal(s.cache.current.size, 2);
  });

  it('says false when a revision does not come in time', async () => {
    const s = await open();
    await s.start();
    assert.equal(await s.feed.waitFor(s.feed.revision + 1, 20), false);
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
    const expired = new Promise<void>((resolve) => {
      s.cache.watchers.add(ALL, { write: () => true, expired: resolve }, s.cache.history.end).resume();
    });
    handler?.ended(new StoreError('compacted', 'The history is gone'));
    const b = await s.put('b');
    await expired;
    assert.equal(await s.feed.waitFor(b, 2000), true);
    assert.equal(s.names().length, 2);
    assert.ok(s.cache.history.floor >= b - 1, 'nothing from before can be told');
  });
});
