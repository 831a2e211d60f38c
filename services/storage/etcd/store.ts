import {
  NO_REVISION,
  isStoreError,
  revision,
  type GetResult,
  type KeyValueStore,
  type LeaseId,
  type RangeOptions,
  type RangeResult,
  type Revision,
  type StoreCapabilities,
  type StoreError,
  type StoreSpace,
  type StoreWatch,
  type Transaction,
  type TransactionResult,
  type WatchHandler,
  type WatchOptions,
} from '../store.js';
import { Channel, type ChannelOptions } from './channel.js';
import { Deadlines } from './deadlines.js';
import { parseEndpoints, type TlsFiles } from './endpoints.js';
import { closedError, messageOf, unavailable } from './errors.js';
import { keySpace, prefixRange, rangeFrom, type KeySpace } from './keys.js';
import { GRANT, RENEW, REVOKE, checkRenewed, decodeGranted, encodeGrant, encodeLease } from './leases.js';
import { Lineage, replacedError, type Place } from './lineage.js';
import type { StoreLog } from './log.js';
import { STATUS, readVersions } from './members.js';
import {
  decodeHead,
  decodeRange,
  decodeSpace,
  decodeTxn,
  encodeCompaction,
  encodeGet,
  encodeHead,
  encodeRange,
  encodeTxn,
} from './messages.js';
import { SESSION_TIMES, type SessionTimes } from './session.js';
import { Http2Unary, type Method, type UnaryTransport } from './unary.js';
import { capabilitiesOf } from './versions.js';
import { EtcdWatch } from './watch.js';

export type StoreOperation = 'get' | 'list' | 'txn' | 'watch' | 'compact' | 'lease';

export interface EtcdStoreOptions extends TlsFiles {
  /** `http://host:port` or `https://host:port`, in the order in which they are tried. */
  readonly endpoints: readonly string[];
  /** Stands before every key in etcd, and is left out of every key that comes back. Default: none. */
  readonly prefix?: string;
  /** Longest that a call waits without hearing anything of its answer. Default 5000. */
  readonly requestTimeoutMs?: number;
  /** Longest that opening waits for a member to answer. Default 10000. */
  readonly openTimeoutMs?: number;
  /** Connection times that differ from SESSION_TIMES. */
  readonly times?: Partial<SessionTimes>;
  readonly log: StoreLog;
  /** Told after each call, failed ones included; for a watch, how long each opening took. */
  readonly observe?: (operation: StoreOperation, seconds: number, err?: unknown) => void;
}

/** Sorts before every key of ours. */
const NO_KEY = '\0';

const RANGE: Method = { path: '/etcdserverpb.KV/Range', name: 'Range', repeatable: true };
const TXN: Method = { path: '/etcdserverpb.KV/Txn', name: 'Txn', repeatable: false };
const COMPACT: Method = { path: '/etcdserverpb.KV/Compact', name: 'Compact', repeatable: false };

/**
 * Opens a store on etcd 3.4 or newer.
 * @throws {StoreError} `unavailable` when no endpoint answers within `openTimeoutMs`
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<KeyValueStore> {
  const deadlines = new Deadlines();
  const channel: ChannelOptions = {
    endpoints: parseEndpoints(options.endpoints),
    tls: options,
    times: { ...SESSION_TIMES, ...options.times },
    log: options.log,
  };
  const versions = await readVersions({ ...channel, deadlines, openTimeoutMs: options.openTimeoutMs ?? 10_000 });
  const capabilities = capabilitiesOf(versions);
  for (const warning of capabilities.warnings) options.log.warn('Store version has a known fault', { warning });
  return new EtcdStore(options, channel, deadlines, capabilities);
}

class EtcdStore implements KeyValueStore {
  readonly #o: EtcdStoreOptions;
  readonly #capabilities: StoreCapabilities;
  readonly #space: KeySpace;
  readonly #timeoutMs: number;
  readonly #transport: UnaryTransport & { close(): void };
  /** Watches have a connection of their own, so that a large answer holds up no event. */
  readonly #watchChannel: Channel;
  readonly #watches = new Set<EtcdWatch>();
  readonly #lineage = new Lineage();
  readonly #closing = new AbortController();
  /** Whether it is being asked if the store was replaced. */
  #doubting: Promise<StoreError | undefined> | undefined;
  #closed = false;

  constructor(o: EtcdStoreOptions, channel: ChannelOptions, deadlines: Deadlines, capabilities: StoreCapabilities) {
    this.#o = o;
    this.#capabilities = capabilities;
    this.#space = keySpace(o.prefix);
    this.#timeoutMs = o.requestTimeoutMs ?? 5000;
    this.#transport = new Http2Unary(new Channel(channel), deadlines);
    this.#watchChannel = new Channel(channel);
  }

  async head(signal: AbortSignal): Promise<Revision> {
    const floor = this.#lineage.newest;
    const head = decodeHead(await this.#call('get', RANGE, encodeHead(this.#space), signal));
    if (!this.#lineage.continues(head, floor)) throw this.#doubt(head.revision, floor);
    return head.revision;
  }

  async get(key: string, o: { readonly revision?: Revision }, signal: AbortSignal): Promise<GetResult> {
    const floor = this.#lineage.newest;
    const answer = await this.#call('get', RANGE, encodeGet(this.#space, key, o.revision), signal);
    const read = this.#told(decodeRange(answer, this.#space), floor);
    return { revision: read.revision, kv: read.kvs[0] };
  }

  /** The values are parts of one buffer: a caller that keeps a few of many for long should copy them. */
  async range(prefix: string, o: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    const range = o.from === undefined ? prefixRange(this.#space, prefix) : rangeFrom(this.#space, prefix, o.from);
    const floor = this.#lineage.newest;
    const answer = await this.#call('list', RANGE, encodeRange(range, o), signal);
    return this.#told(decodeRange(answer, this.#space), floor);
  }

  async transact(t: Transaction, signal: AbortSignal): Promise<TransactionResult> {
    const floor = this.#lineage.newest;
    const answer = await this.#call('txn', TXN, encodeTxn(this.#space, t), signal);
    const result = decodeTxn(answer, this.#space);
    const wrote = result.succeeded && t.operations.some(({ type }) => type === 'put');
    if (wrote && result.revision === floor) {
      const suspicion = `it gave a write revision ${floor} a second time`;
      throw this.#doubt(result.revision, revision(floor + 1), suspicion);
    }
    return this.#told(result, floor);
  }

  watch(o: WatchOptions, handler: WatchHandler): StoreWatch {
    if (this.#closed) throw closedError();
    const watch = new EtcdWatch(
      {
        channel: this.#watchChannel,
        space: this.#space,
        log: this.#o.log,
        reliableProgress: this.#capabilities.reliableProgress,
        confirmTimeoutMs: this.#timeoutMs,
        saw: (at) => this.#lineage.saw(at),
        verify: (place) => this.#verify(place),
        observe: (seconds) => this.#o.observe?.('watch', seconds),
        over: (it) => this.#watches.delete(it),
      },
      o,
      handler,
    );
    this.#watches.add(watch);
    return watch;
  }

  async compact(at: Revision, signal: AbortSignal): Promise<void> {
    await this.#call('compact', COMPACT, encodeCompaction(at), signal);
  }

  async grantLease(ttlSeconds: number, signal: AbortSignal): Promise<LeaseId> {
    return decodeGranted(await this.#call('lease', GRANT, encodeGrant(ttlSeconds), signal));
  }

  async renewLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    checkRenewed(await this.#call('lease', RENEW, encodeLease(lease), signal), lease);
  }

  async revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    await this.#call('lease', REVOKE, encodeLease(lease), signal);
  }

  async space(signal: AbortSignal): Promise<StoreSpace> {
    return decodeSpace(await this.#call('get', STATUS, Buffer.alloc(0), signal));
  }

  capabilities(): StoreCapabilities {
    return this.#capabilities;
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort(closedError());
    for (const watch of [...this.#watches]) watch.close();
    this.#watchChannel.close();
    this.#transport.close();
    return Promise.resolve();
  }

  /** Notes how far an answer says that history has come. @throws {StoreError} unavailable: not as far as `floor` */
  #told<T extends { readonly revision: Revision }>(answer: T, floor: Revision): T {
    if (answer.revision < floor) throw this.#doubt(answer.revision, floor);
    this.#lineage.saw(answer.revision);
    return answer;
  }

  /** An answer does not continue the history; whether the store was replaced is found out besides. */
  #doubt(told: Revision, floor: Revision, suspicion?: string): StoreError {
    void this.#ascertain(suspicion);
    return unavailable(`An answer is of revision ${told}, but it has to be ${floor} at least`);
  }

  /**
   * Asks once more, for a member that was stopped may answer with an old state. When the store was replaced all watches
   * end, and what it says now counts from here on.
   *
   * @param suspicion Evidence beside the head, which may look well.
   * @returns The error that ended them; undefined when it is the store that it was, or does not answer.
   */
  #ascertain(suspicion?: string): Promise<StoreError | undefined> {
    return (this.#doubting ??= this.#ask(suspicion).finally(() => (this.#doubting = undefined)));
  }

  async #ask(suspicion: string | undefined): Promise<StoreError | undefined> {
    const floor = this.#lineage.newest;
    try {
      const answer = await this.#call('get', RANGE, encodeHead(this.#space), this.#closing.signal);
      const head = decodeHead(answer);
      if (this.#lineage.continues(head, floor) && suspicion === undefined) return undefined;
      const error = replacedError(suspicion ?? `it is at revision ${head.revision}, and was at ${floor}`);
      this.#o.log.error('Store was replaced', { reason: error.message, revision: head.revision });
      this.#lineage.restart(head);
      for (const watch of [...this.#watches]) watch.end(error);
      return error;
    } catch (err) {
      if (!this.#closed) this.#o.log.warn('Store could not be asked for its history', { reason: messageOf(err) });
      return undefined;
    }
  }

  /**
   * Makes sure that a watch which goes on at `place` misses nothing.
   * @throws {StoreError} compacted, replaced, unavailable
   */
  async #verify({ next, last }: Place): Promise<void> {
    if (next <= 1) return;
    const before = revision(next - 1);
    const request = encodeGet(this.#space, last?.key ?? NO_KEY, before);
    let answer: Buffer;
    try {
      answer = await this.#call('get', RANGE, request, this.#closing.signal);
    } catch (err) {
      const ahead = isStoreError(err, 'future') && before <= this.#lineage.newest;
      const replaced = ahead ? await this.#ascertain() : undefined;
      if (replaced !== undefined || !isStoreError(err, 'future')) throw replaced ?? err;
      return; // a watch from a revision that is yet to come waits for it
    }
    const kv = decodeRange(answer, this.#space).kvs[0];
    const same =
      last === undefined || (kv?.modRevision ?? NO_REVISION) === (last.deleted ? NO_REVISION : last.modRevision);
    const known = this.#lineage.continues(decodeHead(answer), before);
    if (same && known) return;
    const suspicion = same ? undefined : `what was told of revision ${last.modRevision} is not in it`;
    throw (await this.#ascertain(suspicion)) ?? unavailable('the history could not be verified');
  }

  #call(operation: StoreOperation, method: Method, request: Buffer, signal: AbortSignal): Promise<Buffer> {
    const answer = this.#transport.call(method, request, this.#timeoutMs, signal);
    return this.#o.observe === undefined ? answer : this.#timed(operation, answer);
  }

  async #timed<T>(operation: StoreOperation, work: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const answer = await work;
      this.#o.observe?.(operation, (performance.now() - began) / 1000);
      return answer;
    } catch (err) {
      this.#o.observe?.(operation, (performance.now() - began) / 1000, err);
      throw err;
    }
  }
}
