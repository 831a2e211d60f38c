import { setTimeout as pause } from 'node:timers/promises';
import {
  LeftAlone,
  openBreaker,
  type Breaker,
  type BreakerObserver,
  type BreakerTimes,
} from '../../machinery/breaker/breaker.js';
import type { Deadline } from '../deadline/deadline.js';
import { deadline } from '../deadline/deadline.js';
import type { RemoteAnswer, RemoteFailure, RemoteService } from './remote-service.js';
import { RemoteError } from './remote-service.js';

/** How a question ended: an answer below 500, one of 500 and more, a failure, or the asker left. */
export type Outcome = 'answered' | 'erred' | RemoteFailure | 'left';

export interface GuardOptions {
  /** Names the service in errors, e.g. `authorization webhook`. */
  readonly name: string;
  /** Longest time of a question with all its repetitions and the pauses between them. */
  readonly totalMs: number;
  /** Most times that a question is sent. @default 5 */
  readonly attempts?: number;
  /** The pause before the first repetition, doubled for each further one, with jitter. @default 500 */
  readonly pauseMs?: number;
  readonly breaker?: Partial<BreakerTimes>;
  readonly breakerObserver?: BreakerObserver | undefined;
  readonly observe?: (question: { readonly outcome: Outcome; readonly seconds: number }) => void;
}

/** When a service is left alone. */
const BREAKER: BreakerTimes = { volume: 10, failurePercent: 50, windowMs: 10_000, restMs: 10_000 };
const ATTEMPTS = 5;
const PAUSE_MS = 500;
const TOO_MANY_REQUESTS = 429;

/**
 * Asks a service again when the connection failed, or when it answers with 429 or 500 and more, and leaves it alone for a
 * while when that happens too often: then questions fail at once. The last answer is given back, whatever it is.
 */
export const guarded = (service: RemoteService, o: GuardOptions): RemoteService => new Guarded(service, o);

/** An answer that says that the service is not well. */
class Unwell extends Error {
  readonly answer: RemoteAnswer;

  constructor(answer: RemoteAnswer) {
    super();
    this.answer = answer;
  }
}

class Guarded implements RemoteService {
  readonly #service: RemoteService;
  readonly #o: GuardOptions;
  #breaker: Promise<Breaker> | undefined;

  constructor(service: RemoteService, o: GuardOptions) {
    this.#service = service;
    this.#o = o;
  }

  async post(body: object, signal: AbortSignal): Promise<RemoteAnswer> {
    const { totalMs, name, observe } = this.#o;
    const started = performance.now();
    const late = (): Error => new RemoteError(`${name}: no answer within ${totalMs} ms`, { failure: 'timeout' });
    const limit = deadline(totalMs, signal, late);
    let outcome: Outcome = 'left';
    try {
      const answer = await this.#ask(body, limit, started + totalMs);
      outcome = answer.status >= 500 ? 'erred' : 'answered';
      return answer;
    } catch (err) {
      if (err instanceof RemoteError) outcome = err.failure;
      throw err;
    } finally {
      limit.end();
      observe?.({ outcome, seconds: (performance.now() - started) / 1000 });
    }
  }

  close(): void {
    void this.#breaker?.then((breaker) => breaker.shutdown());
    this.#service.close();
  }

  async #ask(body: object, { signal }: Deadline, until: number): Promise<RemoteAnswer> {
    const breaker = await (this.#breaker ??= this.#makeBreaker());
    const { attempts = ATTEMPTS, pauseMs = PAUSE_MS } = this.#o;
    for (let attempt = 1; ; attempt++) {
      const end = await this.#once(breaker, body, signal);
      const wait = Math.max(jittered(pauseMs * 2 ** (attempt - 1)), end.retryAfterMs);
      if (!end.mayRepeat || attempt >= attempts || performance.now() + wait >= until) return end.settle();
      await pause(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async #once(breaker: Breaker, body: object, signal: AbortSignal): Promise<Attempt> {
    try {
      return answered(await breaker.fire(() => this.#post(body, signal)));
    } catch (err) {
      if (err instanceof Unwell) return answered(err.answer);
      return failed(err instanceof LeftAlone ? this.#leftAlone() : err);
    }
  }

  #leftAlone(): RemoteError {
    return new RemoteError(`${this.#o.name}: is not asked for a while, for it failed too often`, { failure: 'open' });
  }

  async #post(body: object, signal: AbortSignal): Promise<RemoteAnswer> {
    const answer = await this.#service.post(body, signal);
    if (answer.status >= 500) throw new Unwell(answer);
    return answer;
  }

  #makeBreaker(): Promise<Breaker> {
    return openBreaker({
      ...BREAKER,
      ...this.#o.breaker,
      // An asker who leaves says nothing about the service, except when the service is on trial: then nothing is proved.
      isFault: (err, onTrial) => err instanceof Unwell || err instanceof RemoteError || onTrial,
      observer: this.#o.breakerObserver,
    });
  }
}

/** How one attempt ended. */
interface Attempt {
  readonly mayRepeat: boolean;
  readonly retryAfterMs: number;
  readonly settle: () => RemoteAnswer;
}

const answered = (answer: RemoteAnswer): Attempt => ({
  mayRepeat: answer.status >= 500 || answer.status === TOO_MANY_REQUESTS,
  retryAfterMs: answer.retryAfterMs ?? 0,
  settle: () => answer,
});

const failed = (err: unknown): Attempt => ({
  mayRepeat: err instanceof RemoteError && err.failure === 'connection',
  retryAfterMs: 0,
  settle: () => {
    throw err;
  },
});

const jittered = (ms: number): number => ms / 2 + (Math.random() * ms) / 2;
