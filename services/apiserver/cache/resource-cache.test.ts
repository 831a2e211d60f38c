import assert from 'node:assert/strict';
import { revision, type StoreEvent } from '../../storage/store.js';
import { HistoryBudget } from './history.js';
import type { Snapshot } from './ordered.js';
import { ResourceCache } from './resource-cache.js';
import { SNAPSHOT_LIMITS, SnapshotBudget } from './snapshots.js';
import { cached, FORM, LAYOUT, PREFIX, storedBytes } from './testing/objects.js';

describe('ResourceCache', () => {
  let cache: ResourceCache;
  beforeEach(() => {
    const budget = new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 });
    cache = new ResourceCache({ prefix: PREFIX, namespaced: true }, LAYOUT, FORM, budget);
    cache.load([cached('ns', 'a', 8), cached('ns', 'b', 9)], 10);
  });
  const event = (type: StoreEvent['type'], name: string, at: number, color = ''): StoreEvent => ({
    type,
    key: `${PREFIX}ns/${name}`,
    value: type === 'put' ? storedBytes('ns', name, { color }) : Buffer.alloc(0),
    createRevision: revision(1),
    modRevision: revision(at),
    previous: undefined,
  });
  const names = (state: Snapshot | undefined): string[] | undefined =>
    state && [...state.between('', '')].map((o) => `${o.name}@${o.revision}`);

  it('knows the state as of the load and of what has been followed since, and of nothing else', () => {
    const state = ['a@8', 'b@9'];
    assert.deepEqual(
      [9, 10, 12, 13].map((at) => names(cache.at(at, 12))),
      [undefined, state, state, undefined],
    );
    cache.apply(event('put', 'a', 13));
    const changed = ['a@13', 'b@9'];
    assert.deepEqual(
      [12, 13, 14, 15].map((at) => names(cache.at(at, 14))),
      [undefined, changed, changed, undefined],
    );
  });

  it('knows a state that was kept, under its revision, whatever comes later', () => {
    cache.keepSnapshot(11);
    cache.apply(event('delete', 'a', 12));
    assert.deepEqual(
      [10, 11, 12].map((at) => names(cache.at(at, 12))),
      [undefined, ['a@8', 'b@9'], ['b@9']],
    );
    cache.load([], 20);
    assert.equal(cache.at(11, 20), undefined, 'a load makes it void');
  });

  it('counts what a kept state holds on to', () => {
    const budget = new SnapshotBudget(SNAPSHOT_LIMITS);
    const histories = new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 });
    cache = new ResourceCache({ prefix: PREFIX, namespaced: true }, LAYOUT, FORM, histories, budget);
    const a = cached('ns', 'a', 8);
    cache.load([a], 10);
    cache.keepSnapshot(10);
    cache.apply(event('put', 'b', 11));
    assert.equal(budget.bytes, 0);
    cache.apply(event('put', 'a', 12));
    assert.equal(budget.bytes, a.bytes.length);
  });

  it('can tell every change since the load, and none before', () => {
    assert.equal(cache.history.floor, 10);
    for (const at of [11, 12, 13]) cache.apply(event('put', 'a', at));
    assert.deepEqual(
      [10, 11, 12, 13].map((at) => cache.history.end - cache.history.after(at)),
      [3, 2, 1, 0],
    );
  });

  it('takes what this process wrote for what the feed shows under the same revision only', () => {
    const written = cached('ns', 'a', 11, { color: 'red' });
    cache.expect(written);
    assert.equal(cache.newest(written.key), written);
    cache.apply(event('put', 'a', 11, 'red'));
    assert.equal(cache.get(written.key), written);
    cache.expect(cached('ns', 'a', 13, { color: 'blue' }));
    cache.apply(event('put', 'a', 12, 'green'));
    assert.equal(cache.get(written.key)?.field('data.color'), 'green');
    assert.equal(cache.newest(written.key)?.field('data.color'), 'blue');
    cache.expect(cached('ns', 'a', 12, { color: 'old' }));
    assert.equal(cache.newest(written.key)?.revision, 13);
  });

  it('passes by a deletion of what it has never seen, and counts its revision', () => {
    cache.apply(event('delete', 'zzz', 11));
    assert.deepEqual([cache.size, cache.history.end - cache.history.after(10)], [2, 0]);
    assert.equal(cache.at(10, 11), undefined);
  });
});
