import assert from 'node:assert/strict';
import { repeat } from './repeat.js';

describe('repeat()', () => {
  const retry = { leastMs: 1, mostMs: 2 };
  const never = new AbortController().signal;
  const unexpected = (err: unknown): void => assert.fail(String(err));

  it('goes on until a round is the last', async () => {
    let rounds = 0;
    const round = (): Promise<number | 'finished'> => Promise.resolve(++rounds === 3 ? 'finished' : 0);
    await repeat({ round, onFailure: unexpected }, never);
    assert.equal(rounds, 3);
  });

  it('tells of what fails and tries again', async () => {
    const failures: string[] = [];
    let rounds = 0;
    await repeat(
      {
        round: () => (++rounds < 4 ? Promise.reject(new Error(`${rounds}`)) : Promise.resolve('finished')),
        onFailure: (err) => failures.push((err as Error).message),
        retry,
      },
      never,
    );
    assert.deepEqual(failures, ['1', '2', '3']);
  });

  it('ends with its signal: before a round, while it rests, and without a word of a round that fails by it', async () => {
    const ends = [
      (stop: () => void): Promise<number> => {
        setImmediate(stop);
        return Promise.resolve(3_600_000);
      },
      (stop: () => void): Promise<number> => {
        stop();
        return Promise.reject(new Error('stopped'));
      },
    ];
    for (const end of ends) {
      const over = new AbortController();
      let rounds = 0;
      const round = (): Promise<number> => {
        rounds++;
        return end(() => over.abort());
      };
      await repeat({ round, onFailure: unexpected }, over.signal);
      await repeat({ round, onFailure: unexpected }, over.signal);
      assert.equal(rounds, 1);
    }
  });
});
