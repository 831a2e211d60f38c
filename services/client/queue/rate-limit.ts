import { rest } from '../../machinery/loop/repeat.js';

/**
 * A bucket of tokens: `burst` at first, `perSecond` come again. Tokens are promised in the order in which they are asked for.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  /** Below zero: promised. */
  #tokens: number;
  #at: number;

  /** @param perSecond Infinity: no limit. @param now Milliseconds that only rise. */
  constructor(perSecond: number, burst: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#tokens = burst;
    this.#at = now();
  }

  /** Takes a token. @returns Milliseconds until it is there. */
  reserve(): number {
    if (this.#perSecond === Infinity) return 0;
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond) - 1;
    this.#at = now;
    return Math.max(0, (-this.#tokens / this.#perSecond) * 1000);
  }

  /** Takes a token if one is there now. */
  tryTake(): boolean {
    if (this.reserve() === 0) return true;
    this.#tokens++;
    return false;
  }

  /** Takes a token when it is there. @throws `signal.reason`; then none is taken. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ms = this.reserve();
    if (ms === 0) return;
    await rest(ms, signal);
    if (!signal.aborted) return;
    this.#tokens++;
    throw signal.reason;
  }
}
