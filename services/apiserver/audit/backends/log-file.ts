import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Sink } from './backend.js';
import { freeRotatedName, tidy, type RotationRules } from './rotation.js';

export interface LogFileOptions extends RotationRules {
  readonly path: string;
  /** Size that the file does not outgrow, unless by a single event; 0: it grows for ever. */
  readonly maxBytes: number;
  readonly nowMs: () => number;
  readonly log: { warn(message: string, keys?: object): void };
}

/** So much at a stretch: a batch of large events is not copied as a whole. */
const WRITE_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * A file of JSON lines that is rotated. An event counts as written when the system has it: it outlives this process,
 * however that ends, but not the machine.
 */
export class LogFile implements Sink {
  readonly name = 'log';
  readonly #o: LogFileOptions;
  #file: FileHandle | undefined;
  #bytes = 0;
  /** The file ends in the middle of a line: a process was stopped while writing, or the disk was full. */
  #isTorn = false;
  #tidying: Promise<void> = Promise.resolve();

  private constructor(o: LogFileOptions) {
    this.#o = o;
  }

  /** @throws {Error} In one line, when the file cannot be written. */
  static async open(o: LogFileOptions): Promise<LogFile> {
    const made = new LogFile(o);
    try {
      await made.#open();
    } catch (err) {
      throw new Error(`Cannot write the audit log ${o.path}: ${(err as Error).message}`, { cause: err });
    }
    made.#tidy();
    return made;
  }

  async write(events: readonly string[]): Promise<void> {
    for (const lines of this.#stretches(events)) {
      await this.#makeRoom(lines.length);
      await this.#append(lines);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    await this.#tidying;
  }

  *#stretches(events: readonly string[]): Generator<Buffer> {
    const most = this.#o.maxBytes === 0 ? WRITE_BYTES : Math.min(WRITE_BYTES, this.#o.maxBytes);
    let text = '';
    let bytes = 0;
    for (const event of events) {
      const more = Buffer.byteLength(event) + 1;
      if (text !== '' && bytes + more > most) {
        yield Buffer.from(text);
        [text, bytes] = ['', 0];
      }
      text += `${event}\n`;
      bytes += more;
    }
    if (text !== '') yield Buffer.from(text);
  }

  /** A write that fails is tried once more, with the file opened anew, from where it stopped. */
  async #append(lines: Buffer): Promise<void> {
    const bytes = this.#isTorn ? Buffer.concat([Buffer.of(LINE_FEED), lines]) : lines;
    let at = 0;
    for (let failures = 0; at < bytes.length;) {
      try {
        const file = this.#file ?? (await this.#open());
        const { bytesWritten } = await file.write(bytes, at);
        if (bytesWritten === 0) throw new Error('Nothing was written');
        at += bytesWritten;
        this.#bytes += bytesWritten;
      } catch (err) {
        if (at > 0) this.#isTorn = bytes[at - 1] !== LINE_FEED;
        await this.#forget();
        if (++failures === 2) throw err;
      }
    }
    this.#isTorn = false;
  }

  async #open(): Promise<FileHandle> {
    const { path } = this.#o;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'a+', 0o600);
    this.#file = file;
    this.#bytes = (await file.stat()).size;
    const last = Buffer.alloc(1);
    if (this.#bytes > 0) await file.read(last, 0, 1, this.#bytes - 1);
    this.#isTorn ||= this.#bytes > 0 && last[0] !== LINE_FEED;
    return file;
  }

  async #forget(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { path, maxBytes, nowMs, log } = this.#o;
    if (maxBytes === 0 || this.#bytes === 0 || this.#bytes + bytes <= maxBytes) return;
    try {
      await rename(path, await freeRotatedName(path, nowMs()));
    } catch (err) {
      // Another process has moved it away: as good as rotated.
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.warn('The audit log cannot be rotated and grows on', { path, err }); // better than no events
        return;
      }
    }
    await this.#forget();
    this.#isTorn = false;
    this.#bytes = 0;
    this.#tidy();
  }

  /** Beside the writing, one after the other. */
  #tidy(): void {
    const { path, log, nowMs } = this.#o;
    this.#tidying = this.#tidying
      .then(() => tidy(path, this.#o, nowMs()))
      .catch((err: unknown) => log.warn('Old audit logs cannot be looked after', { path, err }));
  }
}
