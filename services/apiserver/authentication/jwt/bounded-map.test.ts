import assert from 'node:assert/strict';
import { BoundedMap } from './bounded-map.js';

describe('BoundedMap', () => {
  it('lets go what was not asked for the longest time', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    assert.equal(map.get('a'), 1);
    map.set('c', 3);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.size], [1, undefined, 3, 2]);
  });

  it('keeps the last value of a key', () => {
    const map = new BoundedMap<string, number>(2);
    for (const value of [1, 2, 3]) map.set('a', value);
    assert.deepEqual([map.get('a'), map.size], [3, 1]);
  });
});
