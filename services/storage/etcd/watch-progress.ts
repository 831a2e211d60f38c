import type { Revision } from '../store.js';

const REPEAT_MS = { leastMs: 100, mostMs: 1000 };
const CONFIRM_MS = 250;

export interface ProgressOptions {
  /**
   * Whether an answer to a manual request comes behind all events up to its revision. Old versions of etcd answer out of
   * turn: while the watch is still catching up, or past events that wait to be sent.
   */
  readonly trusted: boolean;
  /** Sends a request for progress. */
  readonly ask: () => void;
}

/**
 * Asks for progress until there is an answer that can be believed. etcd leaves a request unanswered while the watch is
 * catching up, so it is repeated. An answer that cannot be trusted counts when events have come up to its revision, or
 * when a second one, a quarter of a second later, finds that none has come at all: longer than etcd takes from one
 * round of catching up to the next.
 */
export class ProgressRequests {
  readonly #o: ProgressOptions;
  #wanted = false;
  #up = false;
  #candidate: Revision | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(o: ProgressOptions) {
    this.#o = o;
  }

  want(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    if (this.#up) this.#ask(REPEAT_MS.leastMs);
  }

  /** The stream takes requests. */
  up(): void {
    this.#up = true;
    if (this.#wanted) this.#ask(REPEAT_MS.leastMs);
  }

  /** The stream is gone; what was asked is asked again on the next. */
  down(): void {
    this.#up = false;
    this.#candidate = undefined;
    clearTimeout(this.#timer);
  }

  /** @returns whether progress up to `at`, which etcd answered, may be told now */
  answered(at: Revision): Revision | undefined {
    if (!this.#wanted) return undefined;
    if (this.#o.trusted) return this.#done(at);
    if (this.#candidate !== undefined) return this.#done(this.#candidate);
    this.#candidate = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(REPEAT_MS.leastMs), CONFIRM_MS);
    return undefined;
  }

  /** @returns whether progress up to `at`, which is delivered now, is what an answer has promised */
  delivered(at: Revision): Revision | undefined {
    if (this.#candidate === undefined) return undefined;
    if (at >= this.#candidate) return this.#done(at);
    this.#candidate = undefined; // there was more to come: the next answer is the first again
    return undefined;
  }

  /** Progress was told without being asked for. */
  satisfied(): void {
    if (this.#wanted) this.#done(undefined);
  }

  #ask(nextMs: number): void {
    clearTimeout(this.#timer);
    this.#o.ask();
    this.#timer = setTimeout(() => this.#ask(Math.min(nextMs * 2, REPEAT_MS.mostMs)), nextMs);
  }

  #done<T>(at: T): T {
    this.#wanted = false;
    this.#candidate = undefined;
    clearTimeout(this.#timer);
    return at;
  }
}
