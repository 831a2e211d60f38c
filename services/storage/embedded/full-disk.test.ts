import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const WRITER = fileURLToPath(new URL('full-disk-writer.js', import.meta.url));

interface Answer {
  readonly ok?: unknown;
  readonly code?: string;
}

/**
 * A store in a process whose files may not grow past a size that the test sets: to the store that is a full disk. What the
 * process says goes through pipes: the limit holds for a file that it would write to as well.
 */
class Limited {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #said = '';
  readonly #lines: AsyncIterator<string>;
  readonly exited: Promise<number | NodeJS.Signals | null>;

  constructor(directory: string) {
    this.#child = spawn(process.execPath, [WRITER, directory], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.exited = new Promise((resolve) => this.#child.once('exit', (code, signal) => resolve(code ?? signal)));
  }

  async answer(): Promise<Answer> {
    const next = await this.#lines.next();
    if (next.done === true) assert.fail(`the process ended with ${String(await this.exited)}: ${this.#said}`);
    return JSON.parse(next.value) as Answer;
  }

  ask(command: object): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    return this.answer();
  }

  limit(bytes: number | 'unlimited'): void {
    execFileSync('prlimit', [`--pid=${this.#child.pid ?? 0}`, `--fsize=${bytes}:unlimited`]);
  }

  end(): void {
    this.#child.stdin.end();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

describe('EmbeddedStore on a full disk', function () {
  this.timeout(30_000);
  let directory: string;
  let limited: Limited;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'full-disk-'));
    limited = new Limited(directory);
    assert.deepEqual(await limited.answer(), { ok: 'open' });
    await limited.ask({ do: 'put', key: '/kept', bytes: 1000 });
  });
  afterEach(async () => {
    limited.kill();
    await limited.exited;
    rmSync(directory, { recursive: true, force: true });
  });

  it('refuses writes, goes on reading, and takes writes again when there is room', async () => {
    limited.limit(1 << 20);
    let refused: Answer = {};
    let written = 0;
    for (let i = 0; refused.code === undefined && i < 30; i++) {
      refused = await limited.ask({ do: 'put', key: `/k${i}`, bytes: 200_000 });
      if (refused.code === undefined) written++;
    }
    assert.deepEqual(refused, { code: 'noSpace' });
    assert.deepEqual(await limited.ask({ do: 'full' }), { ok: true });
    assert.deepEqual(await limited.ask({ do: 'get', key: '/kept' }), { ok: 2 });
    assert.deepEqual(await limited.ask({ do: 'get', key: `/k${written}` }), { ok: null }, 'nothing of it is there');
    assert.deepEqual(await limited.ask({ do: 'burst', key: '/b', bytes: 500_000 }), { ok: Array(5).fill('rejected') });
    limited.limit('unlimited');
    assert.deepEqual((await limited.ask({ do: 'put', key: '/later', bytes: 200_000 })).code, undefined);
    assert.deepEqual(await limited.ask({ do: 'full' }), { ok: false });
    const last = 2 + written + 1; // no revision was lost to what was refused
    assert.deepEqual(await limited.ask({ do: 'get', key: '/later' }), { ok: last });
    const { ok: watched } = await limited.ask({ do: 'watched' });
    const names = ['/kept', ...Array.from({ length: written }, (_, i) => `/k${i}`), '/later'];
    assert.deepEqual(
      watched,
      names.map((name, i) => `${name}@${i + 2}`),
    );
    limited.end();
    assert.equal(await limited.exited, 0);
  });
});
