import { setTimeout as sleep } from 'node:timers/promises';
import type { Maintenance, MemberStatus } from '../../storage/etcd/maintenance.js';
import { CommandError } from '../failure.js';
import { clusterState } from './cluster-health.js';

export interface DefragmentOptions {
  readonly etcd: Maintenance;
  /** Between two members, once all are well again. */
  readonly pauseMs: number;
  readonly report: (line: string) => void;
}

const LOOK_AGAIN_MS = 500;
/** Longest that members may take to be well again after one of them was away. */
const RECOVERY_MS = 120_000;

/**
 * Rewrites the files of all members, one at a time, the leader last: a member serves nothing meanwhile. Begins only when all
 * are well, and goes on only when all are well again.
 *
 * @throws {CommandError} One is not. @throws {StoreError}
 */
export async function defragmentAll(o: DefragmentOptions, signal: AbortSignal): Promise<void> {
  let left = await wellMembers(o.etcd, signal);
  for (let next = nextOf(left); next !== undefined; next = nextOf(left)) {
    const { endpoint, id, bytes } = next;
    o.report(`Defragmenting ${endpoint}${id === next.leader ? ', the leader' : ''}`);
    await o.etcd.defragment(endpoint, signal);
    const now = await recovered(o.etcd, signal);
    const after = now.find((it) => it.endpoint === endpoint)?.bytes ?? NaN;
    o.report(`Defragmented ${endpoint}: ${megabytes(bytes)} before, ${megabytes(after)} after`);
    const rest = new Set(left.filter((it) => it.id !== id).map((it) => it.id));
    // As they are now: the leader may be another one.
    left = now.filter((it) => rest.has(it.id));
    if (left.length > 0) await sleep(o.pauseMs, undefined, { signal });
  }
}

/** The leader is last. */
export const nextOf = (members: readonly MemberStatus[]): MemberStatus | undefined =>
  members.find(({ id, leader }) => id !== leader) ?? members[0];

export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** One endpoint a member. @throws {CommandError} */
async function wellMembers(etcd: Maintenance, signal: AbortSignal): Promise<readonly MemberStatus[]> {
  const { endpoints, faults } = await clusterState(etcd, signal);
  if (faults.length > 0) throw new CommandError(`Not all members are well: ${faults.join('; ')}`);
  const members = endpoints.flatMap(({ status }) => (status === undefined ? [] : [status]));
  return [...new Map(members.map((it) => [it.id, it])).values()];
}

async function recovered(etcd: Maintenance, signal: AbortSignal): Promise<readonly MemberStatus[]> {
  const end = performance.now() + RECOVERY_MS;
  for (;;) {
    try {
      return await wellMembers(etcd, signal);
    } catch (err) {
      if (!(err instanceof CommandError) || performance.now() > end) throw err;
      await sleep(LOOK_AGAIN_MS, undefined, { signal });
    }
  }
}
