import type { IncomingMessage } from 'node:http';
import type { ApiObject } from '../../services/machinery/meta/object.js';

export interface WatchedEvent {
  readonly type: string;
  readonly object: ApiObject;
}

const NEXT_MS = 10_000;

/** Reads the events of a watch, one JSON document a line, in their order. One reader at a time. */
export class WatchReader implements AsyncIterable<WatchedEvent> {
  readonly #res: IncomingMessage;
  readonly #events: WatchedEvent[] = [];
  #rest = '';
  #ended = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(res: IncomingMessage) {
    this.#res = res;
    res.setEncoding('utf8');
    res.on('data', (text: string) => this.#take(text));
    res.once('error', (err) => this.#end(err));
    res.once('end', () => this.#end());
  }

  /** The next event; undefined at the end of the stream. Rejects when the wire was cut, or nothing came in time. */
  async next(timeoutMs = NEXT_MS): Promise<WatchedEvent | undefined> {
    if (this.#events.length === 0 && !this.#ended) await this.#more(timeoutMs);
    const event = this.#events.shift();
    if (event === undefined && this.#error !== undefined) throw this.#error;
    return event;
  }

  /** The next `count` events. Rejects when the stream ends before. */
  async take(count: number, timeoutMs = NEXT_MS): Promise<WatchedEvent[]> {
    const taken: WatchedEvent[] = [];
    while (taken.length < count) {
      const event = await this.next(timeoutMs);
      if (event === undefined) throw new Error(`The watch ended after ${taken.length} of ${count} events`);
      taken.push(event);
    }
    return taken;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchedEvent> {
    for (let event = await this.next(); event !== undefined; event = await this.next()) yield event;
  }

  close(): void {
    this.#res.destroy();
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#events.push(JSON.parse(line) as WatchedEvent);
    this.#wake();
  }

  #end(err?: Error): void {
    this.#ended = true;
    this.#error ??= err;
    this.#wake();
  }

  #more(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`No event in ${timeoutMs} ms`)), timeoutMs);
      this.#wake = () => {
        if (this.#events.length === 0 && !this.#ended) return;
        clearTimeout(limit);
        resolve();
      };
    });
  }
}
