import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { startPlatform, type Running } from '../support/platform.js';
import { PROGRAM } from '../support/program.js';

/** A missing kubectl is a failure where everything has to run or one is named, and a skip that is counted elsewhere. */
function skipWithoutKubectl(context: Mocha.Context): void {
  if (Kubectl.version() !== undefined) return;
  const { CI = '', KUBECTL = '' } = process.env;
  const why = `No kubectl${KUBECTL === '' ? '' : ` that runs at ${KUBECTL}`}: run deploy/kubectl/get-kubectl.mjs`;
  if (CI !== '' || KUBECTL !== '') throw new Error(why);
  process.stderr.write(`SKIPPED ${context.test?.parent?.fullTitle() ?? ''}. ${why}\n`);
  context.skip();
}

export interface KubectlSuite {
  readonly vocabulary: 'platform' | 'kubernetes';
  readonly store: 'embedded' | 'etcd';
  /** More flags of the server. */
  readonly flags?: readonly string[];
  /** Pods need service accounts, as they do by default. */
  readonly accounts?: true;
  /** That run beside the server. */
  readonly controllers?: readonly string[];
}

/** Defines tests of kubectl against one server, which is started once for all of them. */
export function withKubectl(
  title: string,
  { vocabulary, store, flags = [], accounts, controllers = [] }: KubectlSuite,
  define: (kubectl: () => Kubectl) => void,
): void {
  describe(`kubectl ${Kubectl.version() ?? '(none)'} ${title} on --vocabulary=${vocabulary} --store=${store}`, function () {
    this.timeout(90_000);
    let etcd: EtcdServer | undefined;
    let server: Running | undefined;
    let kubectl: Kubectl | undefined;
    before(async function () {
      skipWithoutKubectl(this);
      etcd = store === 'etcd' ? await startEtcd() : undefined;
      server = await startPlatform({
        vocabulary,
        store,
        args: flags,
        ...(accounts && { accounts }),
        ...(controllers.length > 0 && { controllers }),
        ...(etcd === undefined ? {} : { etcdServers: [etcd.url] }),
      });
      kubectl = new Kubectl(server.kubeconfig);
    });
    after(async () => {
      kubectl?.close();
      await server?.stop();
      await etcd?.stop();
    });
    define(() => {
      if (kubectl === undefined) throw new Error('The server is not there yet');
      return kubectl;
    });
  });
}

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

  /** @param env Added to the environment. */
  run(args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const child = this.#start(args, env);
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

  /** A run as whoever a bearer token stands for, and nobody else. */
  async withToken(token: string, args: readonly string[]): Promise<Ran> {
    const { clusters } = await this.json<{ clusters: object[] }>(['config', 'view', '--raw']);
    const config = {
      clusters: clusters.map((cluster) => ({ ...cluster, name: 'c' })),
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    const file = join(this.#home, 'token.kubeconfig');
    writeFileSync(file, JSON.stringify(config));
    return this.run([`--kubeconfig=${file}`, ...args]);
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

  #start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(BINARY, [`--kubeconfig=${this.#kubeconfig}`, `--cache-dir=${this.#home}`, ...args], {
      env: { ...process.env, HOME: this.#home, ...env },
      timeout: 2 * RUN_MS,
    });
    this.#running.add(child);
    child.on('close', () => this.#running.delete(child));
    return child;
  }
}
