import type { Snapshot } from './ordered.js';

interface Kept {
  readonly snapshot: Snapshot;
  readonly atMs: number;
}

/**
 * States of one resource that continue tokens point at, by revision. Bounded in number and age: a token that outlives
 * its snapshot is served by the store at that revision.
 */
export class Snapshots {
  readonly #kept = new Map<number, Kept>();
  readonly #max: number;
  readonly #retainMs: number;
  readonly #now: () => number;

  constructor(o: { readonly max: number; readonly retainMs: number; readonly now?: () => number }) {
    this.#max = o.max;
    this.#retainMs = o.retainMs;
    this.#now = o.now ?? Date.now;
  }

  get(revision: number): Snapshot | undefined {
    this.#dropOld();
    return this.#kept.get(revision)?.snapshot;
  }

  keep(revision: number, snapshot: Snapshot): void {
    this.#dropOld();
    this.#kept.delete(revision); // to the end of the order
    this.#kept.set(revision, { snapshot, atMs: this.#now() });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#max) break;
      this.#kept.delete(oldest);
    }
  }

  clear(): void {
    this.#kept.clear();
  }

  #dropOld(): void {
    const oldest = this.#now() - this.#retainMs;
    for (const [revision, { atMs }] of this.#kept) {
      if (atMs >= oldest) break;
      this.#kept.delete(revision);
    }
  }
}
