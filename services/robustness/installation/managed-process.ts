import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ManagedOptions {
  readonly name: string;
  readonly command: string;
  readonly args: () => readonly string[];
  readonly env?: () => NodeJS.ProcessEnv;
  /** What it writes when it can be used, on either stream. */
  readonly ready: string;
  /** All that it writes goes there. */
  readonly logFile: string;
  /** It is started again when it ends by itself. @default false */
  readonly isKept?: boolean;
}

/** Nets, for machines that are slow and busy. */
const READY_MS = 60_000;
const STOP_MS = 20_000;
const PAUSE_BEFORE_RESTART_MS = 500;
/** Characters of its last words in which the ready line is looked for. */
const TAIL = 4_000;

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process of an installation, which can be killed, held and started again. Ended at the latest with this process. */
export class ManagedProcess {
  readonly #o: ManagedOptions;
  readonly #log: WriteStream;
  #child: ChildProcess | undefined;
  #wanted = false;

  constructor(o: ManagedOptions) {
    this.#o = o;
    this.#log = createWriteStream(o.logFile, { flags: 'a' });
  }

  get name(): string {
    return this.#o.name;
  }

  /** Resolves when it can be used. @throws {Error} When it ends before, or takes too long. */
  async start(): Promise<void> {
    if (this.#child !== undefined) return;
    this.#wanted = true;
    const env = { ...process.env, ...this.#o.env?.() };
    const child = spawn(this.#o.command, this.#o.args(), { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.#child = child;
    children.add(child);
    child.once('exit', () => {
      children.delete(child);
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#wanted && this.#o.isKept === true) void this.#again();
    });
    await this.#ready(child);
  }

  /** As a power failure does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** As an operator does, and by force when that does not help. */
  async stop(): Promise<void> {
    const force = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_MS);
    this.#child?.kill('SIGCONT');
    await this.#end('SIGTERM');
    clearTimeout(force);
  }

  /** It stands still; its connections stay. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async close(): Promise<void> {
    await this.stop();
    this.#log.end();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#wanted = false;
    if (child === undefined) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }

  async #again(): Promise<void> {
    await sleep(PAUSE_BEFORE_RESTART_MS);
    if (this.#wanted) await this.start().catch(() => undefined); // it ended, and comes here again
  }

  #ready(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      let tail = '';
      let isReady = false;
      const fail = (why: string): void => {
        clearTimeout(limit);
        if (!isReady) reject(new Error(`${this.#o.name} ${why}: ${tail.slice(-TAIL)}`));
      };
      const limit = setTimeout(() => {
        fail(`is not ready after ${READY_MS} ms`);
        child.kill('SIGKILL');
      }, READY_MS);
      child.once('error', (err) => fail(`cannot be started (${err.message})`));
      child.once('exit', (code, signal) => fail(`ended with ${signal ?? String(code)}`));
      const look = (text: string): void => {
        this.#log.write(text);
        if (isReady) return;
        tail = tail.slice(-TAIL) + text;
        if (!tail.includes(this.#o.ready)) return;
        isReady = true;
        clearTimeout(limit);
        resolve();
      };
      child.stdout?.setEncoding('utf8').on('data', look);
      child.stderr?.setEncoding('utf8').on('data', look);
    });
  }
}
