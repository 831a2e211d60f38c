import assert from 'node:assert/strict';
import { RateLimit } from './rate-limit.js';

describe('RateLimit', () => {
  it('gives a burst, then one after the other, and no more after a rest than the burst', () => {
    let now = 0;
    const limit = new RateLimit(10, 3, () => now);
    const waits = (count: number): number[] => Array.from({ length: count }, () => Math.round(limit.reserve()));
    assert.deepEqual(waits(5), [0, 0, 0, 100, 200]);
    now += 200;
    assert.deepEqual(waits(1), [100]);
    now += 3_600_000;
    assert.deepEqual(waits(4), [0, 0, 0, 100]);
    assert.equal(new RateLimit(Infinity, 0, () => now).reserve(), 0);
  });

  it('takes nothing for those who leave', async () => {
    const limit = new RateLimit(1, 1, () => 0);
    const never = new AbortController().signal;
    await limit.take(never);
    const gone = new AbortController();
    const leaving = limit.take(gone.signal);
    gone.abort(new Error('enough'));
    await assert.rejects(leaving, /enough/);
    await assert.rejects(limit.take(gone.signal), /enough/);
    assert.equal(limit.reserve(), 1_000);
  });
});
