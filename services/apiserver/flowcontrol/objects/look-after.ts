import { setTimeout as sleep } from 'node:timers/promises';
import { follow } from '../../cache/follow.js';
import type { Log } from '../../log.js';
import { Upkeep, type UpkeepDeps } from './upkeep.js';

const RETRY = { leastMs: 200, mostMs: 30_000 };
/** Two releases may want the same object in two forms: each takes its time before it answers the other. */
const REST_MS = 1_000;

/**
 * Keeps the levels and schemas of every installation, from the start of the server until `signal` fires: at once when
 * something changes, but for a rest after what it has written itself. Never throws. The caches have to be loaded.
 *
 * @param d `state.flowControlSettled` is set once all of them are there.
 */
export async function lookAfterFlowControl(
  d: UpkeepDeps & { readonly state: { flowControlSettled: boolean } },
  log: Pick<Log, 'warn'>,
  signal: AbortSignal,
): Promise<void> {
  const upkeep = new Upkeep(d);
  const changes = new Changes(upkeep);
  let failures = 0;
  while (!signal.aborted) {
    await changes.next(signal);
    if (fired(signal)) return;
    let pauseMs = 0;
    try {
      if (await upkeep.pass()) pauseMs = REST_MS;
      d.state.flowControlSettled = true;
      failures = 0;
    } catch (err) {
      if (fired(signal)) return;
      log.warn('Flow schemas and priority levels could not be brought in line yet', { err });
      changes.again();
      pauseMs = Math.min(RETRY.mostMs, RETRY.leastMs * 2 ** failures++);
    }
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Asked again after an await: the compiler takes the answer from before it. */
const fired = (signal: AbortSignal): boolean => signal.aborted;

/** Whether there is something to look at. */
class Changes {
  #dirty = true;
  #wake: () => void = () => undefined;

  constructor({ caches }: Pick<Upkeep, 'caches'>) {
    for (const cache of caches) follow(cache, { loaded: () => this.again(), changed: () => this.again() });
  }

  again(): void {
    this.#dirty = true;
    this.#wake();
  }

  /** Resolves when there is, or when `signal` fires. */
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
