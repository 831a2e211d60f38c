import { statSync } from 'node:fs';
import type { Log } from '../log/log.js';
import { noteFiles } from './unusable-files.js';

const REREAD_EVERY_MS = 5_000;

/** How files are read again that have changed. */
export interface Rereading {
  /** Of log entries, e.g. `client authorities`. */
  readonly what: string;
  /** Reads the files and uses what is in them. While it throws, what was read before stays in use. */
  readonly read: () => void;
  readonly log: Pick<Log, 'warn'> & Partial<Pick<Log, 'info'>>;
}

/**
 * Notices that files have been replaced or written since this was made, or since the last notice. Make it before reading
 * the files: what changes between the two is noticed as well (`fs.watchFile` takes its first look some time later).
 */
export class FileChanges {
  readonly #files: readonly string[];
  #seen: string;

  constructor(files: readonly string[]) {
    this.#files = files;
    this.#seen = stateOf(files);
  }

  /** Whether any file differs from what it was at the last call. */
  noticed(): boolean {
    const now = stateOf(this.#files);
    if (now === this.#seen) return false;
    this.#seen = now;
    return true;
  }

  /** Reads the files again if they have changed. */
  reread(o: Rereading): void {
    if (this.noticed()) this.#reread(o);
  }

  /** The same every `everyMs`, by default 5 s. Keeps no process alive. @returns What ends it. */
  follow(o: Rereading, everyMs = REREAD_EVERY_MS): () => void {
    return this.watch(everyMs, () => this.#reread(o));
  }

  #reread({ what, read, log }: Rereading): void {
    const files = this.#files;
    try {
      read();
      noteFiles(what, false);
      log.info?.('Changed files are used', { what, files });
    } catch (err) {
      noteFiles(what, true);
      log.warn('Changed files cannot be used yet', { what, files, err });
    }
  }

  /** Looks every `intervalMs` and calls `onChange`, which reads the files. Keeps no process alive. @returns What ends it. */
  watch(intervalMs: number, onChange: () => void): () => void {
    const timer = setInterval(() => {
      if (this.noticed()) onChange();
    }, intervalMs);
    timer.unref();
    return () => clearInterval(timer);
  }
}

const stateOf = (files: readonly string[]): string => files.map(stateOfOne).join();

/** Links are followed. A file that is not there, or may not be looked at, has a state, too. */
function stateOfOne(file: string): string {
  try {
    const { dev, ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${dev}/${ino} ${size} ${ctimeNs}`;
  } catch (err) {
    return (err as NodeJS.ErrnoException).code ?? '';
  }
}
