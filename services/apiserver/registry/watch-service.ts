import { isStoreError, revision, type KeyValueStore, type StoreEvent, type StoreWatch } from '../../storage/store.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { Feed } from '../cache/feed.js';
import type { ResourceCache } from '../cache/resource-cache.js';
import { frameFor, type GroupKey, type Watcher, type WatchSink } from '../cache/watchers.js';
import { turns } from '../http/turns.js';
import { ConvertedWatch, type FirstPart } from './conversion/converted-watch.js';
import { stateToConvert, StoredChanges } from './conversion/first-parts.js';
import type { VersionConversion } from './conversion/version-conversion.js';
import { isComplete, pastChange } from './past-changes.js';
import type { StoredResource } from './resources.js';

/** Most bytes of initial events that go out in one write. */
const CHUNK_BYTES = 64 * 1024;

/** Where a watch begins. */
export type WatchBegin =
  /** With a synthetic ADDED for everything that there is. */
  | { readonly at: 'state'; readonly encodeInitial: (object: CachedObject) => Buffer; readonly after?: () => Buffer }
  /** With the first change after this revision, which the feed has reached. */
  | { readonly at: 'change'; readonly revision: number };

/** A watch that is under way. */
export interface WatchSession {
  /** The sink can take more. */
  resume(): void;
  /** The revision up to which everything has been handed over; undefined while it is still catching up. */
  deliveredTo(): number | undefined;
  close(): void;
}

/** Told of each watch that ended because of a fault of ours. */
export type WatchFailure = (stored: StoredResource, err: unknown) => void;

/** Starts watches: state first, then history (the cache's, or the store's where that goes back further), then live. */
export class WatchService {
  readonly #store: Pick<KeyValueStore, 'watch'>;
  readonly #feed: Pick<Feed, 'revision'>;

  readonly #onFailure: WatchFailure;

  constructor(store: Pick<KeyValueStore, 'watch'>, feed: Pick<Feed, 'revision'>, onFailure: WatchFailure) {
    this.#store = store;
    this.#feed = feed;
    this.#onFailure = onFailure;
  }

  get revision(): number {
    return this.#feed.revision;
  }

  /** Hands over nothing before the first `resume()`. */
  start(stored: StoredResource, key: GroupKey, begin: WatchBegin, receiver: WatchSink): WatchSession {
    const { cache } = stored;
    const sink = this.#told(stored, receiver);
    cache.watchers.flush(); // so that the history's end is also the end of what live watchers have got
    const { history } = cache;
    if (begin.at === 'state') {
      const watcher = cache.watchers.add(key, sink, history.end);
      return this.#session(stored, watcher, new Preface(initialChunks(stored, key, begin), sink));
    }
    if (begin.revision >= history.floor) {
      const watcher = cache.watchers.add(key, sink, history.after(begin.revision));
      return this.#session(stored, watcher, undefined);
    }
    const watcher = cache.watchers.add(key, sink, history.end);
    const past = new StoredPast(
      this.#store,
      { stored, key, from: begin.revision, until: this.#feed.revision },
      sink,
      watcher,
    );
    return this.#session(stored, watcher, past);
  }

  /**
   * The same in a version that another server converts to. What that cannot do is not logged for each watch that ends of
   * it.
   */
  startConverted(
    conversion: VersionConversion,
    { cache }: StoredResource,
    key: GroupKey,
    begin: WatchBegin,
    sink: WatchSink,
  ): WatchSession {
    const { history } = cache;
    const isKnown = begin.at === 'change' && begin.revision >= history.floor;
    const position = isKnown ? history.after(begin.revision) : history.end;
    const first = isKnown ? undefined : this.#firstPart(cache, key, begin);
    const watch = new ConvertedWatch({ cache, conversion, key, sink, first, position });
    return {
      resume: () => watch.resume(),
      deliveredTo: () => (watch.live ? this.#feed.revision : undefined),
      close: () => watch.close(),
    };
  }

  #firstPart(cache: ResourceCache, key: GroupKey, begin: WatchBegin): FirstPart {
    if (begin.at === 'state') return stateToConvert(cache, key, begin.after?.());
    return new StoredChanges(this.#store, cache, key, { from: begin.revision, until: this.#feed.revision });
  }

  #told(stored: StoredResource, sink: WatchSink): WatchSink {
    return {
      write: (frames, count) => sink.write(frames, count),
      expired: () => sink.expired(),
      failed: (err) => {
        this.#onFailure(stored, err);
        sink.failed(err);
      },
    };
  }

  #session(stored: StoredResource, watcher: Watcher, first: Source | undefined): WatchSession {
    const next = (): void => {
      try {
        if (first === undefined || first.pump(next)) watcher.resume();
      } catch (err) {
        first?.close();
        watcher.fail(err);
      }
    };
    return {
      resume: next,
      deliveredTo: () => {
        stored.cache.watchers.flush();
        return watcher.live ? this.#feed.revision : undefined;
      },
      close: () => {
        first?.close();
        watcher.close();
      },
    };
  }
}

/** The first events of a watch, before it reads the cache's history. */
interface Source {
  /**
   * Hands over what it can.
   *
   * @param ready Called later, once, when it comes to its end by itself.
   * @returns True when it is at its end.
   */
  pump(ready: () => void): boolean;
  close(): void;
}

/** Whole frames, joined. */
interface Chunk {
  readonly frames: Buffer;
  readonly count: number;
}

class Preface implements Source {
  readonly #chunks: Iterator<Chunk>;
  readonly #sink: WatchSink;
  #done = false;
  #waiting = false;
  /** Its turn has come: the next chunk need not wait. */
  #granted = false;

  constructor(chunks: Iterator<Chunk>, sink: WatchSink) {
    this.#chunks = chunks;
    this.#sink = sink;
  }

  pump(ready: () => void): boolean {
    while (!this.#done) {
      if (!this.#granted && !turns.free) {
        this.#wait(ready);
        return false;
      }
      this.#granted = false;
      const startedMs = performance.now();
      const goesOn = this.#step();
      turns.charge(performance.now() - startedMs);
      if (!goesOn) return false;
    }
    return true;
  }

  /** Hands over one chunk. @returns Whether there is room for another. */
  #step(): boolean {
    const next = this.#chunks.next();
    if (next.done !== true) return this.#sink.write(next.value.frames, next.value.count);
    this.#done = true;
    return true;
  }

  /** Many watches may begin at once: each waits for its turn. */
  #wait(ready: () => void): void {
    if (this.#waiting) return;
    this.#waiting = true;
    void turns.next().then(() => {
      this.#waiting = false;
      this.#granted = true;
      if (!this.#done) ready();
      turns.charge(0); // also when nothing was done with it
    });
  }

  close(): void {
    this.#done = true;
  }
}

/** The objects are collected now (references only), encoded as the receiver takes them. */
function initialChunks(
  { cache }: StoredResource,
  { scope, filter }: GroupKey,
  { encodeInitial, after }: WatchBegin & { readonly at: 'state' },
): Iterator<Chunk> {
  const range = cache.range(scope.namespace);
  const objects: CachedObject[] = [];
  for (const object of cache.current.between(range.from, range.to)) {
    if ((scope.name === '' || scope.name === object.name) && filter.matches(object)) objects.push(object);
  }
  return chunks(objects, encodeInitial, after?.());
}

function* chunks(
  objects: readonly CachedObject[],
  encode: (object: CachedObject) => Buffer,
  last: Buffer | undefined,
): Generator<Chunk> {
  let frames: Buffer[] = [];
  let bytes = 0;
  for (const object of objects) {
    const frame = encode(object);
    frames.push(frame);
    bytes += frame.length;
    if (bytes < CHUNK_BYTES) continue;
    yield { frames: Buffer.concat(frames), count: frames.length };
    [frames, bytes] = [[], 0];
  }
  if (last !== undefined) frames.push(last);
  if (frames.length > 0) yield { frames: Buffer.concat(frames), count: frames.length };
}

/** Changes that a watch reads from the store. */
interface Past {
  readonly stored: StoredResource;
  readonly key: GroupKey;
  /** Everything after this revision, up to and including `until`. */
  readonly from: number;
  readonly until: number;
}

/**
 * Changes that the cache's history no longer has, from the store, up to where the cache's history goes on.
 */
class StoredPast implements Source {
  readonly #watch: StoreWatch;
  readonly #sink: WatchSink;
  #done = false;
  #full = false;
  #ready: (() => void) | undefined;

  constructor(
    store: Pick<KeyValueStore, 'watch'>,
    { stored, key, from, until }: Past,
    sink: WatchSink,
    after: Watcher,
  ) {
    this.#sink = sink;
    const prefix = stored.cache.range(key.scope.namespace).from;
    this.#watch = store.watch(
      { prefix, from: revision(from + 1), withPrevious: true },
      {
        events: (batch) => {
          const told = batch.filter((event) => event.modRevision <= until);
          if (!told.every(isComplete)) {
            this.#lose(after);
            return;
          }
          const frames = told.map((event) => pastFrame(stored, key, event)).filter((frame) => frame !== undefined);
          if (frames.length > 0 && !this.#sink.write(Buffer.concat(frames), frames.length)) this.#pause();
          if ((batch.at(-1)?.modRevision ?? 0) >= until) this.#finish();
        },
        progress: (reached) => {
          if (reached >= until) this.#finish();
        },
        ended: (error) => {
          this.#done = true;
          if (isStoreError(error, 'compacted') || isStoreError(error, 'replaced')) after.expire();
          else after.fail(error);
        },
      },
    );
    this.#watch.requestProgress();
  }

  pump(ready: () => void): boolean {
    if (this.#done) return true;
    this.#ready = ready;
    if (this.#full) {
      this.#full = false;
      this.#watch.resume();
    }
    return false;
  }

  close(): void {
    this.#done = true;
    this.#watch.close();
  }

  /** A compaction was quicker. */
  #lose(after: Watcher): void {
    this.close();
    after.expire();
  }

  #pause(): void {
    this.#full = true;
    this.#watch.pause();
  }

  #finish(): void {
    if (this.#done) return;
    this.close();
    if (!this.#full) this.#ready?.(); // a full sink calls by itself when it has room
  }
}

function pastFrame({ cache }: StoredResource, key: GroupKey, event: StoreEvent): Buffer | undefined {
  const change = pastChange(cache, event);
  if (change === undefined || (key.scope.name !== '' && key.scope.name !== change.object.name)) return undefined;
  return frameFor(change, key.filter, key.encoder);
}
