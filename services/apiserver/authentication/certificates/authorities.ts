import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FileChanges } from '../../../machinery/files/file-changes.js';

export interface AuthoritiesLog {
  info(message: string, keys?: object): void;
  warn(message: string, keys?: object): void;
}

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/** The certificates of a bundle, text around them left out. @throws {Error} when there is none, or one that cannot be read */
export function parseBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0) throw new Error('holds no certificate');
  return blocks.map((block) => new X509Certificate(block));
}

/** The authorities of a file, which follow it: what a server trusts changes without a restart. */
export class Authorities {
  readonly #file: string;
  #anchors: readonly X509Certificate[];
  #generation = 0;

  /** @throws {Error} In one line, when the file cannot be used. */
  constructor(file: string, log: AuthoritiesLog, signal: AbortSignal, reloadEveryMs?: number) {
    this.#file = file;
    const changes = new FileChanges([file]);
    this.#anchors = this.#read();
    const read = (): void => {
      this.#anchors = this.#read();
      this.#generation++;
    };
    const end = changes.follow({ what: 'client authorities', read, log }, reloadEveryMs);
    signal.addEventListener('abort', end, { once: true });
  }

  get anchors(): readonly X509Certificate[] {
    return this.#anchors;
  }

  /** Moves with every change: what was decided under another one is out of date. */
  get generation(): number {
    return this.#generation;
  }

  #read(): X509Certificate[] {
    try {
      return parseBundle(readFileSync(this.#file, 'utf8'));
    } catch (err) {
      throw new Error(`Cannot use ${this.#file} for client authorities: ${(err as Error).message}`, { cause: err });
    }
  }
}
