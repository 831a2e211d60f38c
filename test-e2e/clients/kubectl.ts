import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROGRAM } from '../support/program.js';

/** What a run of kubectl came to. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const RUN_MS = 30_000;

/** What `KUBECTL` names, or what deploy/kubectl provided, or the one on PATH. */
const BINARY = findKubectl();

function findKubectl(): string {
  const named = process.env['KUBECTL'];
  if (named !== undefined && named !== '') return named;
  const provided = join(dirname(dirname(PROGRAM)), '.cache/kubectl/kubectl');
  return existsSync(provided) ? provided : 'kubectl';
}

/** An unmodified kubectl against one server, with a cache of its own. */
export class Kubectl {
  readonly #kubeconfig: string;
  readonly #home = mkdtempSync(join(tmpdir(), 'kubectl-'));
  readonly #running = new Set<ChildProcess>();

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  /** The version of the kubectl that is run, e.g. `v1.20.2`; undefined when it does not run. */
  static version(): string | undefined {
    try {
      const told = execFileSync(BINARY, ['version', '--client'], { encoding: 'utf8', timeout: RUN_MS });
      return /v\d+\.\d+\.\d+/.exec(told)?.[0];
    } catch {
      return undefined;
    }
  }

  run(args: readonly string[], input = ''): Promise<Ran> {
    const child = this.#start(args);
    child.stdin?.end(input);
    return new Promise((resolve, reject) => {
      const [stdout, stderr]: [string[], string[]] = [[], []];
      child.stdout?.on('data', (part: Buffer) => stdout.push(part.toString()));
      child.stderr?.on('data', (part: Buffer) => stderr.push(part.toString()));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? -1, stdout: stdout.join(''), stderr: stderr.join('') }));
    });
  }

  /** The output of a run that must succeed. */
  async ok(args: readonly string[], input?: string): Promise<string> {
    const ran = await this.run(args, input);
    if (ran.code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  }

  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.ok([...args, '-o', 'json'])) as T;
  }

  /** A run that goes on; `line` waits for a line of its output. */
  follow(args: readonly string[]): { line(pattern: RegExp): Promise<string>; stop(): void } {
    const child = this.#start(args);
    let text = '';
    const checks = new Set<() => void>();
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      for (const check of checks) check();
    });
    const line = (pattern: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`No line ${String(pattern)} in: ${text}`)), RUN_MS);
        const check = (): void => {
          const found = text.split('\n').find((l) => pattern.test(l));
          if (found === undefined) return;
          clearTimeout(timer);
          checks.delete(check);
          resolve(found);
        };
        checks.add(check);
        check();
      });
    return { line, stop: () => void child.kill('SIGKILL') };
  }

  close(): void {
    for (const child of this.#running) child.kill('SIGKILL');
    rmSync(this.#home, { recursive: true, force: true });
  }

  #start(args: readonly string[]): ChildProcess {
    const child = spawn(BINARY, [`--kubeconfig=${this.#kubeconfig}`, `--cache-dir=${this.#home}`, ...args], {
      env: { ...process.env, HOME: this.#home },
      timeout: 2 * RUN_MS,
    });
    this.#running.add(child);
    child.on('close', () => this.#running.delete(child));
    return child;
  }
}
