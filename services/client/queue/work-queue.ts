import { DelayedKeys } from './delayed-keys.js';
import { RateLimit } from './rate-limit.js';

/** Told of what happens in a queue, for metrics (`queue-metrics.ts`). Times are in seconds. */
export interface QueueObserver {
  readonly depth: (keys: number) => void;
  readonly added: () => void;
  /** @param seconds Between a key's coming and its being taken. */
  readonly taken: (seconds: number) => void;
  /** @param seconds Between a key's being taken and `done`. */
  readonly done: (seconds: number) => void;
  /** A key comes again after a failure. */
  readonly retried: () => void;
}

export interface WorkQueueOptions {
  /** How long a key waits that failed: doubled for each failure in a row. @default 5 ms to 1000 s */
  readonly retry?: { readonly leastMs: number; readonly mostMs: number };
  /** All keys that failed together. @default 10 a second, 100 at once */
  readonly rate?: { readonly perSecond: number; readonly burst: number };
  readonly observer?: QueueObserver;
  /** Milliseconds that only rise. */
  readonly now?: () => number;
}

const RETRY = { leastMs: 5, mostMs: 1_000_000 };
const RATE = { perSecond: 10, burst: 100 };

/** A worker that waits for a key. */
type Waiting = (key: string | undefined) => void;

/**
 * Keys that wait for workers, in the order in which they came. A key waits once at most, and is never with two workers: one
 * that is added while it is worked on comes again when that is done.
 *
 * A worker takes a key with `get`, says `forget` when it succeeded or `addRateLimited` when it comes again, and `done` at last.
 */
export class WorkQueue {
  readonly #o: WorkQueueOptions;
  readonly #now: () => number;
  readonly #rate: RateLimit;
  readonly #delayed: DelayedKeys;
  /** When each key came: in the order of coming. */
  readonly #waiting = new Map<string, number>();
  /** When each key was taken. */
  readonly #working = new Map<string, number>();
  /** Keys that were added while they are worked on. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #workers = new Set<Waiting>();
  readonly #idle = new Set<() => void>();
  #isShutDown = false;

  constructor(o: WorkQueueOptions = {}) {
    this.#o = o;
    this.#now = o.now ?? (() => performance.now());
    const { perSecond, burst } = o.rate ?? RATE;
    this.#rate = new RateLimit(perSecond, burst, this.#now);
    this.#delayed = new DelayedKeys((key) => this.add(key), this.#now);
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Seconds for which each key has been worked on. */
  get unfinished(): readonly number[] {
    const now = this.#now();
    return [...this.#working.values()].map((since) => (now - since) / 1000);
  }

  /** A key that waits already is not added again; one that is being worked on comes again afterwards. */
  add(key: string): void {
    if (this.#isShutDown || this.#waiting.has(key) || this.#again.has(key)) return;
    this.#o.observer?.added();
    if (this.#working.has(key)) this.#again.add(key);
    else this.#enqueue(key);
  }

  /** The sooner of two times counts. */
  addAfter(key: string, ms: number): void {
    if (this.#isShutDown) return;
    if (ms <= 0) this.add(key);
    else this.#delayed.add(key, ms);
  }

  /** Adds a key that failed, after its time. */
  addRateLimited(key: string): void {
    if (this.#isShutDown) return;
    const { leastMs, mostMs } = this.#o.retry ?? RETRY;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#o.observer?.retried();
    const ownMs = Math.min(mostMs, leastMs * 2 ** Math.min(failures, 60));
    this.addAfter(key, Math.max(ownMs, this.#rate.reserve()));
  }

  /** The key has failed no more: its next failure is the first one. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Failures of a key in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * The next key. It is with the caller until `done`.
   *
   * @returns undefined when the queue was shut down and is empty, or when `signal` fires.
   */
  get(signal?: AbortSignal): Promise<string | undefined> {
    if (signal?.aborted === true) return Promise.resolve(undefined);
    const first = this.#waiting.keys().next();
    if (first.done !== true) return Promise.resolve(this.#take(first.value));
    if (this.#isShutDown && this.#working.size === 0) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => give(undefined);
      const give: Waiting = (key) => {
        signal?.removeEventListener('abort', leave);
        this.#workers.delete(give);
        resolve(key);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#workers.add(give);
    });
  }

  /** The worker leaves the key alone. */
  done(key: string): void {
    const since = this.#working.get(key);
    if (since === undefined) return;
    this.#working.delete(key);
    this.#o.observer?.done((this.#now() - since) / 1000);
    if (this.#again.delete(key)) this.#enqueue(key);
    if (this.#isShutDown) this.#endWhenEmpty();
  }

  /** Takes no more keys, and forgets those that are delayed. What waits is still given to workers. */
  shutDown(): void {
    this.#isShutDown = true;
    this.#delayed.clear();
    this.#endWhenEmpty();
  }

  /** Resolves when the queue was shut down and all its keys are done. */
  drained(): Promise<void> {
    if (this.#isShutDown && this.#isEmpty) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  get #isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#working.size === 0;
  }

  #endWhenEmpty(): void {
    if (!this.#isEmpty) return;
    for (const give of [...this.#workers]) give(undefined);
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  #enqueue(key: string): void {
    this.#waiting.set(key, this.#now());
    const [worker] = this.#workers;
    if (worker === undefined) this.#o.observer?.depth(this.depth);
    else worker(this.#take(key));
  }

  #take(key: string): string {
    const now = this.#now();
    this.#o.observer?.taken((now - (this.#waiting.get(key) ?? now)) / 1000);
    this.#waiting.delete(key);
    this.#working.set(key, now);
    this.#o.observer?.depth(this.depth);
    return key;
  }
}
