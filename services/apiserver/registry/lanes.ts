/** Most writes at one key, under way and waiting; who comes then takes the chance of a lost race instead. */
const MAX_IN_LANE = 512;

interface Lane {
  /** Settles when the last of the lane is through. */
  last: Promise<void>;
  length: number;
}

/**
 * Lets one write at a time through for each key. The transaction decides who wins whatever happens here; but writers of
 * one process that take turns do not lose races against each other, and work is not done again and again.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    let lane = this.#lanes.get(key);
    if (lane !== undefined && lane.length >= MAX_IN_LANE) return work();
    const mine = lane === undefined ? work() : lane.last.then(work);
    const through = mine.then(ignore, ignore);
    if (lane === undefined) this.#lanes.set(key, (lane = { last: through, length: 0 }));
    lane.last = through;
    lane.length++;
    try {
      return await mine;
    } finally {
      if (--lane.length === 0) this.#lanes.delete(key);
    }
  }
}

const ignore = (): void => undefined;
