import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdCluster } from '../installation/etcd-cluster.js';
import type { FaultKind } from './fault.js';

const THREE = 3;
const COMPACT_EVERY_MS = 1_000;
const FILLER_BYTES = 1_000_000;
/** More than the quota that etcd is started with. */
const MOST_FILLERS = 300;
const MOST_SHRINKS = 40;
const SHRINK_PAUSE_MS = 500;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const FILLER = { key: base64('robustness/filler/'), range_end: base64('robustness/filler0') };

/** With it a disk is full soon. Bytes. */
const QUOTA = 134_217_728;
export const SMALL_QUOTA = `--quota-backend-bytes=${QUOTA}`;
/** What clients write does not fill it: that is left to the fault. For servers. */
export const SHORT_HISTORY = '--etcd-compaction-interval=1m';

interface Header {
  readonly header: { readonly revision: string };
}

async function compactAll(etcd: EtcdCluster): Promise<void> {
  const { header } = await etcd.callAny<Header>('kv/range', { key: 'AA==' });
  await etcd.callAny('kv/compaction', { revision: header.revision });
}

/** Writes until etcd says that there is no space. */
async function fill(etcd: EtcdCluster): Promise<void> {
  const value = base64('x'.repeat(FILLER_BYTES));
  for (let i = 0; i < MOST_FILLERS; i++) {
    const key = base64(`robustness/filler/${i}`);
    const isFull = await etcd.callAny('kv/put', { key, value }).then(
      () => false,
      (err: unknown) => String(err).includes('space exceeded'),
    );
    if (isFull) return;
  }
}

/** As an operator does it: what is not needed goes, its history as well, its pages are given back, and the alarm ends. */
async function makeRoom(etcd: EtcdCluster): Promise<void> {
  await etcd.callAny('kv/deleterange', FILLER);
  await compactAll(etcd);
  for (const [i] of etcd.members.entries()) await shrink(etcd, i);
  const { alarms = [] } = await etcd.callAny<{ alarms?: object[] }>('maintenance/alarm', { action: 'GET' });
  for (const alarm of alarms) await etcd.callAny('maintenance/alarm', { ...alarm, action: 'DEACTIVATE' });
}

/** Again and again: what a member has not compacted yet, it cannot give back. */
async function shrink(etcd: EtcdCluster, member: number): Promise<void> {
  for (let tries = 0; tries < MOST_SHRINKS; tries++) {
    await etcd.call(member, 'maintenance/defragment');
    const { dbSize } = await etcd.call<{ dbSize: string }>(member, 'maintenance/status');
    if (Number(dbSize) < QUOTA / 2) return;
    await sleep(SHRINK_PAUSE_MS);
  }
  throw new Error(`etcd: member ${member} does not give back what it has deleted`);
}

export const ETCD_FAULTS = {
  compaction: {
    help: 'all history is dropped every second',
    group: 'compaction',
    make: ({ etcd }) => {
      let timer: NodeJS.Timeout | undefined;
      const compact = (): void => void compactAll(etcd).catch(() => undefined); // another fault may be in its way
      return {
        hits: [],
        start: () => {
          compact();
          timer = setInterval(compact, COMPACT_EVERY_MS);
          return Promise.resolve();
        },
        stop: () => {
          clearInterval(timer);
          return Promise.resolve();
        },
      };
    },
  },
  'full-disk': {
    help: 'etcd has no space left, until it is given some again',
    group: 'etcd',
    make: ({ etcd }) => ({ hits: 'all', start: () => fill(etcd), stop: () => makeRoom(etcd) }),
  },
  'kill-member': {
    help: 'a member of etcd is killed and started again',
    group: 'etcd',
    make: ({ etcd }, random) => {
      const { process } = random.pick(etcd.members);
      return {
        hits: 'all',
        start: () => process.kill(),
        stop: async () => {
          await process.start();
          await etcd.healthy();
        },
      };
    },
  },
  'pause-member': {
    help: 'a member of etcd stands still and goes on',
    group: 'etcd',
    make: ({ etcd }, random) => {
      const { process } = random.pick(etcd.members);
      return {
        hits: 'all',
        start: () => {
          process.pause();
          return Promise.resolve();
        },
        stop: async () => {
          process.resume();
          await etcd.healthy();
        },
      };
    },
  },
  'move-leader': {
    help: 'another member of etcd leads',
    group: 'etcd',
    members: THREE,
    make: ({ etcd }, random) => ({
      hits: 'all',
      start: async () => {
        const now = await etcd.leader();
        await etcd.moveLeader((now + 1 + random.below(etcd.members.length - 1)) % etcd.members.length);
      },
      stop: () => etcd.healthy(),
    }),
  },
  'lose-member': {
    help: 'the disk of a member of etcd is gone; it is taken out, and comes back empty',
    group: 'etcd',
    members: THREE,
    make: ({ etcd }, random) => {
      const index = random.below(etcd.members.length);
      return {
        hits: 'all',
        start: () => etcd.lose(index),
        stop: async () => {
          await etcd.rejoin(index);
          await etcd.healthy();
        },
      };
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;
