/**
 * A revision of the store: 1 and up, one step per transaction that wrote something. A number is wide enough inside
 * (2^53 writes will not come); what a client sent stays a string until parsed. 0 stands for "no such key".
 */
export type Revision = number & { readonly __brand: 'Revision' };

/** Names a number as a revision; the caller vouches for it. */
export const revision = (n: number): Revision => n as Revision;
export const NO_REVISION: Revision = revision(0);

/** A lease as the store names it: decimal, up to 64 bits, so never a number. */
export type LeaseId = string & { readonly __brand: 'LeaseId' };

/** One key as it stood at some revision. `value` is the store's own bytes: do not write to it. */
export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** It is stored in a form that the next write of it should leave; see `encryption/`. */
  readonly stale?: true;
  /** The value cannot be read, for this reason, and is empty here. */
  readonly unreadable?: Error;
}

/** Holds when `key` was last written at exactly `modRevision`; 0 = when it does not exist. */
export interface Condition {
  readonly key: string;
  readonly modRevision: Revision;
}

export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Buffer; readonly lease?: LeaseId }
  | { readonly type: 'delete'; readonly key: string };

/** All of `conditions` hold: all of `operations` happen at one revision. Else nothing does. A key appears once. */
export interface Transaction {
  readonly conditions: readonly Condition[];
  readonly operations: readonly Operation[];
  /** Keys to read, in the same transaction, when a condition did not hold. */
  readonly otherwiseGet?: readonly string[];
}

export type TransactionResult =
  | {
      readonly succeeded: true;
      /** The revision of this write; the head revision when `operations` changed nothing (a delete of a missing key). */
      readonly revision: Revision;
    }
  | {
      readonly succeeded: false;
      readonly revision: Revision;
      /** The present values of `otherwiseGet`, in its order. */
      readonly found: readonly (KeyValue | undefined)[];
    };

export interface GetResult {
  /** Head revision at the time of the read. */
  readonly revision: Revision;
  readonly kv: KeyValue | undefined;
}

export interface RangeOptions {
  /** Read as of this revision. Absent: the newest, linearizable. */
  readonly revision?: Revision;
  /** Most entries to return, 1 or more. Absent: all. */
  readonly limit?: number;
  /** Starts at the first key that is not below this one (bytewise). Absent: the first of the prefix. */
  readonly from?: string;
}

export interface RangeResult {
  /** Head revision at the time of the read (also when an older one was asked for). */
  readonly revision: Revision;
  /** In bytewise key order. */
  readonly kvs: readonly KeyValue[];
  /** Whether entries are left behind `limit`. */
  readonly more: boolean;
  /**
   * How many entries there are from `from` to the end of the prefix, whatever `limit` says; undefined where the store
   * would have to walk all of them to tell (a page of an old revision).
   */
  readonly count: number | undefined;
}

export interface StoreEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** The new value of a put; empty for a delete. */
  readonly value: Buffer;
  readonly createRevision: Revision;
  /** The revision of this change. */
  readonly modRevision: Revision;
  /** The value before this change, when the watch asked for it and there was one that is not yet compacted. */
  readonly previous: Buffer | undefined;
  /** As in a `KeyValue`; of an event whose previous value cannot be read, too. */
  readonly stale?: true;
  readonly unreadable?: Error;
}

export interface WatchOptions {
  /** Watches every key that starts with this. */
  readonly prefix: string;
  /** First revision to deliver. */
  readonly from: Revision;
  /** Whether events carry the value before the change. */
  readonly withPrevious?: boolean;
}

/**
 * Receives what a watch delivers. Calls come one at a time, in revision order; none comes after `close()` or `ended`.
 * A handler that throws ends its watch with that error.
 */
export interface WatchHandler {
  /**
   * Changes in revision order. A revision is never split over two calls, never skipped and never repeated, whatever
   * happens to the connection in between.
   */
  events(batch: readonly StoreEvent[]): void;
  /** Everything up to and including `revision` has been delivered. */
  progress?(revision: Revision): void;
  /** The watch lost (false) or found again (true) its store. It resumes by itself. */
  connected?(up: boolean): void;
  /**
   * The watch is over. `compacted`: the next revision to deliver is not above the one that history was dropped up to, so
   * what was missed cannot be told. `replaced`: the store was restored from a copy, or another stands in its place; all
   * that was read of it before is void. Any other error is a fault that retrying does not heal. Not called after `close()`.
   */
  ended(error: StoreError): void;
}

export interface StoreWatch {
  /** Asks for a `progress` call, soon and once; asking again meanwhile changes nothing. */
  requestProgress(): void;
  /** Stops delivery; what arrives meanwhile waits at the store's side or in a bounded buffer. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** How much room a store takes, and whether there is more. */
export interface StoreSpace {
  /** It is out of space: it refuses what is to be kept (`noSpace`), and reads, deletes and compacts. */
  readonly full: boolean;
  /** Size of its file; of etcd, that of the member which answered. */
  readonly bytes: number;
}

/** Differences between stores and versions of a store. */
export interface StoreCapabilities {
  /**
   * Whether reads may be answered from a cache that follows the watch up to `head()`. False where known faults make
   * watch progress unreliable; consistent reads then go to the store itself.
   */
  readonly reliableProgress: boolean;
  /** One line per known fault of the versions in use, for the log. */
  readonly warnings: readonly string[];
}

/**
 * A linearizable, revisioned key-value store with a change feed. Every method that waits takes a signal and throws its
 * reason when it fires, and is bounded by the store's own deadline besides (`unavailable`). After `close()` everything
 * throws `closed`.
 */
export interface KeyValueStore {
  /** The newest revision, linearizable: not older than any write that was acknowledged before the call. */
  head(signal: AbortSignal): Promise<Revision>;

  /** Reads one key. Linearizable, or as of `o.revision`. @throws {StoreError} compacted, future, unavailable */
  get(key: string, o: { readonly revision?: Revision }, signal: AbortSignal): Promise<GetResult>;

  /** Reads the keys that start with `prefix`. @throws {StoreError} compacted, future, unavailable */
  range(prefix: string, o: RangeOptions, signal: AbortSignal): Promise<RangeResult>;

  /**
   * Writes durably and atomically. @throws {StoreError} `unavailable` when the outcome is unknown or nothing was
   * written, `tooLarge`, `noSpace`, `leaseNotFound`. It is never sent twice.
   */
  transact(t: Transaction, signal: AbortSignal): Promise<TransactionResult>;

  /** Follows changes from `o.from` on. Returns at once; the store reconnects by itself until `close()` or `ended`. */
  watch(o: WatchOptions, handler: WatchHandler): StoreWatch;

  /**
   * Drops history up to and including `at`: reads below it fail with `compacted`, and so do watches from it or below (a
   * deletion at `at` itself may be gone); the newest value of each key stays. @throws {StoreError} `compacted` when it is already, `future`.
   */
  compact(at: Revision, signal: AbortSignal): Promise<void>;

  /** Makes a lease that ends `ttlSeconds` (1 or more) after the last renewal; its keys are then deleted. */
  grantLease(ttlSeconds: number, signal: AbortSignal): Promise<LeaseId>;
  /** @throws {StoreError} leaseNotFound */
  renewLease(lease: LeaseId, signal: AbortSignal): Promise<void>;
  /** Ends a lease now and deletes its keys. @throws {StoreError} leaseNotFound */
  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void>;

  space(signal: AbortSignal): Promise<StoreSpace>;

  capabilities(): StoreCapabilities;

  /** Ends watches (without `ended`) and connections. Safe to call twice; never throws. */
  close(): Promise<void>;
}

/**
 * - `compacted`: the asked revision is older than the history that is kept
 * - `future`: the asked revision has not been written yet
 * - `unavailable`: no answer came in time, or it was lost. Of a write it says whether it may have been done (`mayBeDone`)
 * - `tooLarge`: the store refuses a value or transaction of that size
 * - `noSpace`: the store's quota or disk is full. etcd keeps a write that finds it full only when it is applied, and refuses
 *   it all the same: the outcome of the first refused write is unknown
 * - `leaseNotFound`: the lease ended
 * - `denied`: the store refuses these credentials
 * - `closed`: the store was closed
 * - `corrupt`: what is stored cannot be read
 * - `encryption`: a value cannot be encrypted now; nothing was written, and the message may be told to clients
 * - `replaced`: the store has another history than it told before; ends watches only
 */
export type StoreErrorCode =
  | 'compacted'
  | 'future'
  | 'unavailable'
  | 'tooLarge'
  | 'noSpace'
  | 'leaseNotFound'
  | 'denied'
  | 'closed'
  | 'corrupt'
  | 'encryption'
  | 'replaced';

export interface StoreErrorOptions {
  readonly cause?: unknown;
  readonly compactRevision?: Revision;
  readonly mayBeDone?: boolean;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** With `compacted`: the oldest revision that can still be read, when the store told. */
  readonly compactRevision: Revision | undefined;
  /** It is of a write that was sent, and of which nobody knows whether it was done: sent again, it may be done twice. */
  readonly mayBeDone: boolean;

  constructor(code: StoreErrorCode, message: string, o: StoreErrorOptions = {}) {
    super(message, { cause: o.cause });
    this.code = code;
    this.compactRevision = o.compactRevision;
    this.mayBeDone = o.mayBeDone ?? false;
  }
}

/** Looks through `cause`. */
export const isStoreError = (err: unknown, code: StoreErrorCode): boolean => storeErrorOf(err, code) !== undefined;

/** The store's own error within `err`, when it is of this kind. */
export function storeErrorOf(err: unknown, code: StoreErrorCode): StoreError | undefined {
  for (let e = err; e instanceof Error; e = e.cause) {
    if (e instanceof StoreError) return e.code === code ? e : undefined;
  }
  return undefined;
}
