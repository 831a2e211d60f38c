import { join } from 'node:path';
import type { TestServer } from '../../api/tools/server.js';
import { launchControllers, type ControllerProcessOptions } from './controller-process.js';
import type { Program } from '../../support/program.js';

/** The processes that have one purpose each. */
export const PROCESSES = [
  'certificate-signer',
  'token-cleaner',
  'role-aggregation',
  'service-accounts',
  'resource-lifecycle',
] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** Leadership that changes hands soon. One that a busy machine loses is as good as one more kill. */
export const SHORT_LEASE = [
  '--leader-elect-lease-duration=2s',
  '--leader-elect-renew-deadline=1500ms',
  '--leader-elect-retry-period=200ms',
];

/** The user that a process is recommended to be, whose roles the bootstrap policy has. */
export const userOf = (name: string): string => `system:platform-${name}`;

export const leaseOf = (name: string): string => `platform-${name}`;

/** What starts a process as itself, with the rights of its user and of its controllers' accounts and no others. */
export function optionsOf(server: TestServer, name: ProcessName): ControllerProcessOptions {
  const file = (it: string): string => join(server.directory, it);
  const flags: Readonly<Record<ProcessName, readonly string[]>> = {
    'certificate-signer': [
      `--cluster-signing-cert-file=${file('ca.crt')}`,
      `--cluster-signing-key-file=${file('ca.key')}`,
    ],
    'token-cleaner': [],
    'role-aggregation': [],
    'service-accounts': [
      `--root-ca-file=${file('ca.crt')}`,
      `--service-account-private-key-file=${file('service-account.key')}`,
    ],
    'resource-lifecycle': [],
  };
  return {
    command: name,
    user: userOf(name),
    groups: [],
    flags: ['--use-service-account-credentials', ...flags[name]],
  };
}

/** Replicas of one process, each started again when it ends. */
export class Replicas {
  readonly #start: () => Program;
  readonly #running: Program[];
  readonly #ended: Promise<void>[] = [];
  #isOver = false;

  constructor(server: TestServer, name: ProcessName, count: number) {
    const o = optionsOf(server, name);
    this.#start = () => launchControllers(server, { ...o, flags: [...(o.flags ?? []), ...SHORT_LEASE] });
    this.#running = Array.from({ length: count }, this.#start);
    this.#running.forEach((replica, i) => this.#keep(replica, i));
  }

  /** Kills one of them by chance. Resolves when it is gone and the next one was started. */
  async kill(): Promise<void> {
    const at = Math.floor(Math.random() * this.#running.length);
    this.#running[at]?.kill('SIGKILL');
    await this.#ended[at];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const replica of this.#running) replica.kill('SIGKILL');
    await Promise.all(this.#running.map(({ exited }) => exited));
  }

  #keep(replica: Program, i: number): void {
    this.#ended[i] = replica.exited.then(() => {
      if (this.#isOver) return;
      const next = this.#start();
      this.#running[i] = next;
      this.#keep(next, i);
    });
  }
}
