import assert from 'node:assert/strict';
import { ExpiringCache } from './expiring-cache.js';

describe('ExpiringCache', () => {
  let now: number;
  beforeEach(() => (now = 1_000));
  const open = (maxEntries = 3, maxWeight = 100): ExpiringCache<string[]> =>
    new ExpiringCache({ maxEntries, maxWeight, nowMs: () => now });
  const held = (cache: ExpiringCache<string[]>): string =>
    ['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined).join('');
  const LONG = { ttlMs: 1_000, weight: 1 };

  it('keeps a value until its time is over, and no longer', () => {
    const cache = open();
    const value = ['x'];
    cache.set('a', value, { ttlMs: 10, weight: 1 });
    now += 9;
    assert.equal(cache.get('a'), value);
    now += 1;
    assert.equal(cache.get('a'), undefined);
    assert.equal(cache.size, 0);
  });

  it('gives a value no more time because it is asked for', () => {
    const cache = open();
    cache.set('a', [], { ttlMs: 10, weight: 1 });
    for (let i = 0; i < 10; i++, now++) assert.ok(cache.get('a'));
    assert.equal(cache.get('a'), undefined);
  });

  for (const ttlMs of [0, -1]) {
    it(`keeps nothing for ${ttlMs} ms`, () => {
      const cache = open();
      cache.set('a', [], { ttlMs, weight: 1 });
      assert.equal(cache.size, 0);
    });
  }

  it('drops what was not asked for the longest time', () => {
    const cache = open();
    for (const key of ['a', 'b', 'c']) cache.set(key, [], LONG);
    cache.get('a');
    cache.set('d', [], LONG);
    assert.equal(held(cache), 'acd');
  });

  it('drops as many as a heavy one needs', () => {
    const cache = open(10, 10);
    for (const key of ['a', 'b', 'c']) cache.set(key, [], { ttlMs: 1_000, weight: 3 });
    cache.set('d', [], { ttlMs: 1_000, weight: 7 });
    assert.equal(held(cache), 'cd');
  });

  it('does not keep what is heavier than all together may be, nor what was there before it', () => {
    const cache = open(10, 10);
    cache.set('a', [], LONG);
    cache.set('b', [], LONG);
    cache.set('a', [], { ttlMs: 1_000, weight: 11 });
    assert.equal(held(cache), 'b');
  });

  it('forgets the weight of what it drops', () => {
    const cache = open(10, 10);
    for (let i = 0; i < 5; i++) cache.set('a', [String(i)], { ttlMs: 1_000, weight: 8 });
    cache.set('b', [], { ttlMs: 1_000, weight: 2 });
    assert.equal(held(cache), 'ab');
    now += 1_000;
    assert.equal(held(cache), '');
    cache.set('c', [], { ttlMs: 1_000, weight: 10 });
    assert.equal(held(cache), 'c');
  });
});
