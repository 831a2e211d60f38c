import type { ApiObject } from '../../machinery/meta/object.js';
import { alreadyExists, badRequest, conflict, notFound, StatusError } from '../../machinery/meta/status.js';
import {
  isStoreError,
  NO_REVISION,
  revision,
  type KeyValueStore,
  type LeaseId,
  type Operation,
  type Revision,
  type TransactionResult,
} from '../../storage/store.js';
import type { CachedObject } from '../cache/cached-object.js';
import { claimChanges, type ClaimChanges } from './claims.js';
import { rehearseClaims, transactClaiming } from './claims-transaction.js';
import { Lanes } from './lanes.js';
import { keyOf, type StoredResource } from './resource.js';
import { storedBytes } from './stored-bytes.js';

/**
 * How often a write starts again because somebody else was quicker. Writers of one server take turns, so these are the
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
  readonly leaseFor: (ttlSeconds: number) => Promise<LeaseId>;
  /** The key of a claim. */
  readonly claimKey: (claim: string) => string;
  /** Waits until the caches have reached a revision; resolves false when they have not in time. */
  readonly reached: (revision: number, timeoutMs: number) => Promise<boolean>;
}

/** What to do with an object, decided from its present state. Asked again, with the newer state, when a race is lost. */
export type Decide = (current: CachedObject) => Promise<WriteDecision> | WriteDecision;

export type WriteDecision =
  { readonly do: 'put'; readonly object: ApiObject } | { readonly do: 'delete' } | { readonly do: 'nothing' };

/** The end of a write: what is stored now, or what was there last. */
export interface Written {
  readonly object: CachedObject;
  readonly removed: boolean;
}

/**
 * The last steps of every write: encode once, one transaction that compares the mod revision, splice the new revision.
 * The cache is only a first guess at the present state; the transaction decides, and brings the state when it differs.
 */
export class Writer {
  readonly #lanes = new Lanes();
  readonly #o: WriterOptions;

  constructor(o: WriterOptions) {
    this.#o = o;
  }

  /** @throws {StatusError} AlreadyExists @throws {ClaimTaken} */
  async create(stored: StoredResource, object: ApiObject): Promise<CachedObject> {
    const { name = '', namespace = '' } = object.metadata;
    const key = keyOf(stored, namespace, name);
    const claims = claimChanges(stored.strategy, undefined, object);
    const result = await this.#transact(key, NO_REVISION, await this.#put(stored, key, storedBytes(object), claims));
    if (!result.succeeded) throw alreadyExists(stored.hub, name);
    await this.#seen(stored, result.written);
    return result.written;
  }

  /**
   * Changes or removes an object.
   *
   * @throws {StatusError} NotFound; Conflict when the race was lost too often; what `decide` throws, once it is sure
   * that it judged the newest state
   * @throws {ClaimTaken}
   */
  async change(stored: StoredResource, namespace: string, name: string, decide: Decide): Promise<Written> {
    const key = keyOf(stored, namespace, name);
    const written = await this.#lanes.run(key, () => this.#changeInTurn(stored, key, name, decide));
    await this.#seen(stored, written.object);
    return written;
  }

  async #seen({ strategy }: StoredResource, { revision: at }: CachedObject): Promise<void> {
    if (strategy.decidesAccess) await this.#o.reached(at, SEEN_WITHIN_MS);
  }

  /**
   * Looks whether what an object claims could be had; for writes that are not done.
   *
   * @param old Its state before; undefined for a new object. @throws {ClaimTaken}
   */
  async rehearse(stored: StoredResource, object: ApiObject, old: CachedObject | undefined): Promise<void> {
    const changes = claimChanges(stored.strategy, old, object);
    const { name = '', namespace = '' } = object.metadata;
    const { store, claimKey, signal } = this.#o;
    await rehearseClaims(store, { key: keyOf(stored, namespace, name), changes, claimKey }, signal);
  }

  async #changeInTurn(stored: StoredResource, key: string, name: string, decide: Decide): Promise<Written> {
    let current = stored.cache.newest(key);
    /** Whether `current` came from the store itself: the cache may be behind, so its word is not final. */
    let sure = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const step = current === undefined ? undefined : await this.#attempt(stored, key, current, decide, sure);
      if (step?.done !== undefined) return step.done;
      if (current === undefined && sure) throw notFound(stored.hub, name);
      current = step?.lostTo === undefined ? await this.#read(stored, key) : step.lostTo.current;
      sure = true;
    }
    throw conflict(stored.hub, name, 'the object has been modified too often while this request tried; try again');
  }

  /**
   * One round from a state that may be out of date.
   *
   * @returns `done`, or who was quicker, or {} when the newest state has to be asked for.
   */
  async #attempt(
    stored: StoredResource,
    key: string,
    current: CachedObject,
    decide: Decide,
    sure: boolean,
  ): Promise<{ readonly done?: Written; readonly lostTo?: { readonly current: CachedObject | undefined } }> {
    let write: PendingWrite | undefined;
    let removed = false;
    try {
      const decision = await decide(current);
      removed = decision.do === 'delete';
      if (decision.do === 'delete') {
        const claims = claimChanges(stored.strategy, current, undefined);
        write = { operation: { type: 'delete', key }, claims, finish: (at) => current.at(at) };
      } else if (decision.do === 'put') {
        const value = storedBytes(decision.object);
        const claims = claimChanges(stored.strategy, current, decision.object);
        if (!sameAsStored(current, value)) write = await this.#put(stored, key, value, claims);
      }
    } catch (err) {
      if (sure) throw err;
      return {};
    }
    if (write === undefined) return sure ? { done: { object: current, removed: false } } : {};
    const result = await this.#transact(key, revision(current.revision), write);
    if (result.succeeded) return { done: { object: result.written, removed } };
    const [kv] = result.found;
    return {
      lostTo: { current: kv === undefined ? undefined : stored.cache.decode(kv.key, kv.value, kv.modRevision) },
    };
  }

  async #read(stored: StoredResource, key: string): Promise<CachedObject | undefined> {
    const { kv } = await this.#o.store.get(key, {}, this.#o.signal);
    return kv === undefined ? undefined : stored.cache.decode(kv.key, kv.value, kv.modRevision);
  }

  async #put(stored: StoredResource, key: string, value: Buffer, claims: ClaimChanges): Promise<PendingWrite> {
    const { ttlSeconds } = stored.strategy;
    const lease = ttlSeconds > 0 ? { lease: await this.#o.leaseFor(ttlSeconds) } : {};
    return {
      operation: { type: 'put', key, value, ...lease },
      claims,
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

  async #transact(
    key: string,
    modRevision: Revision,
    write: PendingWrite,
  ): Promise<
    { readonly succeeded: true; readonly written: CachedObject } | (TransactionResult & { readonly succeeded: false })
  > {
    const { operation, claims, finish } = write;
    const { store, signal, claimKey } = this.#o;
    let result: TransactionResult;
    try {
      if (claims.taken.length > 0 || claims.left.length > 0) {
        result = await transactClaiming(store, { key, modRevision, operation, changes: claims, claimKey }, signal);
      } else {
        const reread = modRevision === NO_REVISION ? {} : { otherwiseGet: [key] };
        result = await store.transact(
          { conditions: [{ key, modRevision }], operations: [operation], ...reread },
          signal,
        );
      }
    } catch (err) {
      throw translate(err);
    }
    return result.succeeded ? { succeeded: true, written: finish(result.revision) } : result;
  }
}

interface PendingWrite {
  readonly operation: Operation;
  readonly claims: ClaimChanges;
  readonly finish: (at: number) => CachedObject;
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
