import { StatusError, expired, notFound } from '../../machinery/meta/status.js';
import { isStoreError, revision, type KeyValueStore } from '../../storage/store.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { Feed } from '../cache/feed.js';
import type { ConsistentReadGate } from '../cache/gate.js';
import { joinItems, type Snapshot } from '../cache/ordered.js';
import type { KeyRange } from '../cache/resource-cache.js';
import type { ChangeFilter } from '../cache/watchers.js';
import { decodeContinueToken, encodeContinueToken, INCONSISTENT } from './continue-token.js';
import { getMeaning, listMeaning, type VersionParameters } from './read-table.js';
import { keyOf, type StoredResource } from './resource.js';

/** Longest that a read waits for a version that has not been seen yet. */
const FUTURE_WAIT_MS = 3_000;
/** Entries that one range request brings from the store. */
const STORE_PAGE = 1_000;

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
  /** The list items in the storage version, each with a comma in front, in pieces. Shared: do not write to them. */
  items(): Buffer[];
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
  /** Ends with the server. */
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

  /** Resolves when the cache is as new as the store was at the call. @throws {StatusError} Timeout */
  whenFresh(): Promise<void> {
    return this.#o.gate.fresh();
  }

  /** Waits until the cache has reached a version; false when it has not in time. */
  reached(target: number, timeoutMs: number): Promise<boolean> {
    return this.#o.gate.reached(target, timeoutMs);
  }

  /** @throws {StatusError} NotFound; Timeout for a version that does not come. */
  async get(stored: StoredResource, namespace: string, name: string, resourceVersion?: number): Promise<CachedObject> {
    const key = keyOf(stored, namespace, name);
    const meaning = getMeaning(resourceVersion);
    if (meaning === 'MostRecent') {
      if (this.#o.consistentFrom === 'store') return this.getStored(stored, namespace, name);
      await this.#o.gate.fresh();
    } else if (meaning === 'NotOlderThan') {
      await this.#reach(resourceVersion ?? 0);
    }
    const found = stored.cache.get(key);
    if (found === undefined) throw notFound(stored.hub, name);
    return found;
  }

  /** Reads the store itself, linearizably. @throws {StatusError} NotFound */
  async getStored(stored: StoredResource, namespace: string, name: string): Promise<CachedObject> {
    const { kv } = await this.#o.store.get(keyOf(stored, namespace, name), {}, this.#o.signal);
    const found = kv === undefined ? undefined : stored.cache.decode(kv.key, kv.value, kv.modRevision);
    if (found === undefined) throw notFound(stored.hub, name);
    return found;
  }

  /** @throws {StatusError} BadRequest, Expired, Timeout */
  async list(stored: StoredResource, asked: ListParameters): Promise<Page> {
    const p = this.#o.chunks ? asked : { ...asked, limit: 0, continueToken: '' };
    const page = await this.#list(stored, p);
    return this.#o.countsRemaining || page.remaining === undefined ? page : { ...page, remaining: undefined };
  }

  async #list(stored: StoredResource, p: ListParameters): Promise<Page> {
    const whole = stored.cache.range(p.namespace);
    switch (listMeaning(p)) {
      case 'MostRecent':
        return this.#mostRecent(stored, p, whole);
      case 'Any':
        return this.#fromCache(stored, p, whole);
      case 'NotOlderThan':
        await this.#reach(p.resourceVersion ?? 0);
        return this.#fromCache(stored, p, whole);
      case 'Exact':
        return this.#asOf(stored, p, whole, p.resourceVersion ?? 0);
      case 'Continue':
        return this.#continued(stored, p, whole);
    }
  }

  async #mostRecent(stored: StoredResource, p: ListParameters, range: KeyRange): Promise<Page> {
    if (this.#o.consistentFrom === 'store') return this.#fromStore(stored, p, range, undefined);
    await this.#o.gate.fresh();
    return this.#fromCache(stored, p, range);
  }

  async #continued(stored: StoredResource, p: ListParameters, whole: KeyRange): Promise<Page> {
    const token = decodeContinueToken(p.continueToken);
    const from = `${stored.cache.keys.prefix}${token.start}`;
    // A token is the client's to keep, so it may say anything: it must not lead out of the collection.
    const range: KeyRange = { from: from < whole.from || from >= whole.to ? whole.to : from, to: whole.to };
    if (token.revision === INCONSISTENT) return this.#mostRecent(stored, p, range);
    try {
      return await this.#asOf(stored, p, range, token.revision);
    } catch (err) {
      if (!(err instanceof StatusError) || err.reason !== 'Expired') throw err;
      throw expired(
        'The continue token has outlived the state that it belongs to. List again from the start, or use the token in ' +
          'this answer: it goes on with the present state, so changes made since the first chunk may show.',
        { continue: encodeContinueToken({ revision: INCONSISTENT, start: token.start }) },
      );
    }
  }

  async #asOf(stored: StoredResource, p: ListParameters, range: KeyRange, at: number): Promise<Page> {
    await this.#reach(at);
    const snapshot = stored.cache.at(at, this.#o.feed.revision);
    if (snapshot !== undefined) return this.#page(stored, p, range, snapshot, at);
    return this.#fromStore(stored, p, range, at);
  }

  #fromCache(stored: StoredResource, p: ListParameters, range: KeyRange): Page {
    return this.#page(stored, p, range, stored.cache.current, this.#o.feed.revision);
  }

  /** Cuts a chunk out of a state. */
  #page(stored: StoredResource, p: ListParameters, range: KeyRange, state: Snapshot, at: number): Page {
    if (p.filter.id !== '' && p.limit === 0) return filteredPage(p, range, state, at);
    if (p.filter.id !== '') {
      const { objects, next } = select(state.between(range.from, range.to), p.filter, p.limit);
      if (next !== undefined && state === stored.cache.current) stored.cache.keepSnapshot(at);
      return pageOf(objects, at, next === undefined ? '' : tokenFor(stored, at, next), undefined);
    }
    const nextKey = p.limit > 0 ? state.keyAfter(range.from, p.limit) : undefined;
    const last = nextKey === undefined || nextKey >= range.to;
    const end = last ? range.to : nextKey;
    if (!last && state === stored.cache.current) stored.cache.keepSnapshot(at);
    return {
      revision: at,
      continueToken: last ? '' : tokenFor(stored, at, nextKey),
      remaining: last ? undefined : state.count(nextKey, range.to),
      items: () => state.items(range.from, end),
      objects: () => [...state.between(range.from, end)],
    };
  }

  /** Reads the store: as of `at`, or the newest state. */
  async #fromStore(stored: StoredResource, p: ListParameters, range: KeyRange, at: number | undefined): Promise<Page> {
    const objects: CachedObject[] = [];
    const max = p.limit > 0 ? p.limit : Infinity;
    const prefix = stored.cache.range(p.namespace).from;
    let pinned = at;
    let from = range.from;
    if (from >= range.to) return pageOf([], at ?? this.#o.feed.revision, '', undefined);
    for (;;) {
      const want = p.filter.id === '' ? Math.min(STORE_PAGE, max - objects.length) : STORE_PAGE;
      const read = await this.#range(prefix, { limit: want, from }, pinned);
      pinned ??= read.revision;
      for (const [i, kv] of read.kvs.entries()) {
        const object = stored.cache.decode(kv.key, kv.value, kv.modRevision);
        if (object === undefined || !p.filter.matches(object)) continue;
        objects.push(object);
        const left = read.count - i - 1;
        if (objects.length < max || left === 0) continue;
        const remaining = p.filter.id === '' ? left : undefined;
        return pageOf(objects, pinned, tokenFor(stored, pinned, `${kv.key}\0`), remaining);
      }
      const last = read.kvs.at(-1);
      if (!read.more || last === undefined) return pageOf(objects, pinned, '', undefined);
      from = `${last.key}\0`;
    }
  }

  async #range(
    prefix: string,
    o: { readonly limit: number; readonly from: string },
    at: number | undefined,
  ): ReturnType<KeyValueStore['range']> {
    try {
      return await this.#o.store.range(prefix, at === undefined ? o : { ...o, revision: revision(at) }, this.#o.signal);
    } catch (err) {
      if (!isStoreError(err, 'compacted')) throw err;
      throw expired(`The requested resource version is too old: ${at ?? 0}`);
    }
  }

  /** Waits for a version. @throws {StatusError} Timeout when it does not come in time */
  async #reach(target: number): Promise<void> {
    if (await this.#o.gate.reached(target, FUTURE_WAIT_MS)) return;
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

const tokenFor = (stored: StoredResource, at: number, nextKey: string): string =>
  encodeContinueToken({ revision: at, start: nextKey.slice(stored.cache.keys.prefix.length) });

function pageOf(objects: CachedObject[], at: number, continueToken: string, remaining: number | undefined): Page {
  return {
    revision: at,
    continueToken,
    remaining,
    items: () => (objects.length === 0 ? [] : [joinItems(objects)]),
    objects: () => objects,
  };
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
