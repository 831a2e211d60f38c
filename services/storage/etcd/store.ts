import type {
  GetResult,
  KeyValueStore,
  LeaseId,
  RangeOptions,
  RangeResult,
  Revision,
  StoreCapabilities,
  StoreWatch,
  Transaction,
  TransactionResult,
  WatchHandler,
  WatchOptions,
} from '../store.js';
import { Channel, type ChannelOptions } from './channel.js';
import { Deadlines } from './deadlines.js';
import { parseEndpoints, type TlsFiles } from './endpoints.js';
import { closedError } from './errors.js';
import { keySpace, prefixRange, rangeFrom, type KeySpace } from './keys.js';
import { Leases } from './leases.js';
import type { StoreLog } from './log.js';
import { readVersions } from './members.js';
import { decodeRange, decodeTxn, encodeCompaction, encodeGet, encodeHead, encodeRange, encodeTxn } from './messages.js';
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
  /** Longest that any single call may take. Default 5000. */
  readonly requestTimeoutMs?: number;
  /** Longest that opening waits for a member to answer. Default 10000. */
  readonly openTimeoutMs?: number;
  /** Connection times that differ from SESSION_TIMES. */
  readonly times?: Partial<SessionTimes>;
  readonly log: StoreLog;
  /** Told after each call, failed ones included; for a watch, how long each opening took. */
  readonly observe?: (operation: StoreOperation, seconds: number) => void;
}

const RANGE: Method = { path: '/etcdserverpb.KV/Range', name: 'Range', readOnly: true };
const TXN: Method = { path: '/etcdserverpb.KV/Txn', name: 'Txn', readOnly: false };
const COMPACT: Method = { path: '/etcdserverpb.KV/Compact', name: 'Compact', readOnly: false };

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
  readonly #leases: Leases;
  readonly #watches = new Set<EtcdWatch>();
  #closed = false;

  constructor(o: EtcdStoreOptions, channel: ChannelOptions, deadlines: Deadlines, capabilities: StoreCapabilities) {
    this.#o = o;
    this.#capabilities = capabilities;
    this.#space = keySpace(o.prefix);
    this.#timeoutMs = o.requestTimeoutMs ?? 5000;
    this.#transport = new Http2Unary(new Channel(channel), deadlines);
    this.#watchChannel = new Channel(channel);
    this.#leases = new Leases({ endpoints: channel.endpoints, tls: channel.tls, timeoutMs: this.#timeoutMs });
  }

  async head(signal: AbortSignal): Promise<Revision> {
    const answer = await this.#call('get', RANGE, encodeHead(this.#space), signal);
    return decodeRange(answer, this.#space).revision;
  }

  async get(key: string, o: { readonly revision?: Revision }, signal: AbortSignal): Promise<GetResult> {
    const answer = await this.#call('get', RANGE, encodeGet(this.#space, key, o.revision), signal);
    const { revision, kvs } = decodeRange(answer, this.#space);
    return { revision, kv: kvs[0] };
  }

  /** The values are parts of one buffer: whoever keeps a few of many for long should copy them. */
  async range(prefix: string, o: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    const range = o.from === undefined ? prefixRange(this.#space, prefix) : rangeFrom(this.#space, prefix, o.from);
    return decodeRange(await this.#call('list', RANGE, encodeRange(range, o), signal), this.#space);
  }

  async transact(t: Transaction, signal: AbortSignal): Promise<TransactionResult> {
    return decodeTxn(await this.#call('txn', TXN, encodeTxn(this.#space, t), signal), this.#space);
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

  grantLease(ttlSeconds: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#timed('lease', this.#leases.grant(ttlSeconds, signal));
  }

  renewLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    return this.#timed('lease', this.#leases.renew(lease, signal));
  }

  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    return this.#timed('lease', this.#leases.revoke(lease, signal));
  }

  capabilities(): StoreCapabilities {
    return this.#capabilities;
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const watch of [...this.#watches]) watch.close();
    this.#watchChannel.close();
    this.#transport.close();
    this.#leases.close();
    return Promise.resolve();
  }

  #call(operation: StoreOperation, method: Method, request: Buffer, signal: AbortSignal): Promise<Buffer> {
    const answer = this.#transport.call(method, request, this.#timeoutMs, signal);
    return this.#o.observe === undefined ? answer : this.#timed(operation, answer);
  }

  async #timed<T>(operation: StoreOperation, work: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work;
    } finally {
      this.#o.observe?.(operation, (performance.now() - began) / 1000);
    }
  }
}
