import { StatusError, expired, notFound } from '../../machinery/meta/status.js';
import { PageSize } from '../../storage/page-size.js';
import { isStoreError, revision, type KeyValueStore } from '../../storage/store.js';
import { isReadable, type CachedObject } from '../cache/cached-object.js';
import type { Feed } from '../cache/feed.js';
import type { ConsistentReadGate } from '../cache/gate.js';
import { listItems, type Snapshot } from '../cache/ordered.js';
import type { KeyRange } from '../cache/resource-cache.js';
import type { ChangeFilter } from '../cache/watchers.js';
import { turns, type Asker } from '../http/turns.js';
import { collectionId, decodeContinueToken, encodeContinueToken, INCONSISTENT } from './continue-token.js';
import { decodePage } from './decode-page.js';
import { getMeaning, listMeaning, type VersionParameters } from './read-table.js';
import { keyOf, type StoredResource } from './resources.js';

/** Longest that a read waits for a version that has not been seen yet. */
const FUTURE_WAIT_MS = 3_000;
/** Most entries that one range request brings from the store: they are read from its answer in one turn. */
const STORE_PAGE = 500;

export interface ListParameters extends VersionParameters {
  /** '' lists across namespaces. */
  readonly namespace: string;
  readonly filter: ChangeFilter;
}

/** One chunk of a list, of one state, whenever it is read. */
export interface Page {
  readonly revision: number;
  /** '' at the end. */
  readonly continueToken: string;
  /** undefined where it must be left out (spec 1, 2.3). */
  readonly remaining: number | undefined;
  /**
   * The list items in the storage version, each with a comma in front, in pieces that are made as they are taken.
   * Shared: do not write to them.
   */
  items(): Iterable<Buffer>;
  /** The same, one by one: for answers in another form. */
  objects(): CachedObject[];
}

export interface ReaderOptions {
  readonly store: KeyValueStore;
  readonly feed: Feed;
  readonly gate: ConsistentReadGate;
  /** Whether consistent reads are answered by the cache or by the store itself. */
  readonly consistentFrom: 'cache' | 'store';
  /** Whether lists come in chunks, and whether a chunk says how many items follow. */
  readonly chunks: boolean;
  readonly countsRemaining: boolean;
  /** Ends with the server: for reads of the server itself. */
  readonly signal: AbortSignal;
}

/** The life of a read: chooses by the tables of spec 1, 4.6 where and as of when to read. */
export class Reader {
  readonly #o: ReaderOptions;

  constructor(o: ReaderOptions) {
    this.#o = o;
  }

  get revision(): number {
    return this.#o.feed.revision;
  }

  /**
   * Resolves when the cache is as new as the store was at the call.
   *
   * @throws {StatusError} Timeout @throws `asker.signal.reason` when the asker has left
   */
  whenFresh(asker: Asker = this.#o): Promise<void> {
    return this.#o.gate.fresh(asker);
  }

  /** Waits until the cache has reached a version; false when it has not in time. */
  reached(target: number, timeoutMs: number): Promise<boolean> {
    return this.#o.gate.reached(target, timeoutMs);
  }

  /**
   * @throws {StatusError} NotFound; Timeout for a version that does not come.
   * @throws `asker.signal.reason` when the asker has left
   */
  async get(
    stored: StoredResource,
    namespace: string,
    name: string,
    resourceVersion?: number,
    asker: Asker = this.#o,
  ): Promise<CachedObject> {
    const key = keyOf(stored, namespace, name);
    const meaning = getMeaning(resourceVersion);
    if (meaning === 'MostRecent') {
      if (this.#o.consistentFrom === 'store') return this.getStored(stored, namespace, name, asker);
      await this.#o.gate.fresh(asker);
    } else if (meaning === 'NotOlderThan') {
      await this.#reach(resourceVersion ?? 0, asker);
    }
    const found = stored.cache.get(key);
    if (found === undefined) throw notFound(stored.hub, name);
    return found;
  }

  /** Reads the store itself, linearizably. @throws {StatusError} NotFound */
  async getStored(
    stored: StoredResource,
    namespace: string,
    name: string,
    asker: Asker = this.#o,
  ): Promise<CachedObject> {
    const { kv } = await this.#o.store.get(keyOf(stored, namespace, name), {}, asker.signal);
    const found = kv === undefined ? undefined : stored.cache.decode(kv.key, kv.value, kv.modRevision, kv);
    if (found === undefined) throw notFound(stored.hub, name);
    return found;
  }

  /**
   * @throws {StatusError} BadRequest, Expired, Timeout
   * @throws `asker.signal.reason` when the asker has left
   */
  async list(stored: StoredResource, asked: ListParameters, asker: Asker = this.#o): Promise<Page> {
    const p = this.#o.chunks ? asked : { ...asked, limit: 0, continueToken: '' };
    const page = await this.#list(stored, p, asker);
    return this.#o.countsRemaining || page.remaining === undefined ? page : { ...page, remaining: undefined };
  }

  async #list(stored: StoredResource, p: ListParameters, asker: Asker): Promise<Page> {
    const whole = stored.cache.range(p.namespace);
    switch (listMeaning(p)) {
      case 'MostRecent':
        return this.#mostRecent(stored, p, whole, asker);
      case 'Any':
        return this.#fromCache(stored, p, whole);
      case 'NotOlderThan':
        await this.#reach(p.resourceVersion ?? 0, asker);
        return this.#fromCache(stored, p, whole);
      case 'Exact':
        return this.#asOf(stored, p, whole, p.resourceVersion ?? 0, asker);
      case 'Continue':
        return this.#continued(stored, p, whole, asker);
    }
  }

  async #mostRecent(stored: StoredResource, p: ListParameters, range: KeyRange, asker: Asker): Promise<Page> {
    if (this.#o.consistentFrom === 'store') return this.#fromStore(stored, p, range, undefined, asker);
    await this.#o.gate.fresh(asker);
    return this.#fromCache(stored, p, range);
  }

  async #continued(stored: StoredResource, p: ListParameters, whole: KeyRange, asker: Asker): Promise<Page> {
    const token = decodeContinueToken(p.continueToken, listId(stored, p));
    const from = `${stored.cache.keys.prefix}${token.start}`;
    // A token is the client's to keep, so it may say anything: it must not lead out of the collection.
    const range: KeyRange = { from: from < whole.from || from >= whole.to ? whole.to : from, to: whole.to };
    if (token.revision === INCONSISTENT) return this.#mostRecent(stored, p, range, asker);
    try {
      return await this.#asOf(stored, p, range, token.revision, asker);
    } catch (err) {
      if (!(err instanceof StatusError) || err.reason !== 'Expired') throw err;
      throw expired(
        'The continue token has outlived the state that it belongs to. List again from the start, or use the token in ' +
          'this answer: it goes on with the present state, so changes made since the first chunk may show.',
        { continue: encodeContinueToken({ ...token, revision: INCONSISTENT }) },
      );
    }
  }

  async #asOf(stored: StoredResource, p: ListParameters, range: KeyRange, at: number, asker: Asker): Promise<Page> {
    await this.#reach(at, asker);
    const snapshot = stored.cache.at(at, this.#o.feed.revision);
    if (snapshot !== undefined) return this.#page(stored, p, range, snapshot, at);
    return this.#fromStore(stored, p, range, at, asker);
  }

  #fromCache(stored: StoredResource, p: ListParameters, range: KeyRange): Page {
    return this.#page(stored, p, range, stored.cache.current, this.#o.feed.revision);
  }

  /** Cuts a chunk out of a state. */
  #page(stored: StoredResource, p: ListParameters, range: KeyRange, state: Snapshot, at: number): Page {
    if (p.filter.id !== '' && p.limit === 0) {
      if (stored.cache.hasUnreadable) refuseUnreadable(state, range, p.filter);
      return filteredPage(p, range, state, at);
    }
    if (p.filter.id !== '') {
      const { objects, next } = select(state.between(range.from, range.to), p.filter, p.limit);
      if (next !== undefined && state === stored.cache.current) stored.cache.keepSnapshot(at);
      return pageOf(objects, at, next === undefined ? '' : tokenFor(stored, p, at, next), undefined);
    }
    const nextKey = p.limit > 0 ? state.keyAfter(range.from, p.limit) : undefined;
    const last = nextKey === undefined || nextKey >= range.to;
    const end = last ? range.to : nextKey;
    if (stored.cache.hasUnreadable) refuseUnreadable(state, { from: range.from, to: end }, p.filter);
    if (!last && state === stored.cache.current) stored.cache.keepSnapshot(at);
    return {
      revision: at,
      continueToken: last ? '' : tokenFor(stored, p, at, nextKey),
      remaining: last ? undefined : state.count(nextKey, range.to),
      items: () => state.items(range.from, end),
      objects: () => [...state.between(range.from, end)],
    };
  }

  /** Reads the store: as of `at`, or the newest state. */
  async #fromStore(
    stored: StoredResource,
    p: ListParameters,
    range: KeyRange,
    at: number | undefined,
    asker: Asker,
  ): Promise<Page> {
    const objects: CachedObject[] = [];
    const max = p.limit > 0 ? p.limit : Infinity;
    const prefix = stored.cache.range(p.namespace).from;
    const size = new PageSize(STORE_PAGE);
    let pinned = at;
    let from = range.from;
    if (from >= range.to) return pageOf([], at ?? this.#o.feed.revision, '', undefined);
    for (;;) {
      const left = max - objects.length;
      const limit = p.filter.id === '' ? Math.min(size.entries, left) : size.entries;
      const {
        kvs,
        more,
        count,
        revision: now,
      } = await this.#inTurn(() => this.#range(prefix, { limit, from }, pinned, asker));
      pinned ??= now;
      size.learn(kvs);
      const decoded = await decodePage(stored.cache, p.filter, kvs, left, asker);
      objects.push(...decoded.objects);
      const last = kvs[decoded.used - 1];
      if (last === undefined || (decoded.used === kvs.length && !more)) return pageOf(objects, pinned, '', undefined);
      from = `${last.key}\0`;
      if (objects.length < max) continue;
      const remaining = p.filter.id === '' && count !== undefined ? count - decoded.used : undefined;
      return pageOf(objects, pinned, tokenFor(stored, p, pinned, from), remaining);
    }
  }

  /** Reads in a turn that has room for it: an embedded store reads at once, for as many lists as there are. */
  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    if (!turns.free) await turns.next();
    const startedMs = performance.now();
    const reading = read();
    turns.charge(performance.now() - startedMs);
    return reading;
  }

  async #range(
    prefix: string,
    o: { readonly limit: number; readonly from: string },
    at: number | undefined,
    { signal }: Asker,
  ): ReturnType<KeyValueStore['range']> {
    try {
      return await this.#o.store.range(prefix, at === undefined ? o : { ...o, revision: revision(at) }, signal);
    } catch (err) {
      if (!isStoreError(err, 'compacted')) throw err;
      throw expired(`The requested resource version is too old: ${at ?? 0}`);
    }
  }

  /** Waits for a version. @throws {StatusError} Timeout when it does not come in time */
  async #reach(target: number, asker: Asker): Promise<void> {
    if (this.#o.feed.revision >= target) return;
    if (await this.#o.gate.reached(target, FUTURE_WAIT_MS, asker.signal)) return;
    throw tooLarge(target, this.#o.feed.revision);
  }
}

/** 504: the version is not known here, or not yet. */
export function tooLarge(asked: number, current: number): StatusError {
  return new StatusError('Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

const tokenFor = (stored: StoredResource, p: ListParameters, at: number, nextKey: string): string =>
  encodeContinueToken({
    revision: at,
    start: nextKey.slice(stored.cache.keys.prefix.length),
    of: listId(stored, p),
  });

const listId = ({ cache }: StoredResource, { namespace, filter }: ListParameters): string =>
  collectionId(cache.keys.prefix, namespace, filter.id);

function pageOf(objects: CachedObject[], at: number, continueToken: string, remaining: number | undefined): Page {
  return {
    revision: at,
    continueToken,
    remaining,
    items: () => listItems(objects),
    objects: () => objects,
  };
}

/** Before an answer begins, which would be cut off. @throws {StatusError} InternalError that names the key */
function refuseUnreadable(state: Snapshot, { from, to }: KeyRange, filter: ChangeFilter): void {
  for (const object of state.between(from, to)) {
    if (!isReadable(object) && (filter.byName !== true || filter.matches(object))) object.parse();
  }
}

/** All matches: what the state has joined for this filter before is used again. */
const filteredPage = ({ filter }: ListParameters, { from, to }: KeyRange, state: Snapshot, at: number): Page => ({
  revision: at,
  continueToken: '',
  remaining: undefined,
  items: () => state.items(from, to, filter),
  objects: () => [...state.between(from, to)].filter((o) => filter.matches(o)),
});

/** The first `limit` matches and the key of the match after them. */
function select(
  candidates: Iterable<CachedObject>,
  filter: ChangeFilter,
  limit: number,
): { readonly objects: CachedObject[]; readonly next: string | undefined } {
  const objects: CachedObject[] = [];
  for (const object of candidates) {
    if (!filter.matches(object)) continue;
    if (objects.length === limit) return { objects, next: object.key };
    objects.push(object);
  }
  return { objects, next: undefined };
}
