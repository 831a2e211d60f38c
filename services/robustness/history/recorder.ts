import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import { digestOf } from './body.js';
import type { Body, Line, Seen } from './lines.js';

/** Versions of which it is remembered that a line has their body. */
const REMEMBERED = 50_000;
/** Bytes that are written at once. */
const CHUNK_CHARACTERS = 256 * 1024;

/** Writes what happens as it happens, so that nothing is lost of a run that ends early. */
export class Recorder {
  readonly path: string;
  readonly #file: WriteStream;
  #failed: Error | undefined;
  #waiting: string[] = [];
  #length = 0;
  /** Two generations, so that no more than twice as many are kept. */
  #told = new Set<string>();
  #toldBefore = new Set<string>();
  readonly #began = performance.now();

  constructor(path: string) {
    this.path = path;
    this.#file = createWriteStream(path);
    this.#file.on('error', (err) => (this.#failed = err));
  }

  /** Milliseconds since the run began, to the microsecond. */
  now(): number {
    return Math.round((performance.now() - this.#began) * 1000) / 1000;
  }

  /** How an object is told of. The body goes with the first line that does. */
  seen(ns: string, name: string, rv: number, body: Body): Seen {
    const digest = digestOf(body);
    const key = `${ns}/${name} ${rv} ${digest}`;
    if (this.#told.has(key) || this.#toldBefore.has(key)) return [name, rv, digest];
    if (this.#told.size >= REMEMBERED) {
      this.#toldBefore = this.#told;
      this.#told = new Set();
    }
    this.#told.add(key);
    return [name, rv, digest, body];
  }

  write(line: Line): void {
    const text = `${JSON.stringify(line)}\n`;
    this.#waiting.push(text);
    this.#length += text.length;
    if (this.#length >= CHUNK_CHARACTERS) this.#flush();
  }

  /** @throws {Error} When the file could not be written. */
  async close(): Promise<void> {
    this.#flush();
    this.#file.end();
    if (this.#failed === undefined && !this.#file.writableFinished) await once(this.#file, 'finish');
    if (this.#failed !== undefined) throw this.#failed;
  }

  #flush(): void {
    this.#file.write(this.#waiting.join(''));
    this.#waiting = [];
    this.#length = 0;
  }
}
