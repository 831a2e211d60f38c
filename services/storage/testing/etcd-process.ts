import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { EtcdTls } from './start-etcd.js';

export interface EtcdProcessOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly clientPort: number;
  readonly peerPort: number;
  readonly tls?: EtcdTls;
  readonly args: readonly string[];
}

const START_MS = 20_000;
/** Both 3.4 and 3.5 say so when they have a leader and take requests. */
const SERVES = 'ready to serve client requests';
const KEPT_LOG = 4000;

/** The process of one etcd; may be killed and started again. */
export class EtcdProcess {
  readonly url: string;
  readonly port: number;
  readonly #o: EtcdProcessOptions;
  #child: ChildProcess | undefined;

  constructor(o: EtcdProcessOptions) {
    this.#o = o;
    this.port = o.clientPort;
    this.url = `${o.tls === undefined ? 'http' : 'https'}://127.0.0.1:${o.clientPort}`;
  }

  /** Resolves when it serves. */
  start(): Promise<void> {
    const child = spawn(this.#o.binary, this.#arguments(), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch },
    });
    this.#child = child;
    return new Promise((resolve, reject) => {
      let log = '';
      const fail = (why: string): void => {
        clearTimeout(limit);
        child.kill('SIGKILL');
        reject(new Error(`Cannot start ${this.#o.binary}: ${why}\n${log.slice(-KEPT_LOG)}`));
      };
      const limit = setTimeout(() => fail(`it does not serve after ${START_MS} ms`), START_MS);
      child.once('error', (err) => fail(err.message));
      child.once('exit', (code, signal) => fail(`it ended with ${signal ?? String(code)}`));
      child.stderr.setEncoding('utf8');
      child.stderr.on('data', (text: string) => {
        log = log.slice(-KEPT_LOG) + text;
        if (!log.includes(SERVES)) return;
        clearTimeout(limit);
        child.stderr.removeAllListeners('data').resume();
        resolve();
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  killNow(): void {
    this.#child?.kill('SIGKILL');
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** A signal is only sent when `kill` returns: a thread on another processor may still answer. */
  async freeze(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('etcd does not run');
    this.signal('SIGSTOP');
    while (!threadStates(pid).every((state) => state === 'T')) await nextTurn();
  }

  #arguments(): string[] {
    const { dataDir, peerPort, tls, args } = this.#o;
    const peer = `http://127.0.0.1:${peerPort}`;
    const secure =
      tls === undefined
        ? []
        : [
            `--cert-file=${tls.certFile}`,
            `--key-file=${tls.keyFile}`,
            `--trusted-ca-file=${tls.caFile}`,
            '--client-cert-auth',
          ];
    return [
      '--name=test',
      `--data-dir=${dataDir}`,
      `--listen-client-urls=${this.url}`,
      `--advertise-client-urls=${this.url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=test=${peer}`,
      // A member that is alone elects itself after this time.
      '--heartbeat-interval=20',
      '--election-timeout=200',
      ...secure,
      ...args,
    ];
  }
}

/** One letter a thread, as proc(5) has them. */
const threadStates = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  });
