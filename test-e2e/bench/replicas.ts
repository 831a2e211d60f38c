import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../services/robustness/installation/etcd-cluster.js';
import { findEtcd } from '../../services/robustness/installation/find-etcd.js';
import { request } from './connection.js';
import { residentBytes } from './processes.js';
import { paired, row, type Row, type SuiteOptions } from './rows.js';
import { COLLECTION, configMap, cachedObject, populate } from './scenarios.js';
import { startServer, type BenchServer } from './server.js';
import { byTurns, type Asked } from './turns.js';

const REPLICAS = [1, 2, 3];
const MEMBERS = [1, 3] as const;

let made = 0;
const QUESTIONS: readonly { readonly does: string; readonly expect: number; readonly next: (n: number) => Buffer }[] = [
  { does: 'get, from the cache', expect: 200, next: (n) => request('GET', cachedObject(n)) },
  { does: 'get, consistent', expect: 200, next: (n) => request('GET', cachedObject(n).replace(/\?.*/, '')) },
  { does: 'list 500, from the cache', expect: 200, next: () => request('GET', `${COLLECTION}?limit=500&resourceVersion=0`) }, // prettier-ignore
  { does: 'create', expect: 201, next: () => request('POST', COLLECTION, { body: configMap(`r-${made++}`, 1) }) },
];

/** One, two and three servers on an etcd of one member and of three. All of them share the processors of this machine. */
export async function replicaRows({ store, seconds }: SuiteOptions): Promise<Row[]> {
  if (store !== 'etcd') return [];
  const rows: Row[] = [];
  for (const members of MEMBERS) rows.push(...(await on(members, seconds)));
  return rows;
}

async function on(members: (typeof MEMBERS)[number], seconds: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-etcd-'));
  const etcd = await EtcdCluster.start({ binary: findEtcd(''), directory, members, args: [] });
  const servers: BenchServer[] = [];
  const etcdUrl = etcd.members.map(({ clientPort }) => `http://127.0.0.1:${clientPort}`).join(',');
  try {
    for (const i of REPLICAS.keys()) {
      const flags = i === 0 ? [] : ['--controllers=-*'];
      servers.push(await startServer({ store: 'etcd', etcdUrl, prefix: '/replicas', flags }));
    }
    await populate((servers[0] as BenchServer).target);
    const name = `etcd of ${members}`;
    const rows: Row[] = [];
    for (const question of QUESTIONS) rows.push(...(await rowsOf(name, servers, question, seconds)));
    const [, second] = servers; // without controllers
    return [...rows, row(name, 'memory of a replica', 'MB', residentBytes(second?.process.pid ?? 0) / 1e6)];
  } finally {
    for (const server of servers) await server.stop();
    await etcd.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function rowsOf(
  name: string,
  servers: readonly BenchServer[],
  { does, expect, next }: (typeof QUESTIONS)[number],
  seconds: number,
): Promise<Row[]> {
  const asked = REPLICAS.map((count): Asked => {
    const some = servers.slice(0, count);
    const [targets, pids] = [some.map(({ target }) => target), some.map(({ process }) => process.pid)];
    return { targets, pids, expect, next };
  });
  const measured = await byTurns(asked, seconds);
  const one = measured[0];
  return measured.flatMap((it, i) => {
    const besides = i === 0 || one === undefined ? undefined : { by: 'one server', perSecond: one.perSecond };
    return paired(name, [{ scenario: `${does}, ${i + 1} of ${REPLICAS.length} servers`, measured: it, besides }]);
  });
}
