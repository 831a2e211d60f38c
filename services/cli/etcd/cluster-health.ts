import type { Maintenance, MemberStatus } from '../../storage/etcd/maintenance.js';

/** What an endpoint answered. */
export interface EndpointState {
  readonly endpoint: string;
  readonly status: MemberStatus | undefined;
  /** What is wrong with it, for a person; empty when it is well. */
  readonly faults: readonly string[];
}

export interface ClusterState {
  readonly endpoints: readonly EndpointState[];
  /** Everything that is wrong, the faults of endpoints included. */
  readonly faults: readonly string[];
}

/** An alarm for space is told by `alarms`, and is what defragmenting is for. */
const IS_SPACE = /alarm:NOSPACE/;
/** Entries that a member may be behind and still count as well: it applies thousands a second. */
const MAY_LAG = 5000;

/** Asks every endpoint, and the cluster for its members. Does not fail: what does not answer is a fault. */
export async function clusterState(etcd: Maintenance, signal: AbortSignal): Promise<ClusterState> {
  const answers = await Promise.all(
    etcd.endpoints.map((endpoint) =>
      etcd.status(endpoint, signal).then(
        (status) => ({ endpoint, status, why: '' }),
        (err: unknown) => ({ endpoint, status: undefined, why: messageOf(err) }),
      ),
    ),
  );
  const known = answers.flatMap(({ status }) => (status === undefined ? [] : [status]));
  const ids = await etcd.memberIds(signal).catch(() => undefined);
  const endpoints = answers.map(({ endpoint, status, why }) => ({
    endpoint,
    status,
    faults: status === undefined ? [why] : memberFaults(status, known),
  }));
  const ofEndpoints = endpoints.flatMap(({ endpoint, faults }) => faults.map((it) => `${endpoint}: ${it}`));
  return { endpoints, faults: [...ofEndpoints, ...clusterFaults(known, ids)] };
}

/** @param all What every member that answers says. */
export function memberFaults(it: MemberStatus, all: readonly MemberStatus[]): readonly string[] {
  const newest = Math.max(...all.map(({ raftIndex }) => raftIndex));
  const behind = newest - it.raftAppliedIndex;
  return [
    ...(it.leader === '0' ? ['it has no leader'] : []),
    ...(it.isLearner ? ['it is a learner'] : []),
    ...(behind > MAY_LAG ? [`it is ${behind} entries behind`] : []),
    ...it.errors.filter((error) => !IS_SPACE.test(error)),
  ];
}

/** @param ids Of all members; undefined: nobody could say. */
export function clusterFaults(known: readonly MemberStatus[], ids: readonly string[] | undefined): readonly string[] {
  if (ids === undefined) return ['the members of the cluster are not known'];
  const leaders = new Set(known.map(({ leader }) => leader).filter((leader) => leader !== '0'));
  const asked = new Set(known.map(({ id }) => id));
  const missing = ids.filter((id) => !asked.has(id));
  const foreign = [...asked].filter((id) => !ids.includes(id));
  return [
    ...(leaders.size > 1 ? ['members follow different leaders'] : []),
    ...(missing.length > 0 ? [`no endpoint that answers is given for the members ${missing.map(hex).join(', ')}`] : []),
    ...(foreign.length > 0 ? [`the members ${foreign.map(hex).join(', ')} are of another cluster`] : []),
  ];
}

/** As etcd's own tools write ids. */
export const hex = (id: string): string => BigInt(id).toString(16);

const messageOf = (err: unknown): string => (err instanceof Error ? err.message : String(err));
