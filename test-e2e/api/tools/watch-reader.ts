import type { WatchEvent } from './document.js';

/** How long a test waits for an event that must come. */
const EVENT_WITHIN_MS = 15_000;

/** Reads the events of one watch, in order. */
export class WatchReader {
  readonly code: number;
  /** `end`: the server finished the answer; `cut`: the connection broke first. */
  readonly ended: Promise<'end' | 'cut'>;
  readonly #stream: NodeJS.ReadableStream;
  readonly #destroy: () => void;
  readonly #events: WatchEvent[] = [];
  #rest = '';
  #over = false;
  #wake: () => void = () => undefined;

  constructor(code: number, stream: NodeJS.ReadableStream, destroy: () => void) {
    this.code = code;
    this.#stream = stream;
    this.#destroy = destroy;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#take(text));
    this.ended = new Promise((resolve) => {
      const end = (how: 'end' | 'cut') => (): void => {
        this.#over = true;
        this.#wake();
        resolve(how);
      };
      stream.on('end', end('end')).on('error', end('cut')).on('aborted', end('cut')).on('close', end('cut'));
    });
  }

  /** Events that have come and were not taken. */
  get waiting(): number {
    return this.#events.length;
  }

  /** undefined: the watch ended. @throws {Error} when nothing comes in time */
  async nextOrEnd(withinMs = EVENT_WITHIN_MS): Promise<WatchEvent | undefined> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined || this.#over) return event;
      await this.#change(deadline - Date.now());
    }
  }

  /** @throws {Error} when the watch ends, or nothing comes in time */
  async next(withinMs = EVENT_WITHIN_MS): Promise<WatchEvent> {
    const event = await this.nextOrEnd(withinMs);
    if (event === undefined) throw new Error('The watch ended before the event that was waited for');
    return event;
  }

  async take(count: number, withinMs = EVENT_WITHIN_MS): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = [];
    while (taken.length < count) taken.push(await this.next(withinMs));
    return taken;
  }

  /** Everything until the server ends the watch. */
  async rest(withinMs = EVENT_WITHIN_MS): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = [];
    for (let e = await this.nextOrEnd(withinMs); e !== undefined; e = await this.nextOrEnd(withinMs)) taken.push(e);
    return taken;
  }

  /** Stops reading: what the server sends fills the connection. */
  pause(): void {
    this.#stream.pause();
  }
  resume(): void {
    this.#stream.resume();
  }
  close(): void {
    this.#destroy();
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#events.push(JSON.parse(line) as WatchEvent);
    this.#wake();
  }

  #change(withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The event that was waited for did not come in time')), withinMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** What an event is about, in short: `ADDED a`. */
export const inShort = ({ type, object }: WatchEvent): string => `${type} ${object.metadata.name}`;
export const versionOf = ({ object }: WatchEvent): number => Number(object.metadata.resourceVersion);
