import assert from 'node:assert/strict';
import { untilOver, type WatchClock, type WatchEnd } from './watch-end.js';

const START = 1_000_000;
const HOUR = 3_600_000;

/** Time passes only where the loop sleeps; what happens meanwhile is the test's. */
class SleepingClock implements WatchClock {
  /** After how long each sleep ended, from the start. */
  readonly woken: number[] = [];
  onSleep: (() => void) | undefined;
  /** Milliseconds by which the next sleep ends before its time. */
  early = 0;
  #now = START;

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    assert.ok(ms > 0 && this.woken.length < 100, 'the loop comes round too often');
    this.onSleep?.();
    if (!signal.aborted) this.#now += ms - this.early;
    this.early = 0;
    this.woken.push(this.#now - START);
    await Promise.resolve();
  }
}

describe('untilOver()', () => {
  let clock: SleepingClock;
  let bookmarks: number[];
  let delivered: number | undefined;
  let over: AbortController;
  beforeEach(() => {
    clock = new SleepingClock();
    bookmarks = [];
    delivered = 7;
    over = new AbortController();
  });
  const run = (ms: number, o: Partial<WatchEnd> = {}): Promise<void> => {
    const bookmark = (): void => void bookmarks.push(clock.now() - START);
    const end = { deadline: START + ms, over: over.signal, bookmark, ...o };
    return untilOver({ deliveredTo: () => delivered }, end, clock);
  };

  it('sends a bookmark every minute or so, and one shortly before the end', async () => {
    await run(HOUR);
    const gaps = bookmarks.map((at, i) => at - (bookmarks[i - 1] ?? 0));
    assert.ok(
      gaps.slice(0, -1).every((gap) => gap >= 48_000 && gap <= 72_001),
      gaps.join(' '),
    );
    assert.ok(gaps.length >= 50, 'all the time');
    assert.equal(bookmarks.at(-1), HOUR - 2_000 + 1);
    assert.deepEqual(clock.woken.slice(-2), [HOUR - 2_000 + 1, HOUR + 1]);
  });

  it('sends the last one once, also when its timer fires early', async () => {
    clock.early = 5;
    await run(6_000);
    assert.deepEqual(bookmarks, [4_001]);
    assert.deepEqual(clock.woken, [3_996, 4_001, 6_001]);
  });

  it('sends none at the end, also when the timer of the deadline fires early', async () => {
    clock.onSleep = () => {
      clock.early = clock.woken.length === 1 ? 5 : 0;
    };
    await run(6_000);
    assert.deepEqual(bookmarks, [4_001]);
    assert.deepEqual(clock.woken, [4_001, 5_996, 6_001]);
  });

  it('sends none while the watcher is behind, and goes on when it is not any more', async () => {
    delivered = undefined;
    clock.onSleep = () => {
      if (clock.woken.length === 3) delivered = 8;
    };
    await run(HOUR);
    assert.equal(bookmarks[0], clock.woken[3]);
    assert.equal(bookmarks.length, clock.woken.length - 1 - 3);
  });

  it('sends no last one either to a watcher that is behind', async () => {
    delivered = undefined;
    await run(10_000);
    assert.deepEqual([bookmarks, clock.woken], [[], [8_001, 10_001]]);
  });

  it('sleeps to the end without bookmarks', async () => {
    await run(HOUR, { bookmark: undefined });
    assert.deepEqual(clock.woken, [HOUR + 1]);
  });

  it('sends none in a watch that is shorter than what the last one takes', async () => {
    await run(1_500);
    assert.deepEqual([bookmarks, clock.woken], [[], [1_501]]);
  });

  it('ends with the watch, and sends nothing then', async () => {
    clock.onSleep = () => {
      if (clock.woken.length === 1) over.abort();
    };
    await run(HOUR);
    assert.deepEqual([clock.woken.length, bookmarks.length], [2, 1]);
  });

  it('is over at once when it was before', async () => {
    over.abort();
    await run(HOUR);
    await run(0, { over: new AbortController().signal });
    assert.deepEqual(clock.woken, []);
  });
});
