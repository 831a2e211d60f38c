import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../machinery/testing/free-port.js';
import { findEtcd } from './etcd-binary.js';
import { EtcdProcess } from './etcd-process.js';

/** A cluster of etcd processes on this machine. */
export interface EtcdMembers {
  readonly urls: readonly string[];
  readonly members: readonly EtcdProcess[];
  stop(): Promise<void>;
}

const running = new Set<EtcdProcess>();
process.once('exit', () => {
  for (const it of running) it.killNow();
});

/** @param args Further arguments of each. */
export async function startEtcdMembers(count: number, args: readonly string[] = []): Promise<EtcdMembers> {
  const binary = findEtcd('3.5');
  if (binary === undefined) throw new Error('There is no etcd to start');
  const ports = await freePorts(2 * count);
  const dataDir = mkdtempSync(join(tmpdir(), 'etcd-members-'));
  const peerPort = (i: number): number => ports[2 * i + 1] ?? 0;
  const cluster = Array.from({ length: count }, (_, i) => `m${i}=http://127.0.0.1:${peerPort(i)}`).join(',');
  const members = Array.from({ length: count }, (_, i) => {
    const own = [`--name=m${i}`, `--initial-cluster=${cluster}`, '--heartbeat-interval=100', '--election-timeout=1000'];
    return new EtcdProcess({
      binary,
      dataDir: join(dataDir, `m${i}`),
      clientPort: ports[2 * i] ?? 0,
      peerPort: peerPort(i),
      args: [...own, ...args],
    });
  });
  for (const it of members) running.add(it);
  const stop = async (): Promise<void> => {
    for (const it of members) {
      await it.kill();
      running.delete(it);
    }
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await Promise.all(members.map((it) => it.start()));
  } catch (err) {
    await stop();
    throw err;
  }
  return { urls: members.map(({ url }) => url), members, stop };
}
