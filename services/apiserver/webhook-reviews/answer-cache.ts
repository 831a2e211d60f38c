import { LRUCache } from 'lru-cache';

export type AnswerCache<V extends object> = LRUCache<string, V>;

/**
 * Keeps answers for a time of their own, which does not start again when they are asked for.
 *
 * @param maxSize Largest sum of the sizes. @param nowMs Milliseconds of a clock that never goes back.
 */
export const answerCache = <V extends object>(
  max: number,
  maxSize: number,
  nowMs = (): number => performance.now(),
): AnswerCache<V> =>
  new LRUCache<string, V>({
    max,
    maxSize,
    perf: { now: () => nowMs() + 1 }, // to the library a start of 0 is none
    ttlResolution: 0, // the clock is read each time, and no timer is started
  });

/** Short of the time to live: an answer is good for less than that. */
const A_MOMENT_MS = 0.001;

/** @param o `ttlMs` 0: the answer is not kept. */
export function keep<V extends object>(
  cache: AnswerCache<V>,
  key: string,
  answer: V,
  { ttlMs, size }: { readonly ttlMs: number; readonly size: number },
): void {
  if (ttlMs > 0) cache.set(key, answer, { ttl: ttlMs - A_MOMENT_MS, size }); // to the library 0 is for ever
}
