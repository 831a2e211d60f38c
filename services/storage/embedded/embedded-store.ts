import { mkdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import {
  StoreError,
  revision,
  type GetResult,
  type KeyValueStore,
  type LeaseId,
  type RangeOptions,
  type RangeResult,
  type Revision,
  type StoreCapabilities,
  type StoreSpace,
  type StoreWatch,
  type Transaction,
  type TransactionResult,
  type WatchHandler,
  type WatchOptions,
} from '../store.js';
import { Compaction } from './compaction.js';
import { Environment } from './environment.js';
import { GroupCommit, type Batch } from './group-commit.js';
import { Leases } from './leases.js';
import { own, type Ownership } from './ownership.js';
import { Reader } from './reader.js';
import { NO_LEASE } from './records.js';
import { Transactor } from './transactor.js';
import { Watchers } from './watchers.js';

export interface EmbeddedLog {
  info(message: string, keys: object): void;
  error(message: string, keys: object): void;
}

export type EmbeddedOperation = 'get' | 'list' | 'txn' | 'watch' | 'compact' | 'lease';

export interface EmbeddedStoreOptions {
  /** Created when it is missing. One process at a time may have it open. */
  readonly directory: string;
  readonly log: EmbeddedLog;
  /** A write could not be made durable, so nothing can be promised any more: every later call fails. Called once. */
  readonly onFatal: (err: StoreError) => void;
  /** @param err Why it failed. */
  readonly observe?: (operation: EmbeddedOperation, seconds: number, err?: unknown) => void;
}

/** What this store can do beside others. */
export interface EmbeddedKeyValueStore extends KeyValueStore {
  /** The next write is at a revision above `at`: those between are never written. */
  skipTo(at: Revision): void;
}

const READ_MS_PER_TURN = 4;

/** As etcd: the revision of a store in which nothing was written. */
const FIRST_REVISION = revision(1);

/**
 * Opens the store in `directory`, for this process alone. Reads are answered from the page cache at once; a write is
 * acknowledged when it is on the disk and every watch has been told of it.
 * @throws {StoreError} unavailable: another process has it open. corrupt, noSpace
 */
export async function openEmbeddedStore(o: EmbeddedStoreOptions): Promise<EmbeddedKeyValueStore> {
  const began = performance.now();
  makeDirectory(o.directory);
  const ownership = own(o.directory);
  try {
    const store = new EmbeddedStore(o, Environment.open(o.directory), ownership);
    const openedMs = Math.round(performance.now() - began);
    o.log.info('Store opened', { directory: o.directory, revision: store.newest, openedMs });
    return await Promise.resolve(store);
  } catch (err) {
    ownership.release();
    throw err;
  }
}

/** Only this user may read what is stored. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (err) {
    throw new StoreError('unavailable', `Cannot make a directory at ${directory}`, { cause: err });
  }
}

class EmbeddedStore implements EmbeddedKeyValueStore {
  readonly #o: EmbeddedStoreOptions;
  readonly #env: Environment;
  readonly #ownership: Ownership;
  readonly #reader: Reader;
  readonly #commit: GroupCommit;
  readonly #transactor: Transactor;
  readonly #leases: Leases;
  readonly #watchers: Watchers;
  readonly #compaction: Compaction;
  /** The newest revision that is durable, readable, and delivered to every watch. */
  #head: Revision;
  /** The last batch found no room on the disk. */
  #full = false;
  /** Milliseconds of this turn of the event loop that reads have taken. */
  #readMs = 0;
  /** The failure of every later call; undefined while the store is open. */
  #over: StoreError | undefined;
  #closing: Promise<void> | undefined;

  constructor(o: EmbeddedStoreOptions, env: Environment, ownership: Ownership) {
    this.#o = o;
    this.#env = env;
    this.#ownership = ownership;
    this.#reader = new Reader(env);
    this.#head = this.#reader.lastRevision() ?? FIRST_REVISION;
    this.#commit = new GroupCommit({
      env,
      released: (batch) => {
        this.#released(batch);
      },
      refused: (err) => {
        this.#refused(err);
      },
      failed: (err) => {
        this.#fail(err);
      },
    });
    this.#leases = new Leases({ env, commit: this.#commit });
    this.#transactor = new Transactor({
      reader: this.#reader,
      commit: this.#commit,
      head: this.#head,
      leaseNumber: (op) => (op.type === 'put' && op.lease !== undefined ? this.#leases.numberOf(op.lease) : NO_LEASE),
    });
    this.#compaction = new Compaction({
      env,
      reader: this.#reader,
      commit: this.#commit,
      failed: (err) => {
        o.log.error('Sweep after a compaction failed', { err });
      },
    });
    this.#watchers = new Watchers({
      reader: this.#reader,
      head: () => this.#head,
      compacted: () => this.#compaction.at,
      handlerFailed: (err) => {
        o.log.error('Watch handler failed at its end', { err });
      },
    });
    this.#leases.start(this.#transactor);
    this.#compaction.sweep();
  }

  get newest(): Revision {
    return this.#head;
  }

  async head(signal: AbortSignal): Promise<Revision> {
    this.#check(signal);
    return Promise.resolve(this.#head);
  }

  async get(key: string, o: { readonly revision?: Revision }, signal: AbortSignal): Promise<GetResult> {
    return this.#read('get', signal, () => {
      const at = this.#readable(o.revision);
      const kv = at === undefined ? this.#reader.get(key) : this.#reader.getAt(key, at);
      return { revision: this.#head, kv };
    });
  }

  async range(prefix: string, o: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    return this.#read('list', signal, () => {
      if (o.limit !== undefined && !(o.limit >= 1)) {
        throw new RangeError(`Cannot read ${o.limit} entries: the least is 1`);
      }
      const at = this.#readable(o.revision);
      const found = at === undefined ? this.#reader.range(prefix, o) : this.#reader.rangeAt(prefix, at, o);
      return { revision: this.#head, ...found };
    });
  }

  async transact(t: Transaction, signal: AbortSignal): Promise<TransactionResult> {
    return this.#write('txn', signal, () => {
      this.#commit.assertRoom();
      return this.#transactor.decide(t);
    });
  }

  skipTo(at: Revision): void {
    if (this.#over !== undefined) throw this.#over;
    this.#transactor.skipTo(at);
  }

  watch(o: WatchOptions, handler: WatchHandler): StoreWatch {
    if (this.#over !== undefined) throw this.#over;
    const began = performance.now();
    const watch = this.#watchers.open(o, handler);
    this.#o.observe?.('watch', (performance.now() - began) / 1000);
    return watch;
  }

  async compact(at: Revision, signal: AbortSignal): Promise<void> {
    await this.#write('compact', signal, () => {
      this.#compaction.decide(at, this.#head);
    });
  }

  async grantLease(ttlSeconds: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#write('lease', signal, () => this.#leases.grant(ttlSeconds));
  }

  async renewLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    await this.#write('lease', signal, () => {
      this.#leases.renew(lease);
    });
  }

  async revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    await this.#write('lease', signal, () => {
      this.#leases.revoke(lease, this.#transactor);
    });
  }

  async space(signal: AbortSignal): Promise<StoreSpace> {
    this.#check(signal);
    return Promise.resolve({ full: this.#full, bytes: this.#env.bytes });
  }

  capabilities(): StoreCapabilities {
    return { reliableProgress: true, warnings: [] };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#shutDown());
  }

  /** Reads released state, which writes under way do not change: the answer is given at once. */
  async #read<T>(operation: EmbeddedOperation, signal: AbortSignal, act: () => T): Promise<T> {
    this.#check(signal);
    if (this.#readMs > READ_MS_PER_TURN) {
      await nextTurn(undefined, { signal }).catch(() => undefined); // #check throws the signal's own reason
      this.#check(signal);
    }
    const began = performance.now();
    try {
      return act();
    } finally {
      const tookMs = performance.now() - began;
      this.#o.observe?.(operation, tookMs / 1000);
      this.#countRead(tookMs);
    }
  }

  /** Decides now, and answers when the decision, and the state that it was made from, is durable. */
  async #write<T>(operation: EmbeddedOperation, signal: AbortSignal, act: () => T): Promise<T> {
    this.#check(signal);
    const began = performance.now();
    try {
      const result = act();
      const durable = this.#commit.idle ? result : await this.#commit.durable(result, signal);
      this.#o.observe?.(operation, (performance.now() - began) / 1000);
      return durable;
    } catch (err) {
      this.#o.observe?.(operation, (performance.now() - began) / 1000, err);
      throw err;
    }
  }

  /** Reads never wait, so a loop of reads would leave no turn to other work. */
  #countRead(tookMs: number): void {
    if (this.#readMs === 0) setImmediate(() => (this.#readMs = 0));
    this.#readMs += Math.max(tookMs, 0.001);
  }

  #check(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#over !== undefined) throw this.#over;
  }

  /** The revision to look up in history; undefined = the present state. @throws {StoreError} compacted, future */
  #readable(at: Revision | undefined): Revision | undefined {
    if (at === undefined) return undefined;
    if (at > this.#head) throw new StoreError('future', `Cannot read at ${at}: the newest revision is ${this.#head}`);
    const compactRevision = this.#compaction.at;
    if (at < compactRevision) {
      throw new StoreError('compacted', `Cannot read at ${at}: history begins at ${compactRevision}`, {
        compactRevision,
      });
    }
    return at === this.#head ? undefined : at;
  }

  #released(batch: Batch): void {
    if (batch.writes.length > 0) this.#full = false;
    if (batch.head !== undefined) this.#head = batch.head;
    this.#transactor.released(batch);
    this.#watchers.deliver(batch.changes);
  }

  /** A batch found no room: it is undone, and so is all that was decided after it. */
  #refused(err: StoreError): void {
    if (!this.#full) this.#o.log.error('Store has no space left', { err });
    this.#full = true;
    this.#transactor.reset(this.#head);
    this.#leases.reset();
    this.#compaction.reset();
  }

  #fail(err: StoreError): void {
    if (this.#over !== undefined) return;
    this.#over = err;
    this.#rest();
    this.#o.log.error('Store failed', { err });
    this.#watchers.end(err);
    this.#o.onFatal(err);
  }

  /** Stops the work that the store does by itself. */
  #rest(): void {
    this.#leases.stop();
    this.#compaction.stop();
  }

  async #shutDown(): Promise<void> {
    const closed = new StoreError('closed', 'The store is closed');
    this.#over = closed;
    this.#rest();
    this.#watchers.end();
    try {
      await this.#commit.close(closed);
      await this.#compaction.swept();
      await this.#env.close();
      this.#ownership.release();
    } catch (err) {
      this.#o.log.error('Store did not close well', { err });
    }
  }
}
