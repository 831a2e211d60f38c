import {
  StoreError,
  type KeyValueStore,
  type StoreEvent,
  type StoreWatch,
  type WatchHandler,
  type WatchOptions,
} from '../store.js';
import { inParallel, openValue, type Opened, type TransformerOf } from './opening.js';

/**
 * A watch whose values are transformed. What can be told at once is told at once. Behind a batch whose values have to wait
 * everything else waits, too, in its order; the store is told to pause meanwhile.
 */
export class TransformedWatch implements StoreWatch {
  readonly #watch: StoreWatch;
  readonly #handler: WatchHandler;
  /** What is to be told, in order, once the batch before it was. */
  readonly #queue: (() => void)[] = [];
  #waiting = false;
  #paused = false;
  #closed = false;

  constructor(
    store: Pick<KeyValueStore, 'watch'>,
    transformerOf: TransformerOf,
    o: WatchOptions,
    handler: WatchHandler,
  ) {
    this.#handler = handler;
    this.#watch = store.watch(o, {
      events: (batch) => {
        if (this.#waiting) this.#queue.push(() => this.#take(transformerOf, batch));
        else this.#take(transformerOf, batch);
      },
      progress: (revision) => this.#inOrder(() => handler.progress?.(revision)),
      connected: (up) => handler.connected?.(up),
      ended: (error) => this.#inOrder(() => this.#end(error)),
    });
  }

  requestProgress(): void {
    this.#watch.requestProgress();
  }

  pause(): void {
    this.#paused = true;
    this.#watch.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#goOn();
  }

  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
    this.#watch.close();
  }

  #take(transformerOf: TransformerOf, batch: readonly StoreEvent[]): void {
    const opened = inParallel(batch, (event) => openEvent(transformerOf, event));
    if (!(opened instanceof Promise)) {
      this.#handler.events(opened);
      return;
    }
    this.#waiting = true;
    this.#watch.pause();
    opened.then(
      (events) => {
        this.#waiting = false;
        this.#queue.unshift(() => this.#handler.events(events));
        this.#goOn();
      },
      (err: unknown) => this.#fail(err),
    );
  }

  #inOrder(tell: () => void): void {
    if (this.#waiting || this.#queue.length > 0) this.#queue.push(tell);
    else tell();
  }

  #goOn(): void {
    try {
      while (!this.#closed && !this.#waiting && !this.#paused) {
        const tell = this.#queue.shift();
        if (tell === undefined) {
          this.#watch.resume();
          return;
        }
        tell();
      }
    } catch (err) {
      this.#fail(err);
    }
  }

  #fail(err: unknown): void {
    if (this.#closed) return;
    this.#watch.close();
    this.#end(new StoreError('corrupt', 'A watch ended because its handler failed', { cause: err }));
  }

  #end(error: StoreError): void {
    if (this.#closed) return;
    this.close();
    this.#handler.ended(error);
  }
}

function openEvent(transformerOf: TransformerOf, event: StoreEvent): StoreEvent | Promise<StoreEvent> {
  const transformer = transformerOf(event.key);
  if (transformer === undefined) return event;
  const { key, value, previous } = event;
  if (transformer.asIs(value) && (previous === undefined || transformer.asIs(previous))) return event;
  const now = event.type === 'put' ? openValue(transformer, key, value) : { value };
  const before = previous === undefined ? undefined : openValue(transformer, key, previous);
  if (now instanceof Promise || before instanceof Promise) {
    return Promise.all([now, before]).then(([n, b]) => merged(event, n, b));
  }
  return merged(event, now, before);
}

/** An event is unreadable when one of its values is. */
function merged(event: StoreEvent, now: Opened, before: Opened | undefined): StoreEvent {
  const unreadable = now.unreadable ?? before?.unreadable;
  return { ...event, ...now, previous: before?.value, ...(unreadable === undefined ? {} : { unreadable }) };
}
