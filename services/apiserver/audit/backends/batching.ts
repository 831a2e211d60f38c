import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditBackend, OnLost, Sink } from './backend.js';
import { Throttle } from './throttle.js';

export interface BatchOptions {
  /** Most events that wait; the next one is lost. */
  readonly bufferSize: number;
  /** Most events in one write. */
  readonly maxEvents: number;
  /** Longest that an event waits for others. */
  readonly maxWaitMs: number;
  readonly throttle?: { readonly perSecond: number; readonly burst: number };
  /** Longest that `close` waits for what is left. */
  readonly closeMs: number;
  readonly onLost: OnLost;
}

/** Events are small, but for those with bodies: memory has a bound besides their number. In characters. */
const MOST_BUFFERED = 128 * 1024 * 1024;
/** One write holds no more, whatever the number of events: it is built at a stretch while others wait. In characters. */
const MOST_AT_ONCE = 8 * 1024 * 1024;

/**
 * Requests wait for nothing: their events are gathered and written together, in their order, one write at a time. When
 * more come than go, the newest are lost and counted.
 */
export class Batching implements AuditBackend {
  readonly #sink: Sink;
  readonly #o: BatchOptions;
  readonly #throttle: Throttle | undefined;
  readonly #over = new AbortController();
  #waiting: string[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #state: 'open' | 'closing' | 'closed' = 'open';

  constructor(sink: Sink, o: BatchOptions) {
    this.#sink = sink;
    this.#o = o;
    this.#throttle = o.throttle === undefined ? undefined : new Throttle(o.throttle);
  }

  emit(event: string): undefined {
    if (this.#state === 'closed') {
      this.#lost(1, new Error('The server is stopping'));
    } else if (this.#waiting.length >= this.#o.bufferSize || this.#characters + event.length > MOST_BUFFERED) {
      this.#lost(1, new Error('Too many events wait already'));
    } else {
      this.#waiting.push(event);
      this.#characters += event.length;
      if (this.#waiting.length >= this.#o.maxEvents) this.#start();
      else this.#timer ??= setTimeout(() => this.#start(), this.#o.maxWaitMs);
    }
  }

  async close(): Promise<void> {
    this.#state = 'closing';
    const limit = setTimeout(() => this.#over.abort(new Error('The server is stopping')), this.#o.closeMs);
    this.#start();
    await this.#running;
    clearTimeout(limit);
    this.#state = 'closed';
    await this.#sink.close();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run();
  }

  /** Writes what waits when it was due, and goes on while there is enough for another write. */
  async #run(): Promise<void> {
    const { signal } = this.#over;
    do {
      await this.#pause();
      const events = this.#take();
      try {
        if (events.length > 0) await this.#sink.write(events, signal);
      } catch (err) {
        this.#lost(events.length, err);
      }
    } while (this.#waiting.length >= this.#o.maxEvents || (this.#state === 'closing' && this.#waiting.length > 0));
    this.#running = undefined;
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#start(), this.#o.maxWaitMs);
  }

  async #pause(): Promise<void> {
    const waitMs = this.#throttle?.delayMs() ?? 0;
    // Ends at once when time is over: what is left is handed over then, to be written or lost.
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }

  #take(): readonly string[] {
    let count = 0;
    let characters = 0;
    for (const event of this.#waiting) {
      if (count === this.#o.maxEvents || (count > 0 && characters + event.length > MOST_AT_ONCE)) break;
      count += 1;
      characters += event.length;
    }
    this.#characters -= characters;
    return this.#waiting.splice(0, count);
  }

  #lost(events: number, err: unknown): void {
    this.#o.onLost(this.#sink.name, events, err);
  }
}
