import type { KeyValueStore, LeaseId } from '../../storage/store.js';

/** One lease serves all objects of a while, so that a burst of events does not make a lease each. */
const SHARED_FOR_MS = 60_000;
/** The while is at most this part of the objects' time. */
const SHARED_PART = 0.05;
/** Most objects on one lease: its end is one transaction. */
const MAX_OBJECTS = 1_000;

interface Shared {
  readonly lease: Promise<LeaseId>;
  readonly sinceMs: number;
  objects: number;
}

/**
 * Leases for objects that are kept for a time only. An object lives at least as long as asked, and a twentieth longer or
 * a minute, whichever is less.
 */
export class LeasePool {
  readonly #store: Pick<KeyValueStore, 'grantLease'>;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  readonly #byTtl = new Map<number, Shared>();

  /** @param now Milliseconds on a clock that only goes forward. */
  constructor(store: Pick<KeyValueStore, 'grantLease'>, signal: AbortSignal, now = (): number => performance.now()) {
    this.#store = store;
    this.#signal = signal;
    this.#now = now;
  }

  /** @param ended A lease that was given out for this time and that the store no longer knows: it is not given again. */
  async leaseFor(ttlSeconds: number, ended?: LeaseId): Promise<LeaseId> {
    const shared = this.#shared(ttlSeconds);
    if (ended === undefined || (await shared.lease) !== ended) return shared.lease;
    if (this.#byTtl.get(ttlSeconds) === shared) this.#byTtl.delete(ttlSeconds);
    return this.#shared(ttlSeconds).lease;
  }

  #shared(ttlSeconds: number): Shared {
    const sharedForMs = Math.min(SHARED_FOR_MS, ttlSeconds * 1000 * SHARED_PART);
    const known = this.#byTtl.get(ttlSeconds);
    if (known !== undefined && this.#now() - known.sinceMs < sharedForMs && known.objects < MAX_OBJECTS) {
      known.objects++;
      return known;
    }
    const lease = this.#store.grantLease(ttlSeconds + Math.ceil(sharedForMs / 1000), this.#signal);
    const shared = { lease, sinceMs: this.#now(), objects: 1 };
    this.#byTtl.set(ttlSeconds, shared);
    lease.catch(() => {
      // The next object tries again; this one's writer hears of it.
      if (this.#byTtl.get(ttlSeconds) === shared) this.#byTtl.delete(ttlSeconds);
    });
    return shared;
  }
}
