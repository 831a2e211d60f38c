import assert from 'node:assert/strict';
import { generateName, newUid } from './random.js';

describe('generateName()', () => {
  it('adds five letters of the alphabet', () => {
    for (let i = 0; i < 1000; i++) assert.match(generateName('web-'), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('cuts the base so that 63 characters come out', () => {
    assert.match(generateName('a'.repeat(100)), /^a{58}.{5}$/);
  });

  it('uses every letter about equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 216_000; i++) for (const c of generateName('')) counts.set(c, (counts.get(c) ?? 0) + 1);
    assert.equal(counts.size, 27);
    // 40,000 expected with a deviation of 200; bytes taken as they come would give some 2,000 more.
    for (const [letter, n] of counts) assert.ok(Math.abs(n - 40_000) < 1300, `${letter}: ${n}`);
  });
});

describe('newUid()', () => {
  it('makes version 4 UUIDs', () => {
    assert.match(newUid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.notEqual(newUid(), newUid());
  });
});
