import type { ApiObject } from '../../machinery/meta/object.js';
import { badRequest, conflict, StatusError } from '../../machinery/meta/status.js';
import {
  isStoreError,
  NO_REVISION,
  revision,
  type KeyValue,
  type KeyValueStore,
  type LeaseId,
  type Operation,
  type Revision,
  type TransactionResult,
} from '../../storage/store.js';
import type { CachedObject } from '../cache/cached-object.js';
import {
  allocationChanges,
  AlreadyAllocated,
  type AllocationChanges,
  type WriteAllocator,
} from './allocation/allocations.js';
import { rehearseAllocations, transactAllocating } from './allocation/allocation-transaction.js';
import { CompanionTransactions, type Companion } from './companions.js';
import { KeyLocks } from './key-locks.js';
import { keyOf, type StoredResource, storedBytes } from './resources.js';

/**
 * How often a write starts again because another one was quicker. Writers of one server take turns, so these are the
 * writers of other servers: when two servers have many writes of one object in hand, each wins about every second time,
 * and with eight tries one write in a few hundred would fail for nothing.
 */
const MAX_ATTEMPTS = 32;
/** Longest that a write which decides about access waits for the cache. It is done in any case. */
const SEEN_WITHIN_MS = 2_000;

export interface WriterOptions {
  readonly store: KeyValueStore;
  /** Ends with the server. A client that goes away does not end its write: the outcome would be unknown to all. */
  readonly signal: AbortSignal;
  /** `ended`: a lease that it gave before and that the store no longer knows. */
  readonly leaseFor: (ttlSeconds: number, ended?: LeaseId) => Promise<LeaseId>;
  /** The key of an allocation. */
  readonly allocationKey: (allocation: string) => string;
  /** Waits until the caches have reached a revision; resolves false when they have not in time. */
  readonly reached: (revision: number, timeoutMs: number) => Promise<boolean>;
}

/**
 * Decides what to do with an object from its present state, undefined when there is none. Asked again, with the newer
 * state, when a race is lost; a refusal (what it throws) counts only when it was made from the store's own word.
 */
export type Decide = (
  current: CachedObject | undefined,
  /** Lets other writers of this server go ahead: for decisions that wait for another server. */
  leaveTurn: () => void,
) => Promise<WriteDecision> | WriteDecision;

export type WriteDecision =
  /** `allocator`: says, when another object has an allocation, whether to decide again. */
  (
    | { readonly do: 'put'; readonly object: ApiObject; readonly allocator?: WriteAllocator | undefined }
    /** `object`: the state that it would have had; for the answer. */
    | { readonly do: 'delete'; readonly object?: ApiObject }
    | { readonly do: 'nothing' }
  ) & {
    /** Objects that change in the same transaction. */
    readonly companions?: readonly Companion[];
  };

/** A decision that knows how to leave its turn. */
type InTurn = (current: CachedObject | undefined) => ReturnType<Decide>;

/** Which object a write is about. */
export interface WriteTarget {
  readonly stored: StoredResource;
  /** '' for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  /** The first decision is made as if there was no object, without a look at cache or store. */
  readonly isNew?: boolean;
  /** Everything is looked up and nothing is written. */
  readonly dryRun?: boolean;
}

/** The end of a write. */
export interface Written {
  /** The object as stored now, or, when it was removed, as stored last; undefined when there was none. */
  readonly object: CachedObject | undefined;
  /** A state that is not stored: the last one of a removed object, or the one that a dry run would have stored. */
  readonly state: ApiObject | undefined;
  readonly removed: boolean;
  /** There was no object before. */
  readonly created: boolean;
}

/** A present state, and its source: assumed, the cache (which may be behind), or the store. */
interface Seen {
  readonly current: CachedObject | undefined;
  readonly word: 'assumed' | 'cached' | 'stored';
}

/**
 * The last steps of every write: encode once, one transaction that compares the mod revision, splice the new revision.
 * The cache is only a first guess at the present state; the transaction decides, and brings the state when it differs.
 */
export class Writer {
  readonly #locks = new KeyLocks();
  readonly #o: WriterOptions;
  readonly #companions: CompanionTransactions;

  constructor(o: WriterOptions) {
    this.#o = o;
    this.#companions = new CompanionTransactions(o.store, new KeyLocks());
  }

  /**
   * Creates, changes or removes one object, as `decide` says.
   *
   * @throws {StatusError} Conflict when the race was lost too often; what `decide` and its allocator throw
   * @throws {AlreadyAllocated} when the decision comes without an allocator
   */
  async write(target: WriteTarget, decide: Decide): Promise<Written> {
    const { stored, namespace, name } = target;
    const key = keyOf(stored, namespace, name);
    const written = await this.#locks.run(key, (leave) =>
      this.#writeLocked(target, key, (current) => decide(current, leave)),
    );
    if (stored.strategy.decidesAccess && written.object !== undefined) {
      await this.#o.reached(written.object.revision, SEEN_WITHIN_MS);
    }
    return written;
  }

  async #writeLocked(target: WriteTarget, key: string, decide: InTurn): Promise<Written> {
    const { stored, name, isNew = false } = target;
    let seen: Seen = isNew
      ? { current: undefined, word: 'assumed' }
      : { current: stored.cache.newest(key), word: 'cached' };
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const step = await this.#attempt(target, key, decide, seen);
      if ('created' in step) return step;
      seen = step;
    }
    throw conflict(stored.hub, name, 'the object has been modified too often while this request tried; try again');
  }

  /** @returns The end, or the state to decide from again. */
  async #attempt(target: WriteTarget, key: string, decide: InTurn, seen: Seen): Promise<Written | Seen> {
    const { stored, dryRun = false } = target;
    let decision: WriteDecision;
    try {
      decision = await decide(seen.current);
    } catch (err) {
      const now = seen.word === 'cached' ? await this.#ask(stored, key) : seen;
      if (isOutdated(seen, now)) return now;
      throw err;
    }
    const write = await this.#prepared(stored, key, seen.current, decision, dryRun);
    if (write === undefined) {
      const now = seen.word === 'stored' ? seen : await this.#ask(stored, key);
      if (isOutdated(seen, now)) return now;
    }
    try {
      if (dryRun) {
        await this.#rehearse(stored, key, seen.current, decision);
        await this.#companions.rehearse(decision.companions ?? [], this.#o.signal);
      }
      if (write === undefined) return ended(seen, decision, dryRun);
      const result = await this.#transact(key, seen.current, write);
      if (result.succeeded) return ended(seen, decision, dryRun, write.finish(result.revision));
      return { current: decoded(stored, result.found[0]), word: 'stored' };
    } catch (err) {
      if (!(err instanceof AlreadyAllocated) || decision.do !== 'put' || decision.allocator === undefined) throw err;
      decision.allocator.retryAfter(err);
      return seen;
    }
  }

  /** The write that carries a decision out; undefined when there is nothing to write. */
  async #prepared(
    stored: StoredResource,
    key: string,
    current: CachedObject | undefined,
    decision: WriteDecision,
    dryRun: boolean,
  ): Promise<PendingWrite | undefined> {
    if (dryRun || decision.do === 'nothing') return undefined;
    if (decision.do === 'put') {
      const bytes = storedBytes(decision.object);
      const value = Buffer.isBuffer(bytes) ? bytes : await bytes;
      if (current !== undefined && sameAsStored(current, value)) return undefined;
      const put = await this.#put(stored, key, value, allocationChanges(stored.strategy, current, decision.object));
      return { ...put, companions: decision.companions };
    }
    if (current === undefined) return undefined;
    const allocations = allocationChanges(stored.strategy, current, undefined);
    const { companions } = decision;
    return { operation: { type: 'delete', key }, allocations, companions, finish: (at) => current.at(at) };
  }

  /** Checks that the allocations of an object could be had. @throws {AlreadyAllocated} */
  async #rehearse(
    { strategy }: StoredResource,
    key: string,
    current: CachedObject | undefined,
    decision: WriteDecision,
  ): Promise<void> {
    if (decision.do !== 'put') return;
    const { store, allocationKey, signal } = this.#o;
    await rehearseAllocations(
      store,
      { key, changes: allocationChanges(strategy, current, decision.object), allocationKey },
      signal,
    );
  }

  async #ask(stored: StoredResource, key: string): Promise<Seen> {
    const { kv } = await this.#o.store.get(key, {}, this.#o.signal);
    return { current: decoded(stored, kv), word: 'stored' };
  }

  async #put(
    stored: StoredResource,
    key: string,
    value: Buffer,
    allocations: AllocationChanges,
  ): Promise<PendingWrite> {
    const { ttlSeconds } = stored.strategy;
    const put = { type: 'put', key, value } as const;
    const leased = async (ended?: LeaseId): Promise<LeasedPut> => ({
      ...put,
      lease: await this.#o.leaseFor(ttlSeconds, ended),
    });
    return {
      ...(ttlSeconds > 0 ? { operation: await leased(), leased } : { operation: put }),
      allocations,
      finish: (at) => {
        const seen = stored.cache.get(key);
        if (seen?.revision === at) return seen; // the feed was quicker: one encoding serves both
        const object = stored.cache.decode(key, value, at);
        if (object === undefined) throw badRequest(`The name cannot be stored: ${JSON.stringify(key)}`);
        stored.cache.expect(object);
        return object;
      },
    };
  }

  async #transact(key: string, current: CachedObject | undefined, write: PendingWrite): Promise<TransactionResult> {
    const modRevision = current === undefined ? NO_REVISION : revision(current.revision);
    try {
      return await this.#send(key, modRevision, write).catch(async (err: unknown) => {
        const { operation, leased } = write;
        if (leased === undefined || !isStoreError(err, 'leaseNotFound')) throw err;
        return this.#send(key, modRevision, { ...write, operation: await leased(operation.lease) });
      });
    } catch (err) {
      throw translate(err);
    }
  }

  #send(key: string, modRevision: Revision, write: PendingWrite): Promise<TransactionResult> {
    const { operation, allocations, companions = [] } = write;
    const { signal, allocationKey } = this.#o;
    const store = companions.length === 0 ? this.#o.store : this.#companions.along(companions);
    if (allocations.taken.length > 0 || allocations.released.length > 0) {
      return transactAllocating(store, { key, modRevision, operation, changes: allocations, allocationKey }, signal);
    }
    return store.transact({ conditions: [{ key, modRevision }], operations: [operation], otherwiseGet: [key] }, signal);
  }
}

type LeasedPut = Operation & { readonly type: 'put'; readonly lease: LeaseId };

type PendingWrite = {
  readonly allocations: AllocationChanges;
  readonly companions?: readonly Companion[] | undefined;
  readonly finish: (at: number) => CachedObject;
} & (
  | { readonly operation: Operation; readonly leased?: never }
  /** `leased` makes it anew, on another lease than the one that has ended. */
  | { readonly operation: LeasedPut; readonly leased: (ended: LeaseId) => Promise<LeasedPut> }
);

const decoded = ({ cache }: StoredResource, kv: KeyValue | undefined): CachedObject | undefined =>
  kv === undefined ? undefined : cache.decode(kv.key, kv.value, kv.modRevision, kv);

/** Whether a decision has to be made again from `now`. */
const isOutdated = (seen: Seen, now: Seen): boolean =>
  seen.current?.revision !== now.current?.revision || (isForeign(now) && !isForeign(seen));

/** Only the store's own word says whether the form of a value is the present one: how values are written may change. */
const isForeign = ({ current }: Seen): boolean => current?.layout.isForeign === true;

/** @param written undefined when nothing was written. */
function ended({ current }: Seen, decision: WriteDecision, dryRun: boolean, written = current): Written {
  const removed = decision.do === 'delete' && current !== undefined;
  const isStored = !dryRun && !removed;
  return {
    object: written,
    state: isStored || decision.do === 'nothing' ? undefined : decision.object,
    removed,
    created: current === undefined,
  };
}

/** Equal bytes but for the revision: a write that would change nothing (spec 1, 3.2: no new version). */
function sameAsStored(current: CachedObject, encoded: Buffer): boolean {
  const { prefixLength, isForeign } = current.layout;
  if (isForeign === true) return false;
  const rest = current.bytes.length - encoded.length;
  return (
    rest > 0 &&
    current.bytes.subarray(prefixLength + rest).equals(encoded.subarray(prefixLength)) &&
    current.bytes.subarray(0, prefixLength).equals(encoded.subarray(0, prefixLength))
  );
}

function translate(err: unknown): unknown {
  if (isStoreError(err, 'tooLarge')) {
    return new StatusError('RequestEntityTooLarge', 'The object is larger than the store accepts', { cause: err });
  }
  return err;
}
