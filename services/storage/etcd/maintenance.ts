import { revision, type Revision } from '../store.js';
import { Channel } from './channel.js';
import { Deadlines } from './deadlines.js';
import { parseEndpoints, type Endpoint, type TlsFiles } from './endpoints.js';
import type { StoreLog } from './log.js';
import { STATUS } from './members.js';
import { SESSION_TIMES } from './session.js';
import { Http2Unary, type Method } from './unary.js';
import { Reader, ReverseWriter } from './wire.js';

/** What a member says of itself. */
export interface MemberStatus {
  readonly endpoint: string;
  /** Decimal, up to 64 bits. */
  readonly id: string;
  readonly version: string;
  /** Size of its file, and how much of that is in use. */
  readonly bytes: number;
  readonly bytesInUse: number;
  /** The member that it follows; '0' for none. */
  readonly leader: string;
  readonly revision: Revision;
  readonly raftTerm: number;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly isLearner: boolean;
  /** As it tells them, alarms among them. */
  readonly errors: readonly string[];
}

export type AlarmType = 'NONE' | 'NOSPACE' | 'CORRUPT';

export interface Alarm {
  /** The id of the member that it is about. */
  readonly member: string;
  readonly type: AlarmType;
}

export interface MaintenanceOptions extends TlsFiles {
  readonly endpoints: readonly string[];
  readonly log: StoreLog;
}

const ALARM_TYPES: readonly AlarmType[] = ['NONE', 'NOSPACE', 'CORRUPT'];
const ACTIONS = { get: 0, deactivate: 2 } as const;

const ALARM: Method = { path: '/etcdserverpb.Maintenance/Alarm', name: 'Alarm', repeatable: true };
const DEFRAGMENT: Method = { path: '/etcdserverpb.Maintenance/Defragment', name: 'Defragment', repeatable: false };
const MEMBERS: Method = { path: '/etcdserverpb.Cluster/MemberList', name: 'MemberList', repeatable: true };
const COMPACT: Method = { path: '/etcdserverpb.KV/Compact', name: 'Compact', repeatable: false };

const CALL_MS = 5000;
/** A member answers when it is done, which takes a second for some 100 MB. */
const LONG_MS = 10 * 60_000;

const writer = new ReverseWriter();
const NOTHING = Buffer.alloc(0);

/** What is asked of etcd as a cluster, and of its members one by one. */
export class Maintenance {
  readonly #members: readonly { readonly endpoint: Endpoint; readonly calls: Http2Unary }[];
  readonly #any: Http2Unary;

  constructor(o: MaintenanceOptions) {
    const endpoints = parseEndpoints(o.endpoints);
    const deadlines = new Deadlines();
    const callsTo = (some: readonly Endpoint[]): Http2Unary =>
      new Http2Unary(new Channel({ endpoints: some, tls: o, times: SESSION_TIMES, log: o.log }), deadlines);
    this.#any = callsTo(endpoints);
    // A shared connection goes to whichever member serves.
    this.#members = endpoints.map((endpoint) => ({ endpoint, calls: callsTo([endpoint]) }));
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ endpoint }) => endpoint.url);
  }

  /** @throws {StoreError} unavailable */
  async status(endpoint: string, signal: AbortSignal): Promise<MemberStatus> {
    return decodeStatus(endpoint, await this.#of(endpoint).call(STATUS, NOTHING, CALL_MS, signal));
  }

  /** The ids of all members that there are, whether they answer or not. */
  async memberIds(signal: AbortSignal): Promise<readonly string[]> {
    return decodeMembers(await this.#any.call(MEMBERS, NOTHING, CALL_MS, signal));
  }

  async alarms(signal: AbortSignal): Promise<readonly Alarm[]> {
    return decodeAlarms(await this.#any.call(ALARM, encodeAlarm(ACTIONS.get), CALL_MS, signal));
  }

  async disarm(alarm: Alarm, signal: AbortSignal): Promise<void> {
    await this.#any.call(ALARM, encodeAlarm(ACTIONS.deactivate, alarm), CALL_MS, signal);
  }

  /** Rewrites the file of one member, which serves nothing meanwhile. */
  async defragment(endpoint: string, signal: AbortSignal): Promise<void> {
    await this.#of(endpoint).call(DEFRAGMENT, NOTHING, LONG_MS, signal);
  }

  /** Drops history, and waits until its space is free. @throws {StoreError} compacted */
  async compact(at: Revision, signal: AbortSignal): Promise<void> {
    writer.begin();
    writer.uint(2, 1); // physical
    writer.uint(1, at);
    await this.#any.call(COMPACT, writer.finish(), LONG_MS, signal);
  }

  close(): void {
    this.#any.close();
    for (const { calls } of this.#members) calls.close();
  }

  #of(endpoint: string): Http2Unary {
    const found = this.#members.find((it) => it.endpoint.url === endpoint);
    if (found === undefined) throw new Error(`No member is known at ${endpoint}`);
    return found.calls;
  }
}

// Field numbers are those of proto/etcd/rpc.proto; the tests run against etcd. Ids are unsigned and of 64 bits.

const idOf = (r: Reader): string => BigInt.asUintN(64, r.bigint()).toString();

function encodeAlarm(action: number, alarm?: Alarm): Buffer {
  writer.begin();
  if (alarm !== undefined) {
    writer.uint(3, ALARM_TYPES.indexOf(alarm.type));
    writer.big(2, BigInt(alarm.member));
  }
  writer.uint(1, action);
  return writer.finish();
}

function decodeAlarms(answer: Buffer): Alarm[] {
  const alarms: Alarm[] = [];
  const r = new Reader(answer);
  while (r.next()) {
    if (r.field === 2) alarms.push(decodeAlarm(r.message()));
    else r.skip();
  }
  return alarms;
}

function decodeAlarm(r: Reader): Alarm {
  const alarm = { member: '0', type: 0 };
  while (r.next()) {
    if (r.field === 1) alarm.member = idOf(r);
    else if (r.field === 2) alarm.type = r.int();
    else r.skip();
  }
  return { member: alarm.member, type: ALARM_TYPES[alarm.type] ?? 'NONE' };
}

function decodeMembers(answer: Buffer): string[] {
  const ids: string[] = [];
  const r = new Reader(answer);
  while (r.next()) {
    if (r.field === 2) ids.push(decodeMember(r.message()));
    else r.skip();
  }
  return ids;
}

function decodeMember(r: Reader): string {
  let id = '0';
  while (r.next()) {
    if (r.field === 1) id = idOf(r);
    else r.skip();
  }
  return id;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const STATUS_FIELDS: Readonly<Record<number, (s: Mutable<MemberStatus>, r: Reader) => void>> = {
  1: (s, r) => decodeHeader(s, r.message()),
  2: (s, r) => (s.version = r.text()),
  3: (s, r) => (s.bytes = r.int()),
  4: (s, r) => (s.leader = idOf(r)),
  5: (s, r) => (s.raftIndex = r.int()),
  6: (s, r) => (s.raftTerm = r.int()),
  7: (s, r) => (s.raftAppliedIndex = r.int()),
  8: (s, r) => (s.errors = [...s.errors, r.text()]),
  9: (s, r) => (s.bytesInUse = r.int()),
  10: (s, r) => (s.isLearner = r.int() !== 0),
};

function decodeStatus(endpoint: string, answer: Buffer): MemberStatus {
  const status: Mutable<MemberStatus> = {
    endpoint,
    id: '0',
    version: '',
    bytes: 0,
    bytesInUse: 0,
    leader: '0',
    revision: revision(0),
    raftTerm: 0,
    raftIndex: 0,
    raftAppliedIndex: 0,
    isLearner: false,
    errors: [],
  };
  const r = new Reader(answer);
  while (r.next()) {
    const read = STATUS_FIELDS[r.field];
    if (read === undefined) r.skip();
    else read(status, r);
  }
  return status;
}

function decodeHeader(status: Mutable<MemberStatus>, r: Reader): void {
  while (r.next()) {
    if (r.field === 2) status.id = idOf(r);
    else if (r.field === 3) status.revision = revision(r.int());
    else r.skip();
  }
}
