/** A bucket of permits that fills with time. */
export class Throttle {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  #permits: number;
  #at: number;

  constructor(
    o: { readonly perSecond: number; readonly burst: number },
    nowMs: () => number = () => performance.now(),
  ) {
    this.#perSecond = o.perSecond;
    this.#burst = o.burst;
    this.#nowMs = nowMs;
    this.#permits = o.burst;
    this.#at = nowMs();
  }

  /** Takes a permit, of those to come when none is left. @returns How long to wait for it. */
  delayMs(): number {
    const now = this.#nowMs();
    this.#permits = Math.min(this.#burst, this.#permits + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    this.#permits -= 1;
    return this.#permits >= 0 ? 0 : (-this.#permits / this.#perSecond) * 1000;
  }
}
