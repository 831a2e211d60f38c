import type { Writable } from 'node:stream';
import type { Sink } from './backend.js';

/** Writes lines to standard output, as fast as they are read. */
export class StandardOutput implements Sink {
  readonly name = 'log';
  readonly #stream: Writable;
  readonly #onError = (): void => undefined; // each write is told of its own failure

  constructor(stream: Writable = process.stdout) {
    this.#stream = stream;
    stream.on('error', this.#onError);
  }

  write(events: readonly string[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#stream.write(`${events.join('\n')}\n`, (err) => {
        signal.removeEventListener('abort', onAbort);
        if (err) reject(err);
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#stream.off('error', this.#onError);
    return Promise.resolve();
  }
}
