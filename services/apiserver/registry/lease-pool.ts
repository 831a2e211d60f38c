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
  readonly #store: KeyValueStore;
  readonly #signal: AbortSignal;
  readonly #byTtl = new Map<number, Shared>();

  constructor(store: KeyValueStore, signal: AbortSignal) {
    this.#store = store;
    this.#signal = signal;
  }

  leaseFor(ttlSeconds: number): Promise<LeaseId> {
    const sharedForMs = Math.min(SHARED_FOR_MS, ttlSeconds * 1000 * SHARED_PART);
    const known = this.#byTtl.get(ttlSeconds);
    if (known !== undefined && Date.now() - known.sinceMs < sharedForMs && known.objects < MAX_OBJECTS) {
      known.objects++;
      return known.lease;
    }
    const lease = this.#store.grantLease(ttlSeconds + Math.ceil(sharedForMs / 1000), this.#signal);
    this.#byTtl.set(ttlSeconds, { lease, sinceMs: Date.now(), objects: 1 });
    lease.catch(() => this.#byTtl.delete(ttlSeconds)); // the next object tries again; this one's writer hears of it
    return lease;
  }
}
