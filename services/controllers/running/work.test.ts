import assert from 'node:assert/strict';
import { WorkQueue } from '../../client/queue/work-queue.js';
import type { Controller, Reconciled } from '../controller.js';
import { work, type Ends } from './work.js';

describe('work()', () => {
  let queue: WorkQueue;
  let stop: AbortController;
  let halt: AbortController;
  let seen: string[];
  let results: string[];
  let warnings: number;
  beforeEach(() => {
    queue = new WorkQueue({ retry: { leastMs: 1, mostMs: 4 } });
    [stop, halt] = [new AbortController(), new AbortController()];
    [seen, results, warnings] = [[], [], 0];
  });
  afterEach(() => stop.abort());

  const ends = (): Ends => ({ stop: stop.signal, halt: halt.signal });
  const log = { debug: () => undefined, info: () => undefined, warn: () => (warnings += 1), error: () => undefined };
  const running = (c: Partial<Controller>, onSynced = (): void => undefined): Promise<void> => {
    const controller = { informers: [], workers: 1, reconcile: () => Promise.resolve(undefined), ...c };
    const observe = (result: string): void => void results.push(result);
    return work({ name: 'it', controller, queue, log, observe, onSynced }, ends());
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await turn();
  };

  it('begins when all informers are filled, and says so', async () => {
    const fill: (() => void)[] = [];
    const informer = { synced: () => new Promise<void>((resolve) => fill.push(resolve)) };
    let isSynced = false;
    queue.add('a');
    const reconcile = (key: string): Promise<Reconciled> => Promise.resolve(void seen.push(key));
    const ended = running({ informers: [informer, informer], reconcile }, () => (isSynced = true));
    fill[0]?.();
    await turn();
    assert.deepEqual([seen, isSynced], [[], false]);
    fill[1]?.();
    await until(() => seen.length === 1);
    assert.equal(isSynced, true);
    stop.abort();
    await ended;
  });

  it('ends quietly when it is stopped before they are', async () => {
    const synced = (signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const ended = running({ informers: [{ synced }], reconcile: () => assert.fail() });
    stop.abort();
    await ended;
  });

  it('brings a key back that failed, and one that is to come again', async () => {
    const reconcile = (): Promise<Reconciled> => {
      seen.push('a');
      if (seen.length < 3) throw new Error('not yet');
      return Promise.resolve(seen.length === 3 ? { againInMs: 1 } : undefined);
    };
    queue.add('a');
    const ended = running({ reconcile });
    await until(() => seen.length === 4);
    await turn();
    assert.deepEqual(results, ['error', 'error', 'requeue_after', 'success']);
    assert.equal(warnings, 2);
    assert.equal(queue.failures('a'), 0);
    stop.abort();
    await ended;
  });

  it('works on as many keys at once as there are workers', async () => {
    let most = 0;
    let now = 0;
    const reconcile = async (key: string): Promise<Reconciled> => {
      most = Math.max(most, ++now);
      await turn();
      now--;
      seen.push(key);
      return undefined;
    };
    for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key);
    const ended = running({ workers: 2, reconcile });
    await until(() => seen.length === 5);
    assert.equal(most, 2);
    stop.abort();
    await ended;
  });

  it('finishes what is under way when it is stopped, and begins nothing', async () => {
    let finish: (() => void) | undefined;
    const reconcile = async (key: string, signal: AbortSignal): Promise<Reconciled> => {
      await new Promise<void>((resolve) => (finish = resolve));
      assert.equal(signal.aborted, false);
      seen.push(key);
      return undefined;
    };
    queue.add('a');
    queue.add('b');
    let hasEnded = false;
    const ended = running({ reconcile }).then(() => (hasEnded = true));
    await until(() => finish !== undefined);
    stop.abort();
    await turn();
    assert.equal(hasEnded, false);
    finish?.();
    await ended;
    assert.deepEqual(seen, ['a']);
  });

  it('ends what is under way when it is halted, which is no failure', async () => {
    const reconcile = (_: string, signal: AbortSignal): Promise<Reconciled> =>
      new Promise((_resolve, reject) => {
        seen.push('a');
        signal.addEventListener('abort', () => reject(new Error('halted')));
      });
    queue.add('a');
    const ended = running({ reconcile });
    await until(() => seen.length === 1);
    stop.abort();
    halt.abort();
    await ended;
    assert.deepEqual([results, warnings], [[], 0]);
  });

  it('fails with the work beside its keys, unless it was stopped', async () => {
    await assert.rejects(running({ run: () => Promise.reject(new Error('broken')) }), /it cannot go on/);
    queue = new WorkQueue();
    const run = (signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    const ended = running({ run });
    await turn();
    stop.abort();
    await ended;
  });
});
