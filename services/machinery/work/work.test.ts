import assert from 'node:assert/strict';
import { done, type Work } from './work.js';

describe('done', () => {
  it('does all parts, and gives what comes out', () => {
    const parts: number[] = [];
    const work = function* (): Work<string> {
      for (const part of [1, 2, 3]) {
        parts.push(part);
        yield;
      }
      return 'end';
    };
    assert.equal(done(work()), 'end');
    assert.deepEqual(parts, [1, 2, 3]);
  });

  it('throws what the work throws', () => {
    const work = function* (): Work<never> {
      yield;
      throw new Error('broken');
    };
    assert.throws(() => done(work()), /broken/);
  });
});
