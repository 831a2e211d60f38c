import { PageSize } from '../page-size.js';
import { keyAfter, type Snapshot, type SnapshotEntry, type SnapshotSource } from '../snapshot.js';
import { revision, type KeyValue, type LeaseId, type Revision } from '../store.js';
import { Channel } from './channel.js';
import { Deadlines } from './deadlines.js';
import { parseEndpoints, type TlsFiles } from './endpoints.js';
import { keySpace, prefixRange, rangeFrom, type KeyRange } from './keys.js';
import { encodeLease } from './leases.js';
import type { StoreLog } from './log.js';
import { EMPTY, decodeHeader, encodeGet, encodeRange } from './messages.js';
import { SESSION_TIMES } from './session.js';
import { Http2Unary, type Method, type UnaryTransport } from './unary.js';
import { Reader } from './wire.js';

export interface EtcdSnapshotOptions extends TlsFiles {
  readonly endpoints: readonly string[];
  /** Longest that a call waits without hearing anything of its answer. Default 5000. */
  readonly requestTimeoutMs?: number;
  readonly log: StoreLog;
}

const RANGE: Method = { path: '/etcdserverpb.KV/Range', name: 'Range', repeatable: true };
const TIME_LEFT: Method = { path: '/etcdserverpb.Lease/LeaseTimeToLive', name: 'LeaseTimeToLive', repeatable: true };

const SPACE = keySpace();
/** However small entries are. */
const MOST_IN_PAGE = 20_000;

/** Reads pages at one revision, which etcd keeps until somebody compacts it. */
export function etcdSnapshots(o: EtcdSnapshotOptions): SnapshotSource {
  const channel = new Channel({ endpoints: parseEndpoints(o.endpoints), tls: o, times: SESSION_TIMES, log: o.log });
  const transport = new Http2Unary(channel, new Deadlines());
  const calls = new Calls(transport, o.requestTimeoutMs ?? 5000);
  return {
    take: async (prefix, signal) => {
      const first = await calls.range(prefixRange(SPACE, prefix), { limit: 1 }, signal);
      return new EtcdSnapshot(calls, prefix, first);
    },
    close: () => {
      transport.close();
      return Promise.resolve();
    },
  };
}

interface Page {
  readonly revision: Revision;
  readonly entries: readonly SnapshotEntry[];
  readonly more: boolean;
  readonly count: number;
}

class Calls {
  readonly #transport: UnaryTransport;
  readonly #timeoutMs: number;

  constructor(transport: UnaryTransport, timeoutMs: number) {
    this.#transport = transport;
    this.#timeoutMs = timeoutMs;
  }

  async range(
    keys: KeyRange,
    o: { readonly revision?: Revision; readonly limit: number },
    signal: AbortSignal,
  ): Promise<Page> {
    return decodePage(await this.#transport.call(RANGE, encodeRange(keys, o), this.#timeoutMs, signal));
  }

  async get(key: string, at: Revision, signal: AbortSignal): Promise<KeyValue | undefined> {
    const answer = await this.#transport.call(RANGE, encodeGet(SPACE, key, at), this.#timeoutMs, signal);
    return decodePage(answer).entries[0];
  }

  async secondsLeft(lease: LeaseId, signal: AbortSignal): Promise<number | undefined> {
    const answer = await this.#transport.call(TIME_LEFT, encodeLease(lease), this.#timeoutMs, signal);
    return decodeSecondsLeft(answer);
  }
}

class EtcdSnapshot implements Snapshot {
  readonly revision: Revision;
  readonly count: number;
  readonly #calls: Calls;
  readonly #prefix: string;

  constructor(calls: Calls, prefix: string, o: Pick<Page, 'revision' | 'count'>) {
    this.#calls = calls;
    this.#prefix = prefix;
    this.revision = o.revision;
    this.count = o.count;
  }

  get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    return this.#calls.get(key, this.revision, signal);
  }

  async *pages(signal: AbortSignal): AsyncGenerator<readonly SnapshotEntry[]> {
    const size = new PageSize(MOST_IN_PAGE);
    let keys: KeyRange | undefined = prefixRange(SPACE, this.#prefix);
    while (keys !== undefined) {
      const page: Page = await this.#calls.range(keys, { revision: this.revision, limit: size.entries }, signal);
      size.learn(page.entries);
      yield page.entries;
      const last = page.entries.at(-1);
      keys = page.more && last !== undefined ? rangeFrom(SPACE, this.#prefix, keyAfter(last.key)) : undefined;
    }
  }

  secondsLeft(lease: LeaseId, signal: AbortSignal): Promise<number | undefined> {
    return this.#calls.secondsLeft(lease, signal);
  }
}

// Field numbers are those of proto/etcd/rpc.proto; the tests run against etcd.

function decodePage(answer: Buffer): Page {
  const entries: SnapshotEntry[] = [];
  const page = { revision: revision(0), more: false, count: 0 };
  const r = new Reader(answer);
  while (r.next()) {
    if (r.field === 1) page.revision = decodeHeader(r.message());
    else if (r.field === 2) entries.push(decodeEntry(r.message()));
    else if (r.field === 3) page.more = r.int() !== 0;
    else if (r.field === 4) page.count = r.int();
    else r.skip();
  }
  return { ...page, entries };
}

function decodeEntry(r: Reader): SnapshotEntry {
  const entry = { key: '', value: EMPTY, createRevision: 0, modRevision: 0, lease: 0n };
  while (r.next()) {
    if (r.field === 1) entry.key = r.text();
    else if (r.field === 2) entry.createRevision = r.int();
    else if (r.field === 3) entry.modRevision = r.int();
    else if (r.field === 5) entry.value = r.bytes();
    else if (r.field === 6) entry.lease = r.bigint();
    else r.skip();
  }
  return {
    key: entry.key,
    value: entry.value,
    createRevision: revision(entry.createRevision),
    modRevision: revision(entry.modRevision),
    lease: entry.lease === 0n ? undefined : (entry.lease.toString() as LeaseId),
  };
}

/** etcd tells of a lease that has ended as of one with -1 s left. */
function decodeSecondsLeft(answer: Buffer): number | undefined {
  let seconds = 0n;
  const r = new Reader(answer);
  while (r.next()) {
    if (r.field === 3) seconds = r.bigint();
    else r.skip();
  }
  return seconds < 0n ? undefined : Number(seconds);
}
