import { hasFired, repeat } from '../../machinery/loop/repeat.js';
import { follow } from './follow.js';
import type { ResourceCache } from './resource-cache.js';

export interface UpkeepLoop {
  /** The caches that are followed: a change in any of them brings the next pass. */
  readonly caches: readonly ResourceCache[];
  /** Brings all in line. @returns How long to rest before the next look, in milliseconds. */
  readonly pass: (signal: AbortSignal) => Promise<number>;
  /** Told of every pass that failed; the next one comes after a pause, a longer one each time. */
  readonly onFailure: (err: unknown) => void;
}

/**
 * Runs a pass at once, and again whenever something has changed, until `signal` fires. Never throws. The caches have to
 * be loaded.
 */
export async function runOnChanges({ caches, pass, onFailure }: UpkeepLoop, signal: AbortSignal): Promise<void> {
  const changes = new Changes(caches);
  const round = async (): Promise<number | 'finished'> => {
    await changes.next(signal);
    return hasFired(signal) ? 'finished' : pass(signal);
  };
  const failed = (err: unknown): void => {
    onFailure(err);
    changes.again();
  };
  await repeat({ round, onFailure: failed }, signal);
}

/** Whether there is something to look at; at the start there is. */
class Changes {
  #dirty = true;
  #wake: () => void = () => undefined;

  constructor(caches: readonly ResourceCache[]) {
    for (const cache of caches) follow(cache, { loaded: () => this.again(), changed: () => this.again() });
  }

  again(): void {
    this.#dirty = true;
    this.#wake();
  }

  /** Resolves when there is, or when `signal` fires. From then on further changes count anew. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#dirty && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          signal.removeEventListener('abort', done);
          this.#wake = () => undefined;
          resolve();
        };
        this.#wake = done;
        signal.addEventListener('abort', done);
      });
    }
    this.#dirty = false;
  }
}
