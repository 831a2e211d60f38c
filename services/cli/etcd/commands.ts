import { createLog } from '../../machinery/log/log.js';
import { Maintenance } from '../../storage/etcd/maintenance.js';
import { STORE_FLAGS, etcdAddress, type StoreOptions } from '../../storage/options.js';
import { command } from '../command.js';
import { CommandError } from '../failure.js';
import { clusterState, hex, type EndpointState } from './cluster-health.js';
import { defragmentAll, megabytes } from './defragment.js';
import { disarmSpace } from './disarm.js';

const ETCD_FLAGS = {
  etcdServers: { ...STORE_FLAGS.etcdServers, help: 'an endpoint of every member' },
  etcdCaFile: STORE_FLAGS.etcdCaFile,
  etcdCertFile: STORE_FLAGS.etcdCertFile,
  etcdKeyFile: STORE_FLAGS.etcdKeyFile,
} as const;
const PAUSE = {
  pauseMs: {
    flag: 'pause',
    type: 'duration',
    default: '10s',
    help: 'how long to wait between two members, once all are well again',
  },
} as const;

type Address = Pick<StoreOptions, 'etcdServers' | 'etcdCaFile' | 'etcdCertFile' | 'etcdKeyFile'>;

async function withEtcd(o: Address, act: (etcd: Maintenance) => Promise<void>): Promise<void> {
  const etcd = new Maintenance({ ...etcdAddress(o), log: createLog({ logLevel: 'error' }) });
  try {
    await act(etcd);
  } finally {
    etcd.close();
  }
}

const STATUS = command({
  name: 'etcd status',
  operands: [],
  help: 'what each member of etcd says of itself; fails when one is not well',
  flags: ETCD_FLAGS,
  run: ({ options, print }, signal) =>
    withEtcd(options, async (etcd) => {
      const { endpoints, faults } = await clusterState(etcd, signal);
      for (const line of table(endpoints)) print(line);
      if (faults.length > 0) throw new CommandError(faults.join('; '));
    }),
});

const DEFRAGMENT = command({
  name: 'etcd defragment',
  operands: [],
  help: 'rewrites the file of each member, one after the other, the leader last; only when all are well',
  flags: { ...ETCD_FLAGS, ...PAUSE },
  run: ({ options, report }, signal) =>
    withEtcd(options, (etcd) => defragmentAll({ etcd, pauseMs: options.pauseMs, report }, signal)),
});

const ALARMS = command({
  name: 'etcd alarms',
  operands: [],
  help: 'alarms that are armed; --disarm makes room first, and fails while one is left',
  flags: {
    ...ETCD_FLAGS,
    ...PAUSE,
    disarm: { flag: 'disarm', type: 'bool', help: 'compact, defragment, and disarm the alarms for space' },
  } as const,
  run: ({ options, print, report }, signal) =>
    withEtcd(options, async (etcd) => {
      if (options.disarm) {
        const count = await disarmSpace({ etcd, pauseMs: options.pauseMs, report }, signal);
        print(`${count} alarms for space disarmed`);
      }
      const alarms = await etcd.alarms(signal);
      for (const { member, type } of alarms) print(`${type} of member ${hex(member)}`);
      if (alarms.length > 0 && options.disarm) throw new CommandError(`${alarms.length} alarms are left`);
      if (alarms.length === 0 && !options.disarm) print('no alarm');
    }),
});

export const ETCD_COMMANDS = [STATUS, DEFRAGMENT, ALARMS];

const COLUMNS = ['ENDPOINT', 'MEMBER', 'VERSION', 'SIZE', 'IN USE', 'LEADER', 'TERM', 'REVISION', 'WELL'];

function table(endpoints: readonly EndpointState[]): string[] {
  const rows = [COLUMNS, ...endpoints.map(row)];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((cells) => cells[i]?.length ?? 0)));
  return rows.map((cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function row({ endpoint, status, faults }: EndpointState): string[] {
  if (status === undefined) return [endpoint, '-', '-', '-', '-', '-', '-', '-', 'no'];
  const { id, version, bytes, bytesInUse, leader, raftTerm, revision } = status;
  const isLeader = leader === id ? 'yes' : 'no';
  const sizes = [megabytes(bytes), megabytes(bytesInUse)];
  return [
    endpoint,
    hex(id),
    version,
    ...sizes,
    isLeader,
    `${raftTerm}`,
    `${revision}`,
    faults.length === 0 ? 'yes' : 'no',
  ];
}
