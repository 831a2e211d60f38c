import {
  isStoreError,
  revision,
  type KeyValueStore,
  type StoreEvent,
  type StoreWatch,
} from '../../../storage/store.js';
import { Change } from '../../cache/history.js';
import type { ResourceCache } from '../../cache/resource-cache.js';
import type { GroupKey } from '../../cache/watchers.js';
import { isComplete, pastChange } from '../past-changes.js';
import { batches, BATCH_BYTES } from './batches.js';
import { HistoryLost, type FirstPart } from './converted-watch.js';

/** All that there is now. The objects are collected now (references only), and converted as the receiver takes them. */
export function stateToConvert(cache: ResourceCache, { scope }: GroupKey, last: Buffer | undefined): FirstPart {
  const { from, to } = cache.range(scope.namespace);
  const inScope = [...cache.current.between(from, to)].filter(({ name }) => scope.name === '' || scope.name === name);
  const pieces = batches(inScope).values();
  return {
    next: () => {
      const piece = pieces.next();
      const changes = piece.done === true ? undefined : piece.value.map((it) => new Change(it, undefined, false, 0));
      return Promise.resolve(changes);
    },
    last,
    close: () => undefined,
  };
}

/** Changes that the history of the cache does not have any more, from the store. */
export class StoredChanges implements FirstPart {
  readonly last = undefined;
  readonly #watch: StoreWatch;
  readonly #isInScope: (change: Change) => boolean;
  readonly #cache: ResourceCache;
  #waiting: Change[] = [];
  #bytes = 0;
  #isPaused = false;
  #isDone = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  /** @param span Everything after `from`, up to and including `until`. */
  constructor(
    store: Pick<KeyValueStore, 'watch'>,
    cache: ResourceCache,
    { scope }: GroupKey,
    { from, until }: { readonly from: number; readonly until: number },
  ) {
    this.#cache = cache;
    this.#isInScope = ({ object }) => scope.name === '' || scope.name === object.name;
    const { from: prefix } = cache.range(scope.namespace);
    this.#watch = store.watch(
      { prefix, from: revision(from + 1), withPrevious: true },
      {
        events: (batch) => this.#take(batch, until),
        progress: (reached) => {
          if (reached >= until) this.#finish();
        },
        ended: (error) => this.#fail(isStoreError(error, 'compacted') || isStoreError(error, 'replaced') ? new HistoryLost() : error), // prettier-ignore
      },
    );
    this.#watch.requestProgress();
  }

  async next(): Promise<readonly Change[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) return undefined;
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#watch.resume();
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const changes = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    return changes;
  }

  close(): void {
    this.#isDone = true;
    this.#watch.close();
    this.#wake();
  }

  #take(batch: readonly StoreEvent[], until: number): void {
    const told = batch.filter((event) => event.modRevision <= until);
    if (!told.every(isComplete)) {
      this.#fail(new HistoryLost());
      return;
    }
    for (const event of told) {
      const change = pastChange(this.#cache, event);
      if (change === undefined || !this.#isInScope(change)) continue;
      this.#waiting.push(change);
      this.#bytes += change.object.bytes.length;
    }
    if ((batch.at(-1)?.modRevision ?? 0) >= until) this.#finish();
    else if (this.#bytes >= BATCH_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#watch.pause();
    }
    this.#wake();
  }

  #finish(): void {
    if (!this.#isDone) this.close();
  }

  #fail(why: Error): void {
    if (this.#isDone) return;
    this.#failure = why;
    this.close();
  }
}
