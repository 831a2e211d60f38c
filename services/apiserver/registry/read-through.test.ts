import assert from 'node:assert/strict';
import { CachedObject } from '../cache/cached-object.js';
import { OrderedObjects } from '../cache/ordered.js';
import type { ChangeFilter } from '../cache/watchers.js';
import { readThrough } from './read-through.js';

const WAITING = { signal: new AbortController().signal };
const LAYOUT = { prefixLength: 0, itemStart: 0, selectableFields: [] };
const ofColor = (color: string, byName = false): ChangeFilter => ({
  id: color,
  byName,
  matches: (o) => o.selectables.labels?.['color'] === color,
});

describe('readThrough()', () => {
  const cacheOf = (bytes: number): { current: OrderedObjects; range: () => { from: string; to: string } } => {
    const current = new OrderedObjects();
    const text = JSON.stringify({ metadata: { labels: { color: 'red' } }, text: 'x'.repeat(bytes) });
    for (let i = 0; i < 200; i++) {
      current.set(new CachedObject(`/${i + 100}`, '', `${i}`, 1, Buffer.from(text), LAYOUT));
    }
    return { current, range: () => ({ from: '/110', to: '/290' }) };
  };
  const read = ({ current }: { current: OrderedObjects }): number =>
    [...current.between('', '')].filter((o) => o.isRead).length;

  it('reads what a selector will look at, and no more', async () => {
    const cache = cacheOf(2_000);
    await readThrough(cache, '', ofColor('red'), WAITING);
    assert.equal(read(cache), 180);
  });

  it('leaves little, and what is selected by name or not at all, to whom it concerns', async () => {
    for (const [bytes, filter] of [
      [10, ofColor('red')],
      [2_000, ofColor('red', true)],
      [2_000, ofColor('')],
    ] as const) {
      const cache = cacheOf(bytes);
      await readThrough(cache, '', filter, WAITING);
      assert.equal(read(cache), 0);
    }
  });

  it('does not look where the answer is kept', () => {
    const { current, range } = cacheOf(2_000);
    Array.from(current.items('', '', ofColor('red')));
    assert.equal([...current.unlisted(range().from, range().to, ofColor('red'))].length, 0);
    assert.equal([...current.unlisted(range().from, range().to, ofColor('blue'))].length, 180);
  });

  it('ends with who waits for it', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const objects = cacheOf(2_000);
    const slow: ChangeFilter = { id: 'slow', matches: (o) => busyFor(1) && o.selectables.labels === undefined };
    await assert.rejects(readThrough(objects, '', slow, { signal: gone }), /gone/);
    assert.ok(read(objects) < 180);
  });
});

function busyFor(ms: number): boolean {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return true;
}
