import {
  StoreError,
  revision,
  type Revision,
  type StoreEvent,
  type StoreWatch,
  type WatchHandler,
  type WatchOptions,
} from '../store.js';
import type { Change } from './records.js';
import type { Reader } from './reader.js';

/** Most events that are read from history before other work gets its turn. */
const SLICE_CHANGES = 500;
const SLICE_BYTES = 1024 * 1024;

export interface WatchersOptions {
  readonly reader: Reader;
  /** The newest revision that may be delivered. */
  readonly head: () => Revision;
  readonly compacted: () => Revision;
  /** Called when a handler throws at the end of its watch. */
  readonly handlerFailed: (err: unknown) => void;
}

/**
 * All watches of the store. A watch that has seen everything up to the head is live: it is handed each batch as it is
 * released. Any other (new, or resumed after a pause) reads history in slices from `next` on until it has reached the
 * head, and is live from that moment; as both happen in one thread there is nothing in between to lose or to repeat.
 * A paused watch keeps nothing but its place.
 */
export class Watchers {
  readonly #o: WatchersOptions;
  readonly #watches = new Set<Watch>();

  constructor(o: WatchersOptions) {
    this.#o = o;
  }

  open(o: WatchOptions, handler: WatchHandler): StoreWatch {
    const watch = new Watch(o, handler, this.#o, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return watch;
  }

  /** Hands a released batch to the live watches. The head has moved on to it already. */
  deliver(changes: readonly Change[]): void {
    for (const watch of this.#watches) watch.deliver(changes);
  }

  /** Ends every watch, with `error` or, without one, silently. */
  end(error?: StoreError): void {
    for (const watch of this.#watches) {
      if (error === undefined) watch.close();
      else watch.end(error);
    }
  }
}

class Watch implements StoreWatch {
  readonly #prefix: string;
  readonly #withPrevious: boolean;
  readonly #handler: WatchHandler;
  readonly #o: WatchersOptions;
  readonly #left: () => void;
  /** Everything below has been delivered. */
  #next: Revision;
  #paused = false;
  #closed = false;
  #progressAsked = false;
  #turn: NodeJS.Immediate | undefined;

  constructor(o: WatchOptions, handler: WatchHandler, shared: WatchersOptions, left: () => void) {
    this.#prefix = o.prefix;
    this.#withPrevious = o.withPrevious ?? false;
    this.#handler = handler;
    this.#o = shared;
    this.#left = left;
    this.#next = o.from;
    if (!this.#caughtUp()) this.#takeTurn();
  }

  /** Delivers to a watch that has seen everything before `changes`; others read them from history. */
  deliver(changes: readonly Change[]): void {
    const first = changes[0];
    if (this.#closed || this.#paused || first === undefined) return;
    if (this.#next < first.revision) return;
    this.#pass(changes);
    this.#next = revision(Math.max(this.#next, this.#o.head() + 1));
  }

  requestProgress(): void {
    if (this.#closed) return;
    this.#progressAsked = true;
    this.#takeTurn();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#takeTurn();
  }

  close(): void {
    this.#closed = true;
    clearImmediate(this.#turn);
    this.#left();
  }

  end(error: StoreError): void {
    if (this.#closed) return;
    this.close();
    try {
      this.#handler.ended(error);
    } catch (err) {
      this.#o.handlerFailed(err);
    }
  }

  #caughtUp(): boolean {
    return this.#next > this.#o.head();
  }

  /** The changes of the compacted revision itself are incomplete: what they replaced is gone. */
  #isCompacted(): boolean {
    return this.#next <= this.#o.compacted();
  }

  #takeTurn(): void {
    if (this.#closed || this.#paused) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#catchUp();
    });
  }

  /** One slice of history, and progress when that was the last. */
  #catchUp(): void {
    if (this.#closed || this.#paused) return;
    if (this.#isCompacted()) {
      const at = this.#o.compacted();
      const message = `Cannot watch from revision ${this.#next}: history begins at ${at}`;
      this.end(new StoreError('compacted', message, { compactRevision: at }));
      return;
    }
    if (!this.#caughtUp()) this.#slice();
    if (this.#stopped()) return;
    if (!this.#caughtUp()) this.#takeTurn();
    else if (this.#progressAsked) this.#tellProgress();
  }

  /** A handler may have closed or paused its watch meanwhile. */
  #stopped(): boolean {
    return this.#closed || this.#paused;
  }

  #slice(): void {
    const head = this.#o.head();
    const slice: Change[] = [];
    let bytes = 0;
    try {
      for (const change of this.#o.reader.changes(this.#next, head)) {
        const full = slice.length >= SLICE_CHANGES || bytes >= SLICE_BYTES;
        if (full && change.revision !== slice.at(-1)?.revision) break;
        slice.push(change);
        bytes += change.value.length;
      }
    } catch (err) {
      this.end(asStoreError(err, 'Cannot read the history for a watch'));
      return;
    }
    const last = slice.at(-1);
    const reached = slice.length < SLICE_CHANGES && bytes < SLICE_BYTES ? head : (last?.revision ?? head);
    this.#pass(slice);
    this.#next = revision(reached + 1);
  }

  #pass(changes: readonly Change[]): void {
    const events: StoreEvent[] = [];
    for (const c of changes) {
      if (c.revision >= this.#next && c.key.startsWith(this.#prefix)) events.push(this.#toEvent(c));
    }
    if (events.length === 0) return;
    this.#call(() => {
      this.#handler.events(events);
    });
  }

  #tellProgress(): void {
    this.#progressAsked = false;
    const at = this.#o.head();
    this.#call(() => this.#handler.progress?.(at));
  }

  #call(handler: () => void): void {
    try {
      handler();
    } catch (err) {
      this.end(new StoreError('corrupt', 'A watch ended because its handler failed', { cause: err }));
    }
  }

  #toEvent(c: Change): StoreEvent {
    const previous = this.#withPrevious ? this.#o.reader.previousOf(c) : undefined;
    return {
      type: c.type,
      key: c.key,
      value: c.value,
      createRevision: c.createRevision,
      modRevision: c.revision,
      previous,
    };
  }
}

const asStoreError = (err: unknown, what: string): StoreError =>
  err instanceof StoreError ? err : new StoreError('corrupt', what, { cause: err });
