/** Longest queue at one key; who comes then takes the chance of a lost race instead. */
const MAX_WAITING = 512;

/**
 * Lets one write at a time through for each key. The transaction decides who wins whatever happens here; but writers of
 * one process that take turns do not lose races against each other, and work is not done again and again.
 */
export class Lanes {
  readonly #tails = new Map<string, { readonly done: Promise<void>; readonly length: number }>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    if (before !== undefined && before.length >= MAX_WAITING) return work();
    const running = before === undefined ? work() : before.done.then(work);
    const done = running.then(ignore, ignore);
    const mine = { done, length: (before?.length ?? 0) + 1 };
    this.#tails.set(key, mine);
    try {
      return await running;
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    }
  }
}

const ignore = (): void => undefined;
