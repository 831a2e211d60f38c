import { StatusError } from '../../machinery/meta/status.js';
import { unlessAborted } from '../../client/deadline/deadline.js';
import { isStoreError, type KeyValueStore, type Revision } from '../../storage/store.js';
import type { Asker } from '../http/turns.js';
import type { Feed } from './feed.js';

/** Longest that a consistent read waits for the feed. */
const FRESH_WITHIN_MS = 3_000;
/** How often progress is asked for while a reader waits: revisions that others wrote bring no event. */
const PROGRESS_EVERY_MS = 100;

/** A question that takes longer may outlast its asker. */
const SOON_MS = 100;

/** A question that several readers share. */
interface Question {
  /**
   * True at its end, false when that does not come within `SOON_MS`. @throws what `end` throws, when it comes in time
   */
  readonly soon: Promise<boolean>;
  readonly end: Promise<void>;
}

function question(end: Promise<void>): Question {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), SOON_MS)));
  const over = end.then(() => true).finally(() => clearTimeout(timer));
  return { soon: Promise.race([over, late]), end };
}

/**
 * Lets a read through when the cache is as new as the store was when the read arrived (design, decision 7).
 *
 * One question to the store is under way at a time. A read that arrives meanwhile cannot use it (the answer may be
 * older than the read), so it shares the next one with all readers that arrive in the meantime.
 */
export class ConsistentReadGate {
  readonly #store: KeyValueStore;
  readonly #feed: Feed;
  #asking = false;
  /** Used again by each question until it fires: making one costs more than a cached read. */
  #tooLate = new AbortController();
  #current: Promise<Revision> | undefined;
  #next: Question | undefined;
  #polling: NodeJS.Timeout | undefined;
  #waiting = 0;
  #timeouts = 0;

  constructor(store: KeyValueStore, feed: Feed) {
    this.#store = store;
    this.#feed = feed;
  }

  /** Questions that failed so far; each may have had several readers. */
  get timeouts(): number {
    return this.#timeouts;
  }

  /**
   * The question is shared: a reader that leaves does not end it. It is bounded in time.
   *
   * @param asker Its signal is asked for only when it takes long: most questions are answered before it could be made.
   * @throws {StatusError} Timeout (504) when the feed does not get there within 3 s.
   * @throws `asker.signal.reason` when the asker has left
   */
  fresh(asker: Asker): Promise<void> {
    const { soon, end } = this.#question();
    return soon.then((over) => (over ? undefined : unlessAborted(end, asker.signal)));
  }

  #question(): Question {
    if (this.#next !== undefined) return this.#next;
    if (!this.#asking) return question(this.#ask());
    return (this.#next = question(this.#afterThis()));
  }

  /**
   * Waits until the feed has reached `revision`, for at most `timeoutMs`; false when it has not.
   *
   * @throws `signal.reason` if it fires first
   */
  async reached(revision: number, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#feed.revision >= revision) return true;
    this.#waiting++;
    this.#polling ??= setInterval(() => this.#feed.requestProgress(), PROGRESS_EVERY_MS);
    try {
      return await this.#feed.waitFor(revision, timeoutMs, signal);
    } finally {
      if (--this.#waiting === 0) {
        clearInterval(this.#polling);
        this.#polling = undefined;
      }
    }
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const startedAt = performance.now();
    const timer = setTimeout(() => this.#giveUp(), FRESH_WITHIN_MS);
    let head: Revision;
    try {
      this.#current = this.#store.head(this.#tooLate.signal);
      head = await this.#current;
    } catch (err) {
      throw this.#failed(err);
    } finally {
      clearTimeout(timer);
      this.#asking = false;
    }
    const left = Math.max(0, FRESH_WITHIN_MS - (performance.now() - startedAt));
    if (!(await this.reached(head, left))) throw this.#failed(undefined);
  }

  #failed(cause: unknown): StatusError {
    this.#timeouts += 1;
    return tooSlow(cause);
  }

  #giveUp(): void {
    this.#tooLate.abort(new Error('The store did not answer in time'));
    this.#tooLate = new AbortController();
  }

  async #afterThis(): Promise<void> {
    const startedAt = performance.now();
    await this.#current?.catch(() => undefined);
    this.#next = undefined; // readers from here on share the question after this one
    if (performance.now() - startedAt > FRESH_WITHIN_MS) throw this.#failed(undefined);
    await this.#ask();
  }
}

function tooSlow(cause: unknown): StatusError {
  const away = cause !== undefined && !isStoreError(cause, 'closed');
  const why = away ? 'the store did not answer in time' : 'the cache did not catch up with the store in time';
  return new StatusError('Timeout', `Timeout: consistent read was not possible: ${why}`, {
    cause,
    details: { retryAfterSeconds: 1 },
  });
}
