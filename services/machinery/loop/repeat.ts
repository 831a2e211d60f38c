import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from './backoff.js';

/** Work that is done again and again in the background of a process. */
export interface Rounds {
  /**
   * Does all there is to do.
   *
   * @returns Milliseconds until the next round, or `finished` when there is none.
   */
  readonly round: (signal: AbortSignal) => Promise<number | 'finished'>;
  /** Told of each round that failed; the next one comes after a pause of `retry`, doubled each time. */
  readonly onFailure: (err: unknown) => void;
  /** @default 200 ms to 30 s */
  readonly retry?: { readonly leastMs: number; readonly mostMs: number };
}

const RETRY = { leastMs: 200, mostMs: 30_000 };

/** Runs round after round until one says that it was the last, or `signal` fires. Never throws. */
export async function repeat({ round, onFailure, retry = RETRY }: Rounds, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs: number | 'finished';
    try {
      pauseMs = await round(signal);
      failures = 0;
    } catch (err) {
      if (hasFired(signal)) return;
      onFailure(err);
      pauseMs = backoffMs(failures++, retry);
    }
    if (pauseMs === 'finished') return;
    await rest(pauseMs, signal);
  }
}

/** Resolves after `ms`, at once for 0, or as soon as `signal` fires. Never rejects. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Whether `signal` has fired by now: the compiler carries what `aborted` was over an await. */
export const hasFired = (signal: AbortSignal): boolean => signal.aborted;
