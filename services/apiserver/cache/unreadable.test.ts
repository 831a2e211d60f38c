import assert from 'node:assert/strict';
import { NO_REVISION, revision, type StoreEvent } from '../../storage/store.js';
import { isReadable, type CachedObject } from './cached-object.js';
import { follow } from './follow.js';
import type { Change } from './history.js';
import { HistoryBudget } from './history.js';
import { ResourceCache } from './resource-cache.js';
import { cached, FORM, LAYOUT, PREFIX, storedBytes } from './testing/objects.js';
import { EVERYTHING, STORED_JSON } from './watchers.js';

const WHY = { unreadable: new Error('no key') };
const GROUP = { scope: { namespace: '', name: '' }, filter: EVERYTHING, encoder: STORED_JSON };
const REFUSAL = /^Internal error occurred: unable to transform key "\/registry\/core\/configmaps\/ns\/b": no key$/;

describe('a value that cannot be read', () => {
  let cache: ResourceCache;
  let told: string[];
  let ended: string[];
  beforeEach(() => {
    cache = new ResourceCache(
      { prefix: PREFIX, namespaced: true },
      LAYOUT,
      FORM,
      new HistoryBudget({ maxBytes: 1e6, retainMs: 1e6 }),
    );
    cache.load([cached('ns', 'a', 1), cached('ns', 'b', 2)], 2);
    told = [];
    ended = [];
    follow(cache, {
      loaded: (objects) => told.push(`loaded ${[...objects].map((o) => o.name).join()}`),
      changed: (change: Change) => told.push(`${change.type} ${change.object.name}@${change.revision}`),
    });
    told.length = 0;
  });
  const watch = (): void => {
    const sink = { write: () => true, expired: () => ended.push('expired'), failed: () => ended.push('failed') };
    cache.watchers.add(GROUP, sink, cache.history.end).resume();
  };
  const put = (name: string, at: number, as: Partial<StoreEvent> = {}): boolean =>
    cache.apply({
      type: 'put',
      key: `${PREFIX}ns/${name}`,
      value: as.unreadable === undefined ? storedBytes('ns', name) : Buffer.alloc(0),
      createRevision: NO_REVISION,
      modRevision: revision(at),
      previous: undefined,
      ...as,
    });
  const b = (): CachedObject => {
    const found = cache.get(`${PREFIX}ns/b`);
    assert.ok(found !== undefined);
    return found;
  };

  it('is there, and fails who looks into it', () => {
    put('b', 3, WHY);
    assert.equal(cache.size, 2);
    assert.equal(b().revision, 3);
    assert.ok(!isReadable(b()) && cache.hasUnreadable);
    assert.deepEqual(
      [...cache.current.between('', '')].map((o) => o.name),
      ['a', 'b'],
    );
    for (const look of [() => b().bytes, () => b().parse(), () => b().selectables, () => b().at(4)]) {
      assert.throws(look, (err: Error) => REFUSAL.test(err.message));
    }
    assert.throws(
      () => [...cache.current.items('', '')],
      (err: Error) => REFUSAL.test(err.message),
    );
  });

  it('ends watches, which cannot be told, and is a deletion to followers', () => {
    watch();
    put('b', 3, WHY);
    assert.deepEqual(ended, ['expired']);
    assert.equal(cache.history.floor, 3);
    assert.deepEqual(told, ['DELETED b@3']);
    watch();
    put('a', 4);
    assert.deepEqual(ended, ['expired'], 'others go on');
    assert.deepEqual(told.slice(1), ['MODIFIED a@4']);
  });

  it('leaves no past state that a page could find it in', () => {
    cache.keepSnapshot(2);
    assert.ok(cache.at(2, 2));
    put('b', 3, WHY);
    assert.equal(cache.at(2, 3), undefined);
    cache.keepSnapshot(3);
    put('b', 4);
    assert.equal(cache.at(3, 4), undefined);
  });

  it('goes with its deletion or with a value that can be read', () => {
    put('b', 3, WHY);
    watch();
    put('b', 4);
    assert.deepEqual(ended, ['expired']);
    assert.ok(isReadable(b()) && !cache.hasUnreadable);
    put('b', 5, WHY);
    put('b', 6, { ...WHY });
    put('b', 7, { type: 'delete', value: Buffer.alloc(0) });
    assert.equal(cache.get(`${PREFIX}ns/b`), undefined);
    assert.ok(!cache.hasUnreadable);
    assert.deepEqual(told, ['DELETED b@3', 'ADDED b@4', 'DELETED b@5']);
    assert.equal(cache.size, 1);
  });

  it('is not told to followers when the state begins with it', () => {
    const bad = cache.decode(`${PREFIX}ns/b`, Buffer.alloc(0), 5, WHY);
    assert.ok(bad !== undefined);
    cache.load([cached('ns', 'a', 1), bad], 5);
    assert.deepEqual(told, ['loaded a']);
    assert.deepEqual(cache.unreadable, [`${PREFIX}ns/b`]);
    const late: string[] = [];
    follow(cache, { loaded: (objects) => late.push(...[...objects].map((o) => o.name)), changed: () => undefined });
    assert.deepEqual(late, ['a']);
    cache.load([cached('ns', 'a', 1)], 6);
    assert.ok(!cache.hasUnreadable);
  });

  it('heals when it can be read later, unless it has changed since', () => {
    put('b', 3, WHY);
    const kv = {
      key: `${PREFIX}ns/b`,
      value: storedBytes('ns', 'b'),
      createRevision: revision(2),
      modRevision: revision(3),
    };
    assert.equal(cache.heal({ ...kv, ...WHY }), false);
    assert.ok(!isReadable(b()));
    assert.equal(cache.heal({ ...kv, modRevision: revision(4) }), true);
    assert.ok(!isReadable(b()), 'a newer state comes by the feed');
    watch();
    assert.equal(cache.heal(kv), true);
    assert.equal(b().revision, 3);
    assert.ok(isReadable(b()) && !cache.hasUnreadable);
    assert.deepEqual(told, ['DELETED b@3', 'ADDED b@3']);
    assert.deepEqual(ended, ['expired']);
  });

  it('makes room for others that are to be tried', () => {
    put('a', 3, WHY);
    put('b', 4, WHY);
    const kv = { key: `${PREFIX}ns/a`, value: Buffer.alloc(0), createRevision: revision(1), modRevision: revision(3) };
    cache.heal({ ...kv, ...WHY });
    assert.deepEqual(cache.unreadable, [`${PREFIX}ns/b`, `${PREFIX}ns/a`]);
  });

  it('is told apart from one that is stored in another form, which can be read', () => {
    const stale = cache.decode(`${PREFIX}ns/b`, storedBytes('ns', 'b'), 3, { stale: true });
    assert.equal(stale?.layout.isForeign, true);
    assert.equal(cache.decode(`${PREFIX}ns/b`, storedBytes('ns', 'b'), 3)?.layout.isForeign, undefined);
  });
});
