/** Most holders and waiters of one key; those beyond go ahead at once, and may lose a race in the store. */
const MAX_QUEUED = 512;

interface Queue {
  /** Settles when the last one in the queue is done. */
  tail: Promise<void>;
  length: number;
}

/**
 * A lock for each key, in this process. It is an optimization: the store's transaction decides who wins; but writers of
 * one object that take turns do not lose races against each other and repeat their work.
 */
export class KeyLocks {
  readonly #queues = new Map<string, Queue>();

  /**
   * Runs `work` after everything that was asked for this key before, whether that succeeded or failed.
   *
   * @param work.leave Lets the next one go ahead before this one has ended.
   */
  async run<T>(key: string, work: (leave: () => void) => Promise<T>): Promise<T> {
    let queue = this.#queues.get(key);
    if (queue !== undefined && queue.length >= MAX_QUEUED) return work(ignore);
    let leave = ignore;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const mine = queue === undefined ? work(leave) : queue.tail.then(() => work(leave));
    const tail = Promise.race([left, mine.then(ignore, ignore)]);
    if (queue === undefined) this.#queues.set(key, (queue = { tail, length: 0 }));
    queue.tail = tail;
    queue.length++;
    try {
      return await mine;
    } finally {
      if (--queue.length === 0) this.#queues.delete(key);
    }
  }
}

const ignore = (): void => undefined;
