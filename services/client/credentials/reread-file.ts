import { stat } from 'node:fs/promises';
import { readBounded, readBoundedLater } from '../kubeconfig/bounded-file.js';

/** How often a file is looked at again. */
const LOOK_EVERY_MS = 10_000;

export interface RereadOptions {
  /** The longest file, in bytes. */
  readonly maxBytes: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** A file that others replace while we run, e.g. with the next token. Looked at every ten seconds, read when it changed. */
export class RereadFile {
  readonly #path: string;
  readonly #o: RereadOptions;
  readonly #now: () => number;
  #text: string;
  /** Of the file that was read last; the first look may read it once more than needed. */
  #stamp = '';
  #lookedAt: number;
  #looking: Promise<void> | undefined;

  /** Reads it. @throws {ClientConfigError} When it cannot be read. */
  constructor(path: string, o: RereadOptions) {
    this.#path = path;
    this.#o = o;
    this.#now = o.now ?? ((): number => performance.now());
    this.#text = readBounded(path, o.maxBytes).toString('utf8');
    this.#lookedAt = this.#now();
  }

  /** The content that was read last. */
  get text(): string {
    return this.#text;
  }

  /** Its present text, at most ten seconds old. @throws {ClientConfigError} The last text stays. */
  async current(): Promise<string> {
    if (this.#looking === undefined && this.#now() - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#looking = this.#look().finally(() => (this.#looking = undefined));
    }
    await this.#looking;
    return this.#text;
  }

  /** Looks at it when it is asked for next, however soon that is. */
  expire(): void {
    this.#lookedAt = -Infinity;
  }

  async #look(): Promise<void> {
    this.#lookedAt = this.#now();
    const stamp = await stampOf(this.#path);
    if (stamp !== '' && stamp === this.#stamp) return;
    this.#text = (await readBoundedLater(this.#path, this.#o.maxBytes)).toString('utf8');
    this.#stamp = stamp; // of before the reading: a change in between is seen at the next look
  }
}

/** Changes whenever the file is replaced or written to; empty when that cannot be told. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeNs, size, ino } = await stat(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    return ''; // reading it says why
  }
}
