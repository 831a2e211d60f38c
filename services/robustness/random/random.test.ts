import assert from 'node:assert/strict';
import { randomOf } from './random.js';

describe('randomOf()', () => {
  const many = (seed: number): number[] => {
    const random = randomOf(seed);
    return Array.from({ length: 10_000 }, () => random.next());
  };

  it('follows from its seed, and spreads', () => {
    assert.deepEqual(many(1), many(1));
    assert.notDeepEqual(many(1), many(2));
    const buckets = new Array<number>(10).fill(0);
    for (const it of many(1)) buckets[Math.floor(it * 10)]! += 1;
    assert.ok(
      buckets.every((count) => count > 850 && count < 1_150),
      buckets.join(),
    );
  });

  it('chooses by weights', () => {
    const random = randomOf(3);
    const counts = { a: 0, b: 0, never: 0 };
    for (let i = 0; i < 10_000; i++) counts[random.weighted({ a: 3, b: 1, never: 0 })]++;
    assert.equal(counts.never, 0);
    assert.ok(counts.a > 2 * counts.b && counts.b > 2_000, JSON.stringify(counts));
  });

  it('has nothing to pick from nothing', () => {
    assert.throws(() => randomOf(1).pick([]), RangeError);
  });
});
