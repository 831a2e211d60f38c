import assert from 'node:assert/strict';
import { workOff } from './work-off.js';
import { WorkQueue } from './work-queue.js';

describe('workOff()', () => {
  let queue: WorkQueue;
  let stop: AbortController;
  let failures: string[];
  beforeEach(() => {
    queue = new WorkQueue({ retry: { leastMs: 1, mostMs: 1 } });
    stop = new AbortController();
    failures = [];
  });
  afterEach(() => queue.shutDown());

  const failed = (key: string, err: unknown, times: number): void =>
    void failures.push(`${key} ${String(err)} ${times}`);

  it('takes one key after the other, and brings back those that fail', async () => {
    const seen: string[] = [];
    const work = async (key: string): Promise<void> => {
      seen.push(key);
      await Promise.resolve();
      if (key === 'a' && failures.length < 2) throw new Error('no');
      if (queue.unfinished.length !== 1) throw new Error('two at once');
      if (key === 'a') stop.abort();
    };
    queue.add('a');
    queue.add('b');
    await workOff(queue, { stop: stop.signal, work, failed });
    assert.deepEqual(seen, ['a', 'b', 'a', 'a']);
    assert.deepEqual(failures, ['a Error: no 1', 'a Error: no 2']);
    assert.deepEqual(queue.unfinished, []);
  });

  it('takes what came meanwhile when the key is done', async () => {
    let times = 0;
    queue.add('a');
    await workOff(queue, {
      stop: stop.signal,
      work: () => {
        if (times++ === 0) queue.add('a');
        else stop.abort();
        return Promise.resolve();
      },
      failed,
    });
    assert.equal(times, 2);
  });

  it('counts no failure of what is ended, and lets what is only to be the last one fail', async () => {
    const halt = new AbortController();
    const ends = { stop: stop.signal, halt: halt.signal };
    const fail = (): Promise<void> => {
      stop.abort();
      return Promise.reject(new Error('late'));
    };
    queue.add('a');
    await workOff(queue, { ...ends, work: fail, failed });
    assert.deepEqual(failures, ['a Error: late 1']);
    assert.equal(queue.failures('a'), 1);

    [failures, stop] = [[], new AbortController()];
    queue.add('b');
    await workOff(queue, { stop: stop.signal, work: fail, failed });
    assert.deepEqual([failures, queue.failures('b'), queue.unfinished], [[], 0, []]);
  });
});
