import { NO_REVISION, StoreError, type Revision } from '../store.js';

/** Revision and cluster of the store that gave an answer. */
export interface Head {
  readonly revision: Revision;
  /** The id of the cluster, as etcd made it when the cluster began. */
  readonly cluster: bigint;
}

/**
 * How far the history of a store has come, as its answers told. Linearizable answers never go back: one that does comes
 * from a store that was restored from a copy, or from another one in its place.
 */
export class Lineage {
  #newest: Revision = NO_REVISION;
  #cluster: bigint | undefined;

  /** The newest revision that was told. */
  get newest(): Revision {
    return this.#newest;
  }

  saw(at: Revision): void {
    if (at > this.#newest) this.#newest = at;
  }

  /** Whether `head`, which was asked for when `floor` was the newest, belongs to the same history. Notes it if so. */
  continues(head: Head, floor: Revision): boolean {
    this.#cluster ??= head.cluster;
    if (head.cluster !== this.#cluster || head.revision < floor) return false;
    this.saw(head.revision);
    return true;
  }

  /** From now on the history is that of `head`. */
  restart(head: Head): void {
    this.#newest = head.revision;
    this.#cluster = head.cluster;
  }
}

/** The change that a watch delivered last. */
export interface Witness {
  readonly key: string;
  readonly modRevision: Revision;
  readonly deleted: boolean;
}

/** Where a watch goes on. */
export interface Place {
  /** The next revision to deliver, above 0. */
  readonly next: Revision;
  /** Its key has not changed again before `next`. */
  readonly last: Witness | undefined;
}

export const replacedError = (why: string): StoreError =>
  new StoreError('replaced', `The store has another history than it told before: ${why}`);
