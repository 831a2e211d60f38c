import { RateLimit } from '../queue/rate-limit.js';
import type { RecordedEvent } from './event-recorder.js';

/** What is to be written for a recorded event: a new object, or a higher count of one that was written. */
export interface Correlated {
  readonly event: RecordedEvent;
  /** Equal for events that are counted in one object. */
  readonly key: string;
  readonly message: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Objects and events that are remembered. */
const MOST = 4_096;
/** More different messages than these in a window are combined. */
const SIMILAR = 10;
const WINDOW_MS = 600_000;
/** Of one object. */
const BURST = 25;
const PER_SECOND = 1 / 300;
const MOST_MESSAGE = 1_024;

interface Similar {
  messages: Set<string>;
  lastMs: number;
}

/** A map that forgets what was not asked for longest. */
class Recent<V> {
  readonly #map = new Map<string, V>();

  get(key: string, make: () => V): V {
    const value = this.#map.get(key) ?? make();
    this.#map.delete(key);
    this.#map.set(key, value);
    const [oldest] = this.#map.keys();
    if (this.#map.size > MOST && oldest !== undefined) this.#map.delete(oldest);
    return value;
  }
}

/**
 * Counts equal events, combines similar ones (all but the message is equal) once there are many, and drops what one object
 * has too many of. As other clients of this API do, with their numbers.
 */
export class EventCorrelator {
  readonly #now: () => number;
  readonly #date: () => number;
  readonly #similar = new Recent<Similar>();
  readonly #counts = new Recent<{ count: number; firstMs: number }>();
  readonly #limits = new Recent<RateLimit>();

  /** @param now Milliseconds that only rise. @param date Those of the calendar. */
  constructor(now: () => number = () => performance.now(), date: () => number = () => Date.now()) {
    this.#now = now;
    this.#date = date;
  }

  /** @returns undefined: the object has too many events. */
  correlate(event: RecordedEvent): Correlated | undefined {
    const { message, key } = this.#combined(event);
    const lastMs = this.#date();
    const seen = this.#counts.get(key, () => ({ count: 0, firstMs: lastMs }));
    seen.count++;
    if (this.#isFlooding(objectKey(event))) return undefined;
    return { event, key, message, lastMs, ...seen };
  }

  #combined(event: RecordedEvent): { message: string; key: string } {
    const group = JSON.stringify([objectKey(event), event.type, event.reason, event.action]);
    const message = event.message.slice(0, MOST_MESSAGE);
    const now = this.#now();
    const similar = this.#similar.get(group, () => ({ messages: new Set(), lastMs: now }));
    if (now - similar.lastMs > WINDOW_MS) similar.messages = new Set();
    similar.lastMs = now;
    if (similar.messages.size < SIMILAR) similar.messages.add(message);
    else if (!similar.messages.has(message)) {
      return { message: `(combined from similar events): ${message}`.slice(0, MOST_MESSAGE), key: group };
    }
    return { message, key: `${group}${message}` };
  }

  #isFlooding(object: string): boolean {
    const limit = this.#limits.get(object, () => new RateLimit(PER_SECOND, BURST, this.#now));
    return !limit.tryTake();
  }
}

const objectKey = ({ about }: RecordedEvent): string =>
  JSON.stringify([about.apiVersion, about.kind, about.metadata?.namespace, about.metadata?.name, about.metadata?.uid]);
