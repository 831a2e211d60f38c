import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { LeaseId } from '../../storage/store.js';
import { FeedScene } from '../cache/testing/scene.js';
import { LeasePool } from './lease-pool.js';
import type { StoredResource } from './resources.js';
import { DEFAULT_STRATEGY } from './strategy.js';
import { Writer } from './writer.js';
import { createObject } from './testing/writes.js';

const { signal } = new AbortController();
setMaxListeners(0, signal);

describe('Writer of objects that are kept for a time', () => {
  let s: FeedScene;
  let stored: StoredResource;
  let pool: LeasePool;
  let asked: (LeaseId | undefined)[];
  let writer: Writer;
  beforeEach(async () => {
    s = await FeedScene.open();
    await s.start();
    const hub = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true };
    const strategy = { ...DEFAULT_STRATEGY, ttlSeconds: 3600 };
    stored = { cache: s.cache, hub: hub as ResourceDeclaration, strategy, emptyStatus: () => ({}) }; // it asks for no more of the declaration
    pool = new LeasePool(s.store, signal);
    asked = [];
    writer = new Writer({
      store: s.store,
      signal,
      leaseFor: (ttl, ended) => {
        asked.push(ended);
        return pool.leaseFor(ttl, ended);
      },
      allocationKey: (allocation) => `/registry/-/claims/${allocation}`,
      reached: () => Promise.resolve(true),
    });
  });
  afterEach(() => s.close());

  const create = async (name: string): Promise<string> => {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'ns' } };
    return (await createObject(writer, stored, object)).name;
  };

  it('asks for another lease when the one that is shared has ended', async () => {
    await create('a');
    const lease = await pool.leaseFor(3600);
    await s.store.revokeLease(lease, signal);
    assert.equal(await create('b'), 'b');
    assert.equal(await create('c'), 'c');
    assert.deepEqual(asked, [undefined, undefined, lease, undefined], 'once, and no more for those who come later');
    assert.equal((await s.store.get('/registry/core/configmaps/ns/b', {}, signal)).kv === undefined, false);
  });

  it('tries once more, and not for ever', async () => {
    const gone = await pool.leaseFor(3600);
    await s.store.revokeLease(gone, signal);
    let asks = 0;
    const hopeless = new Writer({
      store: s.store,
      signal,
      leaseFor: () => {
        asks++;
        return Promise.resolve(gone);
      },
      allocationKey: (allocation) => allocation,
      reached: () => Promise.resolve(true),
    });
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns' } };
    await assert.rejects(createObject(hopeless, stored, object), { code: 'leaseNotFound' });
    assert.equal(asks, 2);
  });
});
