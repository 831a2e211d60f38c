import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findEtcd, type EtcdVersion } from './etcd-binary.js';
import { EtcdProcess } from './etcd-process.js';
import { freePorts } from '../../machinery/testing/free-port.js';

export interface EtcdTls {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface StartEtcd {
  /** Default '3.5', which means that or newer. */
  readonly version?: EtcdVersion;
  /** Kept when given; else made for this etcd and removed with it. */
  readonly dataDir?: string;
  readonly port?: number;
  /** Certificate of the server and the authority of its clients, who must then show a certificate. */
  readonly tls?: EtcdTls;
  /** Further arguments of etcd. */
  readonly args?: readonly string[];
}

/** A real etcd of one member, with its own ports and data. */
export interface EtcdServer {
  readonly url: string;
  readonly port: number;
  /** Ends it as a power failure would. */
  kill(): Promise<void>;
  /** Starts it again after `kill()`, on the same ports and data; resolves when it serves. */
  restart(): Promise<void>;
  /** Stops the process in its tracks (SIGSTOP); resolves when all its threads stand still. */
  freeze(): Promise<void>;
  /** Lets it go on. */
  thaw(): void;
  /** Ends it and removes the data that were made for it. */
  stop(): Promise<void>;
}

const servers = new Set<EtcdProcess>();
const directories = new Set<string>();

/** How long a killed process may take to be gone; nothing but a blocking wait works while this one exits. */
const DYING_MS = 100;

/** Nothing outlives the tests, however they end. */
function removeAll(): void {
  for (const it of servers) it.killNow();
  if (directories.size > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DYING_MS);
  for (const it of directories) removeDirectory(it);
}

const removeDirectory = (path: string): void => {
  rmSync(path, { recursive: true, force: true });
};

process.on('exit', removeAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    removeAll();
    process.kill(process.pid, signal);
  });
}

export async function startEtcd(o: StartEtcd = {}): Promise<EtcdServer> {
  const version = o.version ?? '3.5';
  const binary = findEtcd(version);
  if (binary === undefined) {
    return startInContainer(o);
  }
  const dataDir = o.dataDir ?? mkdtempSync(join(tmpdir(), 'etcd-test-'));
  if (o.dataDir === undefined) directories.add(dataDir);
  const [clientPort = 0, peerPort = 0] = await freePorts(2);
  const etcd = new EtcdProcess({ binary, dataDir, clientPort: o.port ?? clientPort, peerPort, ...pick(o) });
  servers.add(etcd);
  const stop = async (): Promise<void> => {
    await etcd.kill();
    servers.delete(etcd);
    if (directories.delete(dataDir)) removeDirectory(dataDir);
  };
  try {
    await etcd.start();
  } catch (err) {
    await stop();
    throw err;
  }
  return {
    url: etcd.url,
    port: etcd.port,
    kill: () => etcd.kill(),
    restart: () => etcd.start(),
    freeze: () => etcd.freeze(),
    thaw: () => etcd.signal('SIGCONT'),
    stop,
  };
}

/** For machines that have a container engine and no etcd. */
async function startInContainer(o: StartEtcd): Promise<EtcdServer> {
  if (o.dataDir !== undefined) throw new Error('An etcd in a container keeps its data there');
  const { startEtcdContainers } = await import('./etcd-containers.js');
  const cluster = await startEtcdContainers(pick(o));
  const [member] = cluster.members;
  if (member === undefined) throw new Error('A cluster without a member');
  return { ...member, stop: () => cluster.stop() };
}

const pick = (o: StartEtcd): { tls?: EtcdTls; args: readonly string[] } =>
  o.tls === undefined ? { args: o.args ?? [] } : { tls: o.tls, args: o.args ?? [] };
