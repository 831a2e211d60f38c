/** A write that has not shown in the cache by then has failed, or somebody else has the claim. */
const KEPT_MS = 5_000;
const MAX_KEPT = 1_024;

/**
 * What this process has chosen in the last moments and may not see in its cache yet. Only a hint, which keeps writes of
 * one process from choosing the same over and over; the store decides.
 */
export class RecentChoices {
  readonly #untilMs = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  has(claim: string): boolean {
    const until = this.#untilMs.get(claim);
    return until !== undefined && until > this.#now();
  }

  add(claim: string): void {
    this.#untilMs.delete(claim);
    this.#untilMs.set(claim, this.#now() + KEPT_MS);
    for (const [oldest, until] of this.#untilMs) {
      if (this.#untilMs.size <= MAX_KEPT && until > this.#now()) break;
      this.#untilMs.delete(oldest);
    }
  }
}
