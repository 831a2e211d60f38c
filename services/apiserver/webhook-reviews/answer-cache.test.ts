import assert from 'node:assert/strict';
import { answerCache, keep, type AnswerCache } from './answer-cache.js';

describe('answerCache()', () => {
  let now: number;
  beforeEach(() => (now = 0));
  const open = (max = 3, maxSize = 100): AnswerCache<string[]> => answerCache(max, maxSize, () => now);
  const held = (cache: AnswerCache<string[]>): string =>
    ['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined).join('');
  const LONG = { ttlMs: 1_000, size: 1 };

  it('keeps an answer until its time is over, and no longer', () => {
    const cache = open();
    const value = ['x'];
    keep(cache, 'a', value, { ttlMs: 10, size: 1 });
    now += 9;
    assert.equal(cache.get('a'), value);
    now += 1;
    assert.equal(cache.get('a'), undefined);
    assert.equal(cache.size, 0);
  });

  it('gives an answer no more time because it is asked for', () => {
    const cache = open();
    keep(cache, 'a', [], { ttlMs: 10, size: 1 });
    for (let i = 0; i < 10; i++, now++) assert.ok(cache.get('a'));
    assert.equal(cache.get('a'), undefined);
  });

  for (const ttlMs of [0, -1]) {
    it(`keeps nothing for ${ttlMs} ms`, () => {
      const cache = open();
      keep(cache, 'a', [], { ttlMs, size: 1 });
      assert.equal(cache.size, 0);
    });
  }

  it('drops the answer that was not asked for the longest time', () => {
    const cache = open();
    for (const key of ['a', 'b', 'c']) keep(cache, key, [], LONG);
    cache.get('a');
    keep(cache, 'd', [], LONG);
    assert.equal(held(cache), 'acd');
  });

  it('drops as many as a large one needs', () => {
    const cache = open(10, 10);
    for (const key of ['a', 'b', 'c']) keep(cache, key, [], { ttlMs: 1_000, size: 3 });
    keep(cache, 'd', [], { ttlMs: 1_000, size: 7 });
    assert.equal(held(cache), 'cd');
  });

  it('does not keep an answer larger than all together may be, nor the one before it', () => {
    const cache = open(10, 10);
    keep(cache, 'a', [], LONG);
    keep(cache, 'b', [], LONG);
    keep(cache, 'a', [], { ttlMs: 1_000, size: 11 });
    assert.equal(held(cache), 'b');
  });

  it('forgets the size of what it drops', () => {
    const cache = open(10, 10);
    for (let i = 0; i < 5; i++) keep(cache, 'a', [String(i)], { ttlMs: 1_000, size: 8 });
    keep(cache, 'b', [], { ttlMs: 1_000, size: 2 });
    assert.equal(held(cache), 'ab');
    now += 1_000;
    assert.equal(held(cache), '');
    keep(cache, 'c', [], { ttlMs: 1_000, size: 10 });
    assert.equal(held(cache), 'c');
  });
});
