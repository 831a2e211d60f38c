import assert from 'node:assert/strict';
import { inTurns } from './in-turns.js';
import type { Work } from './work.js';

/** Takes the whole of a turn, and more. */
function spend(): void {
  const until = performance.now() + 15;
  while (performance.now() < until);
}

describe('inTurns()', () => {
  it('does at once what takes no time', () => {
    const work = function* (): Work<string> {
      yield;
      return 'end';
    };
    assert.equal(inTurns(work()), 'end');
  });

  it('goes on in another turn when a part has taken long', async () => {
    const order: string[] = [];
    const work = function* (): Work<string> {
      for (const part of ['first', 'second']) {
        order.push(part);
        spend();
        yield;
      }
      return 'end';
    };
    const end = inTurns(work());
    assert.ok(end instanceof Promise);
    setImmediate(() => order.push('another'));
    assert.equal(await end, 'end');
    assert.deepEqual(order, ['first', 'second', 'another']);
  });

  it('rejects with what a later part throws', async () => {
    const work = function* (): Work<never> {
      spend();
      yield;
      throw new Error('broken');
    };
    await assert.rejects(Promise.resolve(inTurns(work())), /broken/);
  });
});
