import { done, type Work } from '../../machinery/work/work.js';
import type { RequestState } from '../request/request.js';

/** The request that an answer is for. Its signal is made when it is read: an answer without a pause needs none. */
export type Asker = Pick<RequestState, 'signal'>;

/** All long work together has this much of each turn of the event loop: others are waiting for their answers. */
const TURN_MS = 8;

/**
 * Shares out the turns of the event loop among the requests that take long to answer: one goes on in each turn, the one
 * that has waited longest. So a short request waits for one stint of one of them, however many there are.
 */
export class Turns {
  readonly #nowMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #spentMs = 0;
  /** Work is under way. */
  #taken = false;
  #scheduled = false;

  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Whether long work may begin at once. */
  get free(): boolean {
    return !this.#taken && this.#spentMs < TURN_MS && this.#waiting.length === 0;
  }

  /** Begins a stint. Work that may be short waits only where others have used up this turn. */
  async begin(asker: Asker): Promise<Stint> {
    const stint = new Stint(this, asker, this.#nowMs);
    if (this.free) {
      this.#taken = true;
      this.#schedule();
      return stint;
    }
    try {
      await stint.wait();
    } catch (err) {
      stint.end();
      throw err;
    }
    return stint;
  }

  /** Does something that cannot be cut in a turn that has room for it. */
  async run<T>(asker: Asker, work: () => T): Promise<T> {
    const stint = await this.begin(asker);
    try {
      return work();
    } finally {
      stint.end();
    }
  }

  /**
   * Resolves in a turn in which no other long work is done: for a part of some that cannot be cut. Before one part of
   * what is heavy and another.
   */
  async alone(): Promise<void> {
    await this.next();
    this.charge(TURN_MS);
  }

  /** Does work part by part, and goes on in a turn of its own whenever it has taken long enough. */
  async through<T>(work: Work<T>): Promise<T> {
    let startedMs = this.#nowMs();
    for (;;) {
      const part = work.next();
      if (part.done === true) return part.value;
      if (this.#nowMs() - startedMs < TURN_MS) continue;
      await this.alone();
      startedMs = this.#nowMs();
    }
  }

  /**
   * Does work part by part in stints: from the first part on it shares the turns with others.
   *
   * @throws `asker.signal.reason` when the client has gone
   */
  async inStints<T>(work: Work<T>, asker: Asker): Promise<T> {
    const stint = await this.begin(asker);
    try {
      for (;;) {
        const part = work.next();
        if (part.done === true) return part.value;
        if (stint.over) await stint.pause();
      }
    } finally {
      stint.end();
    }
  }

  /** Takes the end of a stint, and what was spent of this turn. */
  charge(ms: number): void {
    this.#taken = false;
    this.#spentMs += ms;
    this.#schedule();
  }

  /** Resolves in a turn of its own. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#spentMs = 0;
      const first = this.#waiting.shift();
      this.#taken = first !== undefined;
      if (this.#waiting.length > 0) this.#schedule();
      first?.();
    });
  }
}

/** The work of one request without a pause. */
export class Stint {
  readonly #turns: Turns;
  readonly #asker: Asker;
  readonly #nowMs: () => number;
  #startedMs: number;

  constructor(turns: Turns, asker: Asker, nowMs: () => number) {
    this.#turns = turns;
    this.#asker = asker;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  /** Whether it is time for a pause. */
  get over(): boolean {
    return this.#nowMs() - this.#startedMs >= TURN_MS;
  }

  /** Lets others have their turn. @throws `asker.signal.reason` when the client has gone */
  async pause(): Promise<void> {
    this.end();
    await this.wait();
  }

  /** Begins, or goes on, when its turn has come. @throws `asker.signal.reason` */
  async wait(): Promise<void> {
    await this.#turns.next();
    this.#startedMs = this.#nowMs();
    this.#asker.signal.throwIfAborted();
  }

  /** Is the end of the work, or of this part of it. */
  end(): void {
    this.#turns.charge(this.#nowMs() - this.#startedMs);
  }
}

/** Of this process: it has one event loop. */
export const turns = new Turns();

/**
 * A body or a stored object from so many bytes on is heavy: a write goes over it a dozen times, and does so in as many
 * turns. All of it together takes some 3 ms for so much; what is smaller is done with in one turn, without any wait.
 */
const HEAVY_BYTES = 64 * 1024;

/** Notes that a request has to do with something of this size. */
export function weigh(state: Pick<RequestState, 'heavy'>, bytes: number): void {
  if (bytes >= HEAVY_BYTES) state.heavy = true;
}

/** Does work in turns where the request is heavy, else at once: always await. */
export const worked = <T>(state: Pick<RequestState, 'heavy'>, work: Work<T>): T | Promise<T> =>
  state.heavy === true ? turns.through(work) : done(work);
