import type { ApiObject } from '../../../machinery/meta/object.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { ResourceCache } from '../../cache/resource-cache.js';

/** The allocations of one object, as of a revision. */
export interface AllocatedObject {
  readonly key: string;
  readonly revision: number;
  readonly allocations: readonly string[];
}

/**
 * The allocations of all objects in a cache. The index catches up with the history of the cache when it is asked to, so that
 * each state of an object is looked at once, and none as long as the index is not used.
 */
export class AllocationIndex {
  readonly #cache: ResourceCache;
  readonly #allocationsOf: (object: ApiObject) => readonly string[];
  readonly #objects = new Map<string, AllocatedObject>();
  /** How many objects have an allocation: more than one only where other programs wrote to the store. */
  readonly #counts = new Map<string, number>();
  /** In the history of the cache: changes before it are in the index. Positions are 0 and up. */
  #position = -1;

  constructor(cache: ResourceCache, allocationsOf: (object: ApiObject) => readonly string[]) {
    this.#cache = cache;
    this.#allocationsOf = allocationsOf;
  }

  /** Takes in the changes since the last call. */
  catchUp(): void {
    const { history } = this.#cache;
    if (this.#position < history.first) this.#startOver();
    else {
      for (let at = this.#position; at < history.end; at++) {
        const change = history.at(at);
        if (change === undefined) continue;
        this.#drop(change.object.key);
        if (!change.deleted) this.#add(change.object);
      }
    }
    this.#position = history.end;
  }

  has(allocation: string): boolean {
    return this.#counts.has(allocation);
  }

  objects(): Iterable<AllocatedObject> {
    return this.#objects.values();
  }

  #startOver(): void {
    this.#objects.clear();
    this.#counts.clear();
    const { from, to } = this.#cache.range('');
    for (const object of this.#cache.current.between(from, to)) this.#add(object);
  }

  #add(object: CachedObject): void {
    const { key, revision } = object;
    const allocations = [...new Set(this.#allocationsOf(object.parse() as ApiObject))]; // we encoded it
    this.#objects.set(key, { key, revision, allocations });
    for (const allocation of allocations) this.#counts.set(allocation, (this.#counts.get(allocation) ?? 0) + 1);
  }

  #drop(key: string): void {
    const known = this.#objects.get(key);
    if (known === undefined) return;
    this.#objects.delete(key);
    for (const allocation of known.allocations) {
      const left = (this.#counts.get(allocation) ?? 1) - 1;
      if (left === 0) this.#counts.delete(allocation);
      else this.#counts.set(allocation, left);
    }
  }
}
