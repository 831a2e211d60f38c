import type { KeyValueStore, LeaseId } from '../../storage/store.js';

/** One lease serves all objects of this long a while, so that a burst of events does not make a lease each. */
const SHARED_FOR_MS = 60_000;
/** Most objects on one lease: its end is one transaction. */
const MAX_OBJECTS = 1_000;

interface Shared {
  readonly lease: Promise<LeaseId>;
  readonly sinceMs: number;
  objects: number;
}

/** Leases for objects that are kept for a time only. An object lives at least as long as asked, a minute longer at most. */
export class LeasePool {
  readonly #store: KeyValueStore;
  readonly #signal: AbortSignal;
  readonly #byTtl = new Map<number, Shared>();

  constructor(store: KeyValueStore, signal: AbortSignal) {
    this.#store = store;
    this.#signal = signal;
  }

  leaseFor(ttlSeconds: number): Promise<LeaseId> {
    const known = this.#byTtl.get(ttlSeconds);
    if (known !== undefined && Date.now() - known.sinceMs < SHARED_FOR_MS && known.objects < MAX_OBJECTS) {
      known.objects++;
      return known.lease;
    }
    const lease = this.#store.grantLease(ttlSeconds + SHARED_FOR_MS / 1000, this.#signal);
    this.#byTtl.set(ttlSeconds, { lease, sinceMs: Date.now(), objects: 1 });
    lease.catch(() => this.#byTtl.delete(ttlSeconds)); // the next object tries again; this one's writer hears of it
    return lease;
  }
}
