import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scratchDirectory } from '../../support/scratch.js';
import { TestServer, type StoreName } from './server.js';

/** What one turn of the event loop may work, on a machine like ours; a slower one gets more by the measure below. */
export const TURN_MS = 50;
/** This takes so long there. */
const MEASURE_MS = 20;
const METER = new URL('../../support/turn-meter.js', import.meta.url);
const LOOK_EVERY_MS = 5;
const ATTEMPTS = 3;

/** How much slower this machine is, at most tenfold: by some work of the kind that servers do, the best of five. */
function slowness(): number {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ name: `n${i}`, data: ['x'.repeat(20), i] })));
  const times = Array.from({ length: 5 }, () => {
    const began = process.cpuUsage().user;
    JSON.stringify(JSON.parse(text));
    return (process.cpuUsage().user - began) / 1_000;
  });
  return Math.min(10, Math.max(1, Math.min(...times) / MEASURE_MS));
}

/** A server that tells how long turns of its event loop have worked. */
export class MeasuredServer {
  readonly server: TestServer;
  readonly #file: string;
  #signals = 0;

  private constructor(server: TestServer, file: string) {
    this.server = server;
    this.#file = file;
  }

  static async start(store: StoreName, flags: readonly string[] = []): Promise<MeasuredServer> {
    const file = join(scratchDirectory(), 'turns');
    const server = await TestServer.start({
      store,
      flags: ['--vocabulary=kubernetes', ...flags],
      env: { TURN_METER_FILE: file, NODE_OPTIONS: `--import=${fileURLToPath(METER)}` },
    });
    return new MeasuredServer(server, file);
  }

  /** The longest turn since the last call, in milliseconds of work. */
  async longestMs(): Promise<number> {
    const wanted = ++this.#signals;
    process.kill(this.server.pid, 'SIGUSR2');
    for (;;) {
      const [signals, longest] = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split(' ').map(Number) : [];
      if (signals === wanted && longest !== undefined) return longest;
      await pause(LOOK_EVERY_MS);
    }
  }

  /**
   * Asserts that no turn is too long while something is done. A turn that is long by chance (garbage was collected, another
   * program emptied the processor's caches) is not so each time: the best of three counts.
   */
  async during<T>(doing: (attempt: number) => Promise<T>): Promise<T> {
    const seen: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { done, longest, bound } = await this.#measured(() => doing(attempt));
      if (longest < bound) return done;
      seen.push(`${longest} ms of ${bound}`);
    }
    return assert.fail(seen.join(', '));
  }

  /** The same for what can be done once only: chance has to have room in the bound, which is twice as high. */
  async once<T>(doing: () => Promise<T>): Promise<T> {
    const { done, longest, bound } = await this.#measured(doing);
    assert.ok(longest < 2 * bound, `${longest} ms of ${2 * bound}`);
    return done;
  }

  async #measured<T>(doing: () => Promise<T>): Promise<{ done: T; longest: number; bound: number }> {
    await this.longestMs();
    const done = await doing();
    return { done, longest: await this.longestMs(), bound: TURN_MS * slowness() };
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
