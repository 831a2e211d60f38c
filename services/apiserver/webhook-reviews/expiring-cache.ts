export interface ExpiringCacheOptions {
  readonly maxEntries: number;
  /** The sum of what entries weigh is at most that. */
  readonly maxWeight: number;
  /** Milliseconds of a clock that never goes back. @default performance.now */
  readonly nowMs?: () => number;
}

export interface Lasting {
  /** 0: it is not kept. */
  readonly ttlMs: number;
  readonly weight: number;
}

interface Entry<V> {
  readonly value: V;
  readonly untilMs: number;
  readonly weight: number;
}

/** Keeps answers for a time. When it is full, what was not asked for the longest time goes. */
export class ExpiringCache<V extends object> {
  /** Those that were asked for last are last. */
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxEntries: number;
  readonly #maxWeight: number;
  readonly #nowMs: () => number;
  #weight = 0;

  constructor({ maxEntries, maxWeight, nowMs = (): number => performance.now() }: ExpiringCacheOptions) {
    this.#maxEntries = maxEntries;
    this.#maxWeight = maxWeight;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#nowMs() >= entry.untilMs) {
      this.#remove(key, entry);
      return undefined;
    }
    this.#entries.delete(key); // a map keeps the order in which entries came
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, { ttlMs, weight }: Lasting): void {
    const old = this.#entries.get(key);
    if (old !== undefined) this.#remove(key, old);
    if (ttlMs <= 0 || weight > this.#maxWeight) return;
    this.#entries.set(key, { value, untilMs: this.#nowMs() + ttlMs, weight });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#weight <= this.#maxWeight) return;
      this.#remove(oldest, entry);
    }
  }

  #remove(key: string, entry: Entry<V>): void {
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
