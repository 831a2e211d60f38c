import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../../services/machinery/testing/free-port.js';
import { startEtcd, type EtcdServer } from '../../../services/storage/testing/start-etcd.js';
import { startPlatform, type Running } from '../../support/platform.js';
import { removeDirectory, scratchDirectory } from '../../support/scratch.js';
import { Client } from './client.js';

export type StoreName = 'embedded' | 'etcd';
export const STORES: readonly StoreName[] = ['embedded', 'etcd'];

export interface ServerOptions {
  readonly store: StoreName;
  /** An etcd of somebody else, e.g. `http://127.0.0.1:2379`; without it an etcd of its own is started. */
  readonly etcdUrl?: string;
  readonly flags?: readonly string[];
  /** What its embedded store finds; removed with the server. */
  readonly directory?: string;
  /** Pods need service accounts, as they do by default. */
  readonly accounts?: true;
  /** Controllers that run in the process. @default none */
  readonly controllers?: boolean | readonly string[];
  /** Added to the environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Tests here wait for things to happen in a server; a busy machine takes its time. */
const TEST_WITHIN_MS = 90_000;
const TOKEN = 'a-token-for-tests';

/** A real server process with a store of its own, on a port that it keeps when it is started again. */
export class TestServer {
  readonly client: Client;
  readonly etcd: EtcdServer | undefined;
  readonly #o: ServerOptions;
  readonly #directory: string;
  #running: Running | undefined;
  #pid = 0;

  private constructor(o: ServerOptions, port: number, directory: string, etcd: EtcdServer | undefined) {
    this.#o = { ...o, flags: [`--secure-port=${port}`, ...(o.flags ?? [])] };
    this.#directory = directory;
    this.etcd = etcd;
    this.client = new Client(`https://127.0.0.1:${port}`, TOKEN);
  }

  static async start(o: ServerOptions): Promise<TestServer> {
    const directory = o.directory ?? scratchDirectory();
    writeFileSync(join(directory, 'tokens.csv'), `${TOKEN},tester,1,"system:masters"\n`);
    const etcd = o.store === 'etcd' && o.etcdUrl === undefined ? await startEtcd() : undefined;
    const [port = 0] = await freePorts(1);
    const server = new TestServer(o, port, directory, etcd);
    await server.run();
    return server;
  }

  /** Where the server keeps its credentials, and its objects unless a store has them. */
  get directory(): string {
    return this.#directory;
  }

  get pid(): number {
    return this.#pid;
  }

  /** Whether the process that was started last is still there. */
  get alive(): boolean {
    return this.#running !== undefined && isAlive(this.#running.pid);
  }

  /** Starts the process; resolves when it says that it is ready. */
  async run(): Promise<void> {
    const etcdUrl = this.#o.etcdUrl ?? this.etcd?.url;
    this.#running = await startPlatform({
      dataDir: this.#directory,
      store: this.#o.store,
      ...(this.#o.accounts && { accounts: this.#o.accounts }),
      ...(this.#o.controllers !== undefined && { controllers: this.#o.controllers }),
      ...(this.#o.env === undefined ? {} : { env: this.#o.env }),
      ...(etcdUrl === undefined ? {} : { etcdServers: [etcdUrl] }),
      args: [`--token-auth-file=${join(this.#directory, 'tokens.csv')}`, '--log-level=warn', ...(this.#o.flags ?? [])],
    });
    this.#pid = this.#running.pid;
  }

  /** @returns The exit code. */
  async end(): Promise<number | null> {
    const running = this.#running;
    this.#running = undefined;
    return running === undefined ? null : (await running.stop()).code;
  }

  async restart(): Promise<void> {
    await this.end();
    await this.run();
  }

  async close(): Promise<void> {
    this.client.close();
    await this.end();
    await this.etcd?.stop();
    removeDirectory(this.#directory);
  }

  /** What the process that was started last has logged. */
  get log(): string {
    return this.#running === undefined ? '' : this.#running.stdout() + this.#running.stderr();
  }

  /** Sockets that the process has open, listeners and connections to the store included. */
  get openSockets(): number {
    const directory = `/proc/${this.pid}/fd`;
    const isSocket = (fd: string): boolean => {
      try {
        return readlinkSync(join(directory, fd)).startsWith('socket:');
      } catch {
        return false; // closed meanwhile
      }
    };
    return readdirSync(directory).filter(isSocket).length;
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Defines tests for one server, which is started once for all of them: tests use namespaces of their own.
 */
export function onServer(title: string, o: ServerOptions, define: (server: () => TestServer) => void): void {
  describe(title, function () {
    this.timeout(TEST_WITHIN_MS);
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
