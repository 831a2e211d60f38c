import { hasFired, rest } from '../../machinery/loop/repeat.js';
import type { WatchSession } from '../registry/watch-service.js';

const BOOKMARK_EVERY_MS = 60_000;
/** A last bookmark goes out this long before the end, so that the client can resume cheaply. */
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;

export interface WatchClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const systemClock: WatchClock = {
  now: () => performance.now(),
  sleep: rest,
};

export interface WatchEnd {
  /** On the clock. */
  readonly deadline: number;
  /** Fires when either side ends the watch before. */
  readonly over: AbortSignal;
  /** Sent every minute or so; undefined: the client wants none. */
  readonly bookmark: (() => void) | undefined;
}

/**
 * Resolves when a watch is over. Bookmarks go out meanwhile, unless the watcher is behind: one would tell the client that it
 * has what it has not been sent.
 */
export async function untilOver(
  session: Pick<WatchSession, 'deliveredTo'>,
  { deadline, over, bookmark }: WatchEnd,
  clock: WatchClock = systemClock,
): Promise<void> {
  const lastBookmarkAt = deadline - LAST_BOOKMARK_BEFORE_END_MS;
  for (;;) {
    const now = clock.now();
    if (over.aborted || now >= deadline) return;
    const every = now + BOOKMARK_EVERY_MS * (0.8 + 0.4 * Math.random());
    const wake = bookmark === undefined || now >= lastBookmarkAt ? deadline : Math.min(every, lastBookmarkAt);
    // Timers count from the beginning of a turn of the event loop, so one that is set late in a long turn fires early.
    await clock.sleep(wake - now + 1, over);
    const isEarly = wake !== every && clock.now() < wake; // the last one is sent once, and none at the deadline
    if (hasFired(over) || isEarly || clock.now() >= deadline) continue;
    if (session.deliveredTo() !== undefined) bookmark?.();
  }
}
