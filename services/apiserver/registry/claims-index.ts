import type { ApiObject } from '../../machinery/meta/object.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { ResourceCache } from '../cache/resource-cache.js';

/** What one object claims, as of a revision. */
export interface Claimant {
  readonly key: string;
  readonly revision: number;
  readonly claims: readonly string[];
}

/**
 * Who claims what, as far as the cache has come. It catches up with the cache's history when it is asked, so each object
 * is looked at once for each of its states, and only when somebody wants to know.
 */
export class ClaimIndex {
  readonly #cache: ResourceCache;
  readonly #claimsOf: (object: ApiObject) => readonly string[];
  readonly #claimants = new Map<string, Claimant>();
  /** How many claim it: more than one only where the store was written to by others. */
  readonly #counts = new Map<string, number>();
  /** In the history of the cache: what is before it has been looked at. Positions are 0 and up. */
  #position = -1;

  constructor(cache: ResourceCache, claimsOf: (object: ApiObject) => readonly string[]) {
    this.#cache = cache;
    this.#claimsOf = claimsOf;
  }

  /** Takes in what has changed since the last time. */
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

  has(claim: string): boolean {
    return this.#counts.has(claim);
  }

  claimants(): Iterable<Claimant> {
    return this.#claimants.values();
  }

  #startOver(): void {
    this.#claimants.clear();
    this.#counts.clear();
    const { from, to } = this.#cache.range('');
    for (const object of this.#cache.current.between(from, to)) this.#add(object);
  }

  #add(object: CachedObject): void {
    const { key, revision } = object;
    const claims = [...new Set(this.#claimsOf(object.parse() as ApiObject))]; // we encoded it
    this.#claimants.set(key, { key, revision, claims });
    for (const claim of claims) this.#counts.set(claim, (this.#counts.get(claim) ?? 0) + 1);
  }

  #drop(key: string): void {
    const known = this.#claimants.get(key);
    if (known === undefined) return;
    this.#claimants.delete(key);
    for (const claim of known.claims) {
      const left = (this.#counts.get(claim) ?? 1) - 1;
      if (left === 0) this.#counts.delete(claim);
      else this.#counts.set(claim, left);
    }
  }
}
