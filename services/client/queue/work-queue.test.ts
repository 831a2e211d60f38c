import assert from 'node:assert/strict';
import { mock } from 'node:test';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { queueMetrics } from './queue-metrics.js';
import { WorkQueue } from './work-queue.js';

describe('WorkQueue', () => {
  const { timers } = mock;
  const now = (): number => Date.now();
  beforeEach(() => timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => timers.reset());

  const taken = async (queue: WorkQueue): Promise<string[]> => {
    const keys: string[] = [];
    while (queue.depth > 0) keys.push((await queue.get()) ?? '');
    return keys;
  };

  it('gives keys in the order in which they came, each once', async () => {
    const queue = new WorkQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    assert.deepEqual(await taken(queue), ['a', 'b', 'c']);
  });

  it('gives no key to two workers: it comes again, once, when the first one is done', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    assert.equal(await queue.get(), 'a');
    queue.add('a');
    queue.add('a');
    assert.equal(queue.depth, 0);
    queue.done('a');
    assert.deepEqual(await taken(queue), ['a']);
    queue.done('a');
    assert.equal(queue.depth, 0);
  });

  it('wakes workers in the order in which they wait, but none that left', async () => {
    const queue = new WorkQueue();
    const gone = new AbortController();
    const leaving = queue.get(gone.signal);
    const [first, second] = [queue.get(), queue.get()];
    gone.abort();
    queue.add('a');
    queue.add('b');
    assert.deepEqual(await Promise.all([leaving, first, second]), [undefined, 'a', 'b']);
    assert.equal(await queue.get(AbortSignal.abort()), undefined);
  });

  it('adds keys after their time, the soonest first, of two times the sooner', async () => {
    const queue = new WorkQueue({ now });
    for (const [key, ms] of [['a', 500], ['b', 100], ['c', 300], ['a', 200], ['b', 400], ['d', 0]] as const) queue.addAfter(key, ms); // prettier-ignore
    assert.deepEqual(await taken(queue), ['d']);
    const seen: [number, string[]][] = [];
    for (let at = 100; at <= 600; at += 100) {
      timers.tick(100);
      const keys = await taken(queue);
      for (const key of keys) queue.done(key);
      seen.push([at, keys]);
    }
    assert.deepEqual(seen, [[100, ['b']], [200, ['a']], [300, ['c']], [400, []], [500, []], [600, []]]); // prettier-ignore
  });

  it('holds delays that no timer can', async () => {
    const queue = new WorkQueue({ now });
    queue.addAfter('a', 2 ** 31 + 1000);
    timers.tick(2 ** 31 - 1);
    assert.equal(queue.depth, 0);
    timers.tick(1001);
    assert.deepEqual(await taken(queue), ['a']);
  });

  it('keeps the order of any number of delays', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 500 }))), (adds) => {
        const expected = new Map<string, number>();
        const queue = new WorkQueue({ now });
        const start = now();
        const seen: [string, number][] = [];
        queue.add = (key) => seen.push([key, now() - start]);
        for (const [n, ms] of adds) {
          queue.addAfter(`k${n}`, ms);
          expected.set(`k${n}`, Math.min(ms, expected.get(`k${n}`) ?? Infinity));
        }
        for (let i = 0; i < 500; i++) timers.tick(1);
        assert.deepEqual(new Map(seen), expected);
        assert.equal(seen.length, expected.size);
        assert.deepEqual(seen.map(([, at]) => at), [...expected.values()].sort((a, b) => a - b)); // prettier-ignore
      }),
      { numRuns: 30 },
    );
  });

  it('lets a key that fails wait twice as long each time, up to the most, until it is forgotten', () => {
    const queue = new WorkQueue({ now, retry: { leastMs: 5, mostMs: 1_000 } });
    const waits: number[] = [];
    queue.addAfter = (_, ms) => waits.push(ms);
    for (let i = 0; i < 10; i++) queue.addRateLimited('a');
    assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
    assert.equal(queue.failures('a'), 10);
    queue.forget('a');
    queue.addRateLimited('a');
    assert.deepEqual([waits.at(-1), queue.failures('a')], [5, 1]);
  });

  it('lets all keys that fail together come again at a rate', () => {
    const queue = new WorkQueue({ now, rate: { perSecond: 10, burst: 2 } });
    const waits: number[] = [];
    queue.addAfter = (_, ms) => waits.push(Math.round(ms));
    for (let i = 0; i < 5; i++) queue.addRateLimited(`k${i}`);
    assert.deepEqual(waits, [5, 5, 100, 200, 300]);
    timers.tick(1_000);
    queue.addRateLimited('later');
    assert.equal(waits.at(-1), 5);
  });

  it('gives what waits after it was shut down, takes nothing more, and says when all is done', async () => {
    const queue = new WorkQueue({ now });
    queue.add('a');
    queue.add('b');
    assert.equal(await queue.get(), 'a');
    queue.add('a');
    queue.addAfter('later', 10);
    queue.shutDown();
    queue.add('c');
    queue.addAfter('d', 0);
    queue.addRateLimited('e');
    timers.tick(100_000);
    let isDrained = false;
    const drained = queue.drained().then(() => (isDrained = true));
    assert.equal(await queue.get(), 'b');
    const waiting = queue.get();
    queue.done('b');
    queue.done('a');
    assert.equal(await waiting, 'a'); // it was added before
    const last = queue.get();
    assert.equal(isDrained, false);
    queue.done('a');
    assert.equal(await last, undefined);
    await drained;
    await queue.drained();
    assert.equal(await queue.get(), undefined);
  });

  it('is measured under the names that dashboards know', async () => {
    const registry = new Registry();
    const metrics = queueMetrics(registry);
    const queue = new WorkQueue({ now, observer: metrics.observer('q') });
    metrics.follow('q', queue);
    const value = async (name: string): Promise<number | undefined> =>
      (await registry.getSingleMetric(name)?.get())?.values.find(
        (v) => v.labels['name'] === 'q' && !('le' in v.labels) && !String((v as { metricName?: string }).metricName).endsWith('_count'),
      )?.value; // prettier-ignore
    queue.add('a');
    queue.add('b');
    queue.add('a');
    assert.deepEqual([await value('workqueue_depth'), await value('workqueue_adds_total')], [2, 2]);
    timers.tick(2_000);
    await queue.get();
    assert.deepEqual([await value('workqueue_depth'), await value('workqueue_queue_duration_seconds')], [1, 2]);
    timers.tick(3_000);
    assert.equal(await value('workqueue_unfinished_work_seconds'), 3);
    assert.equal(await value('workqueue_longest_running_processor_seconds'), 3);
    queue.addRateLimited('a');
    queue.done('a');
    assert.deepEqual([await value('workqueue_work_duration_seconds'), await value('workqueue_retries_total')], [3, 1]);
    assert.equal(await value('workqueue_unfinished_work_seconds'), 0);
  });
});
