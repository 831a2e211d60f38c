import { randomBytes } from 'node:crypto';

import { StoreError, type LeaseId } from '../store.js';
import type { Environment } from './environment.js';
import type { GroupCommit } from './group-commit.js';
import {
  attachedSpan,
  decodeNumber,
  encodeNumber,
  keyOfAttached,
  leaseKey,
  leaseOfKey,
  leaseSpan,
  type LeaseNumber,
} from './records.js';
import type { Transactor } from './transactor.js';

interface Lease {
  readonly number: LeaseNumber;
  readonly ttlMs: number;
  /** On the clock of `performance.now()`. */
  endsAt: number;
}

export interface LeasesOptions {
  readonly env: Environment;
  readonly commit: GroupCommit;
}

/** As etcd: ended leases are looked for twice a second. */
const SWEEP_MS = 500;
/** Longest a lease may be: about 285 years, as in etcd. */
const MAX_TTL_SECONDS = 9_000_000_000;

/**
 * Leases in memory, their seconds on the disk. A renewal is not written: after a restart every lease has its full time
 * again, so nothing ends early because the server was away.
 */
export class Leases {
  readonly #o: LeasesOptions;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(o: LeasesOptions) {
    this.#o = o;
    this.reset();
  }

  /** Back to the leases on the disk. One that is not known here has its full time. */
  reset(): void {
    const known = new Map(this.#leases);
    const now = performance.now();
    this.#leases.clear();
    for (const { key, value } of this.#o.env.entries(leaseSpan)) {
      const number = leaseOfKey(key);
      const ttlMs = decodeNumber(value) * 1000;
      const id = String(number);
      this.#leases.set(id, known.get(id) ?? { number, ttlMs, endsAt: now + ttlMs });
    }
  }

  /** Ends leases from now on: deletes their keys through `transactor`. */
  start(transactor: Transactor): void {
    const timer = setInterval(() => {
      this.#sweep(transactor);
    }, SWEEP_MS);
    timer.unref();
    this.#timer = timer;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @throws {RangeError} */
  grant(ttlSeconds: number): LeaseId {
    if (!(ttlSeconds >= 1 && ttlSeconds <= MAX_TTL_SECONDS)) {
      throw new RangeError(`Cannot grant a lease of ${ttlSeconds} s: it must last from 1 to ${MAX_TTL_SECONDS}`);
    }
    const number = this.#freeNumber();
    const id = String(number) as LeaseId;
    const seconds = Math.ceil(ttlSeconds);
    this.#leases.set(id, { number, ttlMs: seconds * 1000, endsAt: performance.now() + seconds * 1000 });
    this.#o.commit.write(leaseKey(number), encodeNumber(seconds));
    return id;
  }

  /** @throws {StoreError} leaseNotFound */
  renew(id: LeaseId): void {
    const lease = this.#find(id);
    lease.endsAt = performance.now() + lease.ttlMs;
  }

  /** Deletes its keys at one revision. @throws {StoreError} leaseNotFound */
  revoke(id: LeaseId, transactor: Transactor): void {
    const { number } = this.#find(id);
    const stored = [...this.#o.env.keys(attachedSpan(number))].map(keyOfAttached);
    const keys = transactor.heldBy(number, stored).sort();
    this.#leases.delete(id);
    this.#o.commit.write(leaseKey(number), undefined);
    transactor.write(
      keys.map((key) => ({ type: 'delete', key })),
      [],
    );
  }

  /** @throws {StoreError} leaseNotFound */
  numberOf(id: LeaseId): LeaseNumber {
    return this.#find(id).number;
  }

  #find(id: LeaseId): Lease {
    const lease = this.#leases.get(id);
    if (lease === undefined) throw new StoreError('leaseNotFound', `Lease ${id} has ended or never was`);
    return lease;
  }

  #sweep(transactor: Transactor): void {
    const now = performance.now();
    for (const [id, lease] of this.#leases) {
      if (lease.endsAt <= now) this.revoke(id as LeaseId, transactor);
    }
  }

  /** Positive and below 2^63, as etcd's are. */
  #freeNumber(): LeaseNumber {
    for (;;) {
      const number = randomBytes(8).readBigUInt64BE() >> 1n;
      if (number > 0n && !this.#leases.has(String(number))) return number;
    }
  }
}
