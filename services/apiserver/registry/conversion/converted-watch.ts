import type { CachedObject } from '../../cache/cached-object.js';
import { Change } from '../../cache/history.js';
import { frameFor, type GroupKey, type WatchSink } from '../../cache/watchers.js';
import type { ResourceCache } from '../../cache/resource-cache.js';
import { BATCH_BYTES, BATCH_OBJECTS } from './batches.js';
import type { VersionConversion } from './version-conversion.js';

const ignore = (): void => undefined;

/** Changes that a watch needs are gone: it has to begin anew. */
export class HistoryLost extends Error {}

/** The first part of a watch, before the history of the cache. */
export interface FirstPart {
  /** The next changes; undefined at the end. @throws {HistoryLost} */
  next(): Promise<readonly Change[] | undefined>;
  /** A frame at its end. */
  readonly last: Buffer | undefined;
  close(): void;
}

export interface ConvertedWatchOptions {
  readonly cache: ResourceCache;
  readonly conversion: VersionConversion;
  readonly key: GroupKey;
  readonly sink: WatchSink;
  readonly first: FirstPart | undefined;
  /** Position in the history where it goes on after the first part. */
  readonly position: number;
}

/**
 * A watch in a version that another server converts to. It reads the history at its own pace, some changes at once, so a
 * slow server delays nobody who watches in another version; a watch that falls off the end of the history is told so.
 */
export class ConvertedWatch {
  readonly #o: ConvertedWatchOptions;
  readonly #over = new AbortController();
  readonly #unfollow: () => void;
  #first: FirstPart | undefined;
  #position: number;
  /** All that is there has been handed over. */
  #isIdle = false;
  #isFull = true;
  #wake: () => void = ignore;

  constructor(o: ConvertedWatchOptions) {
    this.#o = o;
    this.#first = o.first;
    this.#position = o.position;
    this.#unfollow = o.cache.watchers.follow({ changed: () => this.#wake(), expired: () => this.#expire() });
    void this.#run();
  }

  /** The sink can take more: nothing is handed over before the first call. */
  resume(): void {
    this.#isFull = false;
    this.#wake();
  }

  /** Everything up to the cache's revision has been handed over. */
  get live(): boolean {
    const { history } = this.#o.cache;
    return this.#isIdle && this.#position === history.end && !this.#over.signal.aborted;
  }

  close(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(new Error('The watch is over'));
    this.#first?.close();
    this.#unfollow();
    this.#wake();
  }

  /** Never throws. */
  async #run(): Promise<void> {
    const { signal } = this.#over;
    try {
      while (!signal.aborted) {
        if (this.#isFull) await this.#change();
        else if (this.#first !== undefined) await this.#readFirst(this.#first);
        else await this.#readHistory();
      }
    } catch (err) {
      if (signal.aborted) return;
      if (err instanceof HistoryLost) {
        this.#expire();
        return;
      }
      this.close();
      this.#o.sink.failed(err);
    }
  }

  async #readFirst(first: FirstPart): Promise<void> {
    const changes = await first.next();
    if (this.#over.signal.aborted) return;
    if (changes !== undefined) {
      await this.#send(changes);
      return;
    }
    this.#first = undefined;
    if (first.last !== undefined) this.#write([first.last]);
  }

  async #readHistory(): Promise<void> {
    const { history, closed } = this.#o.cache;
    if (closed || this.#position < history.first) {
      this.#expire();
      return;
    }
    if (this.#position >= history.end) {
      this.#isIdle = true;
      await this.#change();
      this.#isIdle = false;
      return;
    }
    const { changes, position } = this.#next();
    await this.#send(changes);
    this.#position = position;
  }

  /** Some changes from the position on that are in scope, and the position after them. */
  #next(): { readonly changes: readonly Change[]; readonly position: number } {
    const { cache, key } = this.#o;
    const { namespace, name } = key.scope;
    const changes: Change[] = [];
    let [at, bytes] = [this.#position, 0];
    for (; at < cache.history.end && changes.length < BATCH_OBJECTS && bytes < BATCH_BYTES; at++) {
      const change = cache.history.at(at);
      if (change === undefined) continue;
      const { object } = change;
      if ((namespace !== '' && namespace !== object.namespace) || (name !== '' && name !== object.name)) continue;
      changes.push(change);
      bytes += object.bytes.length;
    }
    return { changes, position: at };
  }

  async #send(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    const { key, conversion } = this.#o;
    const converted = await convertedChanges(changes, conversion, key.filter.id !== '', this.#over.signal);
    const frames = converted.flatMap((change) => frameFor(change, key.filter, key.encoder) ?? []);
    if (!this.#over.signal.aborted) this.#write(frames);
  }

  #write(frames: readonly Buffer[]): void {
    if (frames.length > 0 && !this.#o.sink.write(Buffer.concat(frames), frames.length)) this.#isFull = true;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = ignore;
        setImmediate(resolve); // what comes in one turn is read at once
      };
    });
  }

  #expire(): void {
    if (this.#over.signal.aborted) return;
    this.close();
    this.#o.sink.expired();
  }
}

/**
 * Changes of objects as they are in the version of a conversion.
 *
 * @param withPrevious Whether the states before matter: something is selected. @throws {StatusError} InternalError
 */
async function convertedChanges(
  changes: readonly Change[],
  conversion: VersionConversion,
  withPrevious: boolean,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const states = new Set<CachedObject>();
  for (const change of changes) {
    if (withPrevious && change.previous !== undefined) states.add(change.previous);
    states.add(lastStateOf(change));
  }
  const asked = [...states];
  const made = await conversion.objects(asked, signal);
  const converted = new Map(asked.map((object, i) => [object, made[i] ?? object]));
  return changes.map((change) => {
    const { previous, deleted, revision, atMs } = change;
    const state = converted.get(lastStateOf(change)) ?? change.object;
    const before = previous && (converted.get(previous) ?? previous); // only whether there was one, where nothing is selected
    return new Change(deleted ? state.at(revision) : state, before, deleted, atMs);
  });
}

/** What has gone is told of as it was: that may have been converted already. */
const lastStateOf = ({ object, previous, deleted }: Change): CachedObject => (deleted ? (previous ?? object) : object);
