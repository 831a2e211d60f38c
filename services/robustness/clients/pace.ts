import { hasFired, rest } from '../../machinery/loop/repeat.js';

/** How many operations there are, and how fast. */
export class Pace {
  readonly #most: number;
  readonly #gapMs: number;
  #begun = 0;
  #nextAt = 0;

  /** @param most Operations in all. @param perSecond 0: as fast as they are answered. */
  constructor(most: number, perSecond: number) {
    this.#most = most;
    this.#gapMs = perSecond === 0 ? 0 : 1000 / perSecond;
  }

  get begun(): number {
    return this.#begun;
  }

  /** The number of the operation that may begin now; undefined: there are no more. */
  async next(signal: AbortSignal): Promise<number | undefined> {
    if (hasFired(signal) || this.#begun >= this.#most) return undefined;
    const id = this.#begun++;
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#gapMs;
    if (at > now) await rest(at - now, signal);
    return hasFired(signal) ? undefined : id;
  }

  /** For operations that are done whatever the limits. */
  take(): number {
    return this.#begun++;
  }
}
