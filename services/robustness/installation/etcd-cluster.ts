import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../machinery/testing/free-port.js';
import { ManagedProcess } from './managed-process.js';

export interface EtcdOptions {
  readonly binary: string;
  readonly members: number;
  readonly directory: string;
  readonly args: readonly string[];
}

interface Member {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  readonly dataDir: string;
  readonly process: ManagedProcess;
  /** How it is started the next time: with the cluster, or into one that runs. */
  joins: 'new' | 'existing';
}

const CALL_MS = 10_000;
const HEALTHY_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** An etcd of one or three members on this machine, and what operators do with one. Spoken to as JSON over HTTP. */
export class EtcdCluster {
  readonly members: readonly Member[];
  readonly #o: EtcdOptions;

  private constructor(o: EtcdOptions, ports: readonly number[]) {
    this.#o = o;
    this.members = Array.from({ length: o.members }, (_, i) => this.#member(i, ports));
  }

  static async start(o: EtcdOptions): Promise<EtcdCluster> {
    const cluster = new EtcdCluster(o, await freePorts(2 * o.members));
    try {
      await Promise.all(cluster.members.map((it) => it.process.start()));
      await cluster.healthy();
      return cluster;
    } catch (err) {
      await cluster.close();
      throw err;
    }
  }

  /** Asks one member. @param path Below `/v3/`. @throws {Error} When it does not answer, or not well. */
  async call<T>(index: number, path: string, body: object = {}): Promise<T> {
    const { clientPort } = this.#at(index);
    const answer = await fetch(`http://127.0.0.1:${clientPort}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`etcd: ${path}: ${answer.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as T;
  }

  /** The first one that answers. */
  async callAny<T>(path: string, body: object = {}, but = -1): Promise<T> {
    let failure: unknown;
    for (const [i] of this.members.entries()) {
      if (i === but) continue;
      try {
        return await this.call<T>(i, path, body);
      } catch (err) {
        failure = err;
      }
    }
    throw failure instanceof Error ? failure : new Error('etcd has no other member');
  }

  /** Resolves when every member answers with the leader's word. */
  async healthy(): Promise<void> {
    await tried(async () => {
      for (const [i] of this.members.entries()) await this.call(i, 'kv/range', { key: 'AA==', limit: 1 });
    });
  }

  async leader(): Promise<number> {
    const { leader } = await this.callAny<{ leader: string }>('maintenance/status');
    const ids = await this.#ids();
    const index = this.members.findIndex(({ name }) => ids.get(name) === leader);
    return Math.max(0, index);
  }

  async moveLeader(to: number): Promise<void> {
    const id = (await this.#ids()).get(this.#at(to).name) ?? '';
    await this.call(await this.leader(), 'maintenance/transfer-leadership', { targetID: id });
  }

  /** Its disk is gone: it is taken out of the cluster. */
  async lose(index: number): Promise<void> {
    const member = this.#at(index);
    await member.process.kill();
    rmSync(member.dataDir, { recursive: true, force: true });
    await tried(async () => {
      const id = (await this.#ids(index)).get(member.name);
      if (id !== undefined) await this.callAny('cluster/member/remove', { ID: id }, index);
    });
  }

  /** It comes back without data, as a new member. */
  async rejoin(index: number): Promise<void> {
    const member = this.#at(index);
    member.joins = 'existing';
    const peerURLs = [`http://127.0.0.1:${member.peerPort}`];
    await tried(async () => {
      const ids = await this.#ids(index); // added, and not started yet: without a name
      if (!ids.has(member.name) && !ids.has('')) await this.callAny('cluster/member/add', { peerURLs }, index);
    });
    await member.process.start();
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((it) => it.process.close()));
  }

  async #ids(but = -1): Promise<ReadonlyMap<string, string>> {
    const path = 'cluster/member/list';
    const { members } = await this.callAny<{ members: { ID: string; name?: string }[] }>(path, {}, but);
    return new Map(members.map(({ ID, name = '' }) => [name, ID]));
  }

  #at(index: number): Member {
    const member = this.members[index];
    if (member === undefined) throw new RangeError(`etcd has no member ${index}`);
    return member;
  }

  #member(i: number, ports: readonly number[]): Member {
    const name = `etcd-${i}`;
    const [clientPort = 0, peerPort = 0] = ports.slice(2 * i);
    const dataDir = join(this.#o.directory, name);
    mkdirSync(this.#o.directory, { recursive: true });
    const member: Member = {
      name,
      clientPort,
      peerPort,
      dataDir,
      joins: 'new',
      process: new ManagedProcess({
        name,
        command: this.#o.binary,
        args: () => this.#arguments(member, ports),
        env: () => ({ ETCD_UNSUPPORTED_ARCH: process.arch }),
        ready: 'ready to serve client requests',
        logFile: join(this.#o.directory, `${name}.log`),
      }),
    };
    return member;
  }

  #arguments({ name, dataDir, clientPort, peerPort, joins }: Member, ports: readonly number[]): string[] {
    const peerUrl = (i: number): string => `http://127.0.0.1:${ports[2 * i + 1] ?? 0}`;
    const cluster = Array.from({ length: this.#o.members }, (_, i) => `etcd-${i}=${peerUrl(i)}`);
    // A member that is alone elects itself after this time.
    const timing = this.#o.members === 1 ? ['--heartbeat-interval=20', '--election-timeout=200'] : [];
    return [
      `--name=${name}`,
      `--data-dir=${dataDir}`,
      `--listen-client-urls=http://127.0.0.1:${clientPort}`,
      `--advertise-client-urls=http://127.0.0.1:${clientPort}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-cluster=${cluster.join(',')}`,
      `--initial-cluster-state=${joins}`,
      '--logger=zap',
      ...timing,
      ...this.#o.args,
    ];
  }
}

/** Until it works: others are connected again a while after a fault, and members are taken in only then. */
async function tried(step: () => Promise<void>): Promise<void> {
  const until = performance.now() + HEALTHY_MS;
  for (;;) {
    try {
      await step();
      return;
    } catch (err) {
      if (performance.now() > until) throw err;
      await sleep(LOOK_EVERY_MS);
    }
  }
}
