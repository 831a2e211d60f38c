import { later, type Later } from './later.js';
import type { Snapshot } from './ordered.js';

export interface SnapshotLimits {
  /** Most bytes of replaced and deleted objects that all snapshots together may hold on to. */
  readonly maxBytes: number;
  /** Most snapshots of one resource. */
  readonly max: number;
  readonly retainMs: number;
}

/** Ten seconds of 1,000 changes a second of 3 KB, or 5 min of a hundred: a client pages through a list in less. */
export const SNAPSHOT_LIMITS: SnapshotLimits = { maxBytes: 32 << 20, max: 32, retainMs: 5 * 60_000 };

interface Kept {
  readonly owner: Snapshots;
  readonly revision: number;
  readonly snapshot: Snapshot;
  readonly atMs: number;
  /** Bytes of objects that were replaced before the next snapshot was kept: only this and older ones hold them. */
  bytes: number;
}

/** The bound of the snapshots of all resources together: the oldest goes first, and each goes when it is too old. */
export class SnapshotBudget {
  readonly limits: SnapshotLimits;
  readonly now: () => number;
  readonly #later: Later;
  /** Oldest first. */
  readonly #kept = new Set<Kept>();
  #bytes = 0;
  #waiting = false;

  /** @param o.now Milliseconds on a clock that only goes forward. */
  constructor(limits: SnapshotLimits, o: { readonly now?: () => number; readonly later?: Later } = {}) {
    this.limits = limits;
    this.now = o.now ?? ((): number => performance.now());
    this.#later = o.later ?? later;
  }

  /** The bytes that only snapshots hold. */
  get bytes(): number {
    return this.#bytes;
  }

  add(kept: Kept): void {
    this.#kept.add(kept);
    this.#await(kept);
  }

  remove(kept: Kept): void {
    if (this.#kept.delete(kept)) this.#bytes -= kept.bytes;
  }

  grown(kept: Kept, bytes: number): void {
    kept.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.limits.maxBytes) return;
      oldest.owner.drop(oldest.revision);
    }
  }

  #await(oldest: Kept): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#later(() => this.#dropOld(), Math.max(0, oldest.atMs + this.limits.retainMs - this.now()));
  }

  #dropOld(): void {
    this.#waiting = false;
    const oldest = this.now() - this.limits.retainMs;
    for (const kept of this.#kept) {
      if (kept.atMs > oldest) {
        this.#await(kept);
        return;
      }
      kept.owner.drop(kept.revision);
    }
  }
}

/**
 * States of one resource that continue tokens point at, by revision. Bounded in number, age and bytes: a token that
 * outlives its snapshot is served by the store at that revision.
 */
export class Snapshots {
  readonly #kept = new Map<number, Kept>();
  readonly #budget: SnapshotBudget;
  #newest: Kept | undefined;

  constructor(budget: SnapshotBudget) {
    this.#budget = budget;
  }

  get(revision: number): Snapshot | undefined {
    return this.#kept.get(revision)?.snapshot;
  }

  /** Keeps the present state. */
  keep(revision: number, snapshot: Snapshot): void {
    this.drop(revision);
    const kept = { owner: this, revision, snapshot, atMs: this.#budget.now(), bytes: 0 };
    this.#kept.set(revision, kept);
    this.#newest = kept;
    this.#budget.add(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#budget.limits.max) break;
      this.drop(oldest);
    }
  }

  /** An object of the present state has been replaced or deleted. */
  replaced(bytes: number): void {
    if (this.#newest !== undefined) this.#budget.grown(this.#newest, bytes);
  }

  drop(revision: number): void {
    const kept = this.#kept.get(revision);
    if (kept === undefined) return;
    this.#kept.delete(revision);
    this.#budget.remove(kept);
    if (this.#newest === kept) this.#newest = undefined;
  }

  clear(): void {
    for (const revision of [...this.#kept.keys()]) this.drop(revision);
  }
}
