import { workOff } from '../../client/queue/work-off.js';
import type { WorkQueue } from '../../client/queue/work-queue.js';
import { hasFired } from '../../machinery/loop/repeat.js';
import type { Log } from '../../machinery/log/log.js';
import type { Controller } from '../controller.js';

export interface WorkDeps {
  readonly name: string;
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly log: Log;
  /** Told of each reconcile and how it went. */
  readonly observe: (result: 'success' | 'error' | 'requeue_after', seconds: number) => void;
  readonly onSynced: () => void;
}

/** When to end: `stop` lets reconciles under way finish, `halt` ends them, too. */
export interface Ends {
  readonly stop: AbortSignal;
  readonly halt: AbortSignal;
}

/**
 * Works on the keys of one controller from when its informers are filled: an empty one would read as "all gone".
 *
 * @returns when it has stopped and nothing is under way. @throws what `run` of the controller throws
 */
export async function work(d: WorkDeps, { stop, halt }: Ends): Promise<void> {
  try {
    const isFilled = await Promise.all(d.controller.informers.map((informer) => informer.synced(stop))).catch(
      (err: unknown) => {
        if (!stop.aborted) throw err;
      },
    );
    if (isFilled === undefined || hasFired(stop)) return;
    d.onSynced();
    const workers = Array.from({ length: d.controller.workers }, () => workOnKeys(d, { stop, halt }));
    await Promise.all([...workers, runBeside(d, stop)]);
  } finally {
    d.queue.shutDown();
  }
}

function workOnKeys(d: WorkDeps, ends: Ends): Promise<void> {
  const { queue, log, observe, name } = d;
  let startMs = 0; // a worker has one key at a time
  const seconds = (): number => (performance.now() - startMs) / 1000;
  return workOff(queue, {
    ...ends,
    work: async (key) => {
      startMs = performance.now();
      const next = await d.controller.reconcile(key, ends.halt);
      queue.forget(key);
      if (next !== undefined) queue.addAfter(key, next.againInMs);
      observe(next === undefined ? 'success' : 'requeue_after', seconds());
    },
    failed: (key, err, failures) => {
      observe('error', seconds());
      log.warn('Reconcile failed', { controller: name, key, failures, err });
    },
  });
}

async function runBeside({ controller: { run }, name }: WorkDeps, stop: AbortSignal): Promise<void> {
  try {
    await run?.(stop);
  } catch (err) {
    if (!hasFired(stop)) throw new Error(`The controller ${name} cannot go on`, { cause: err });
  }
}

/** Resolves when the signal fires. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
