import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../services/storage/testing/free-port.js';
import { startEtcd, type EtcdServer } from '../../../services/storage/testing/start-etcd.js';
import { Client } from './client.js';

export type StoreName = 'embedded' | 'etcd';
export const STORES: readonly StoreName[] = ['embedded', 'etcd'];

export interface ServerOptions {
  readonly store: StoreName;
  /** An etcd of somebody else, e.g. `http://127.0.0.1:2379`; without it an etcd of its own is started. */
  readonly etcdUrl?: string;
  readonly flags?: readonly string[];
}

const TOKEN = 'a-token-for-tests';
const START_WITHIN_MS = 30_000;

const directories = new Set<string>();
const children = new Set<ChildProcess>();
/** Nothing outlives the tests, however they end. */
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A real server process with a store of its own, on a port that it keeps when it is started again. */
export class TestServer {
  readonly client: Client;
  readonly etcd: EtcdServer | undefined;
  /** Where its credentials and the embedded store are. */
  readonly directory: string;
  readonly #arguments: readonly string[];
  #child: ChildProcess | undefined;
  #log = '';

  private constructor(o: ServerOptions, port: number, directory: string, etcd: EtcdServer | undefined) {
    this.directory = directory;
    this.etcd = etcd;
    this.client = new Client(`https://127.0.0.1:${port}`, TOKEN);
    const etcdUrl = o.etcdUrl ?? etcd?.url;
    this.#arguments = [
      binary(),
      'up',
      `--data-dir=${directory}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--store=${o.store}`,
      ...(etcdUrl === undefined ? [] : [`--etcd-servers=${etcdUrl}`]),
      `--token-auth-file=${join(directory, 'tokens.csv')}`,
      '--log-level=warn',
      ...(o.flags ?? []),
    ];
  }

  static async start(o: ServerOptions): Promise<TestServer> {
    const directory = mkdtempSync(join(tmpdir(), 'server-test-'));
    directories.add(directory);
    writeFileSync(join(directory, 'tokens.csv'), `${TOKEN},tester,1,"system:masters"\n`);
    const etcd = o.store === 'etcd' && o.etcdUrl === undefined ? await startEtcd() : undefined;
    const [port = 0] = await freePorts(1);
    const server = new TestServer(o, port, directory, etcd);
    await server.run();
    return server;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** What the process has logged. */
  get log(): string {
    return this.#log;
  }

  /** Starts the process; resolves when it says that it is ready. */
  async run(): Promise<void> {
    const child = spawn(process.execPath, this.#arguments, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    children.add(child);
    child.once('exit', () => children.delete(child));
    const note = (text: Buffer): void => void (this.#log += text.toString());
    child.stderr.on('data', note);
    const limit = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS);
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('ready ')) continue;
      clearTimeout(limit);
      child.stdout.resume().on('data', note);
      return;
    }
    clearTimeout(limit);
    throw new Error(`The server ended before it was ready:\n${this.#log}`);
  }

  /** @returns The exit code. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exit = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    const [code] = await exit;
    return code;
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.end(signal);
    await this.run();
  }

  async close(): Promise<void> {
    this.client.close();
    await this.end();
    await this.etcd?.stop();
    rmSync(this.directory, { recursive: true, force: true });
    directories.delete(this.directory);
  }

  /** Resident memory in bytes. */
  get memoryBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) * 1024;
  }

  /** The sum of a metric's samples whose labels contain all of `labels`. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const { text } = await this.client.get('/metrics');
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    let sum = 0;
    for (const line of text.split('\n')) {
      if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
      if (wanted.every((label) => line.includes(label))) sum += Number(line.slice(line.lastIndexOf(' ')));
    }
    return sum;
  }
}

function binary(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== dirname(dir); dir = dirname(dir)) {
    const path = join(dir, 'bin/platform');
    if (existsSync(path)) return path;
  }
  throw new Error('Cannot find bin/platform above this file');
}

/**
 * Defines tests for one server, which is started once for all of them: tests use namespaces of their own.
 */
export function onServer(title: string, o: ServerOptions, define: (server: () => TestServer) => void): void {
  describe(title, () => {
    let server: TestServer | undefined;
    before(async () => {
      server = await TestServer.start(o);
    });
    after(() => server?.close());
    define(() => {
      if (server === undefined) throw new Error('The server is not there yet');
      return server;
    });
  });
}

/** Defines the same tests for a server on each store. */
export function onBothStores(
  title: string,
  flags: readonly string[],
  define: (server: () => TestServer) => void,
): void {
  for (const store of STORES) onServer(`${title} (${store} store)`, { store, flags }, define);
}
