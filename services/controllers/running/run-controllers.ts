import { WorkQueue } from '../../client/queue/work-queue.js';
import type { Controller, ControllerEntry } from '../controller.js';
import type { ControllerMetrics } from './metrics.js';
import { openScene, type Scene, type SceneOptions } from './scene.js';
import { aborted, work, type Ends } from './work.js';

export interface RunOptions extends SceneOptions {
  readonly entries: readonly ControllerEntry[];
  /** Those of the groups; each entry takes what it knows. */
  readonly options: object;
  readonly metrics: ControllerMetrics;
  /** Told when the informers of all controllers are filled. */
  readonly onSynced: () => void;
}

/**
 * Runs controllers until `stop` fires; reconciles under way may finish, unless `halt` fires, too.
 *
 * @throws {Error} when one of them cannot go on; then all have ended
 */
export async function runControllers(o: RunOptions, ends: Ends): Promise<void> {
  const failed = new AbortController();
  const over = new AbortController();
  const stop = AbortSignal.any([ends.stop, failed.signal]);
  const halt = AbortSignal.any([ends.halt, failed.signal]);
  const scene = openScene(o, AbortSignal.any([halt, over.signal]));
  let background: Promise<void> | undefined;
  try {
    const opened = await openAll(o, scene);
    background = scene.run();
    const failures = await workOnAll(o, opened, { stop, halt }, (err) => failed.abort(err));
    if (failures.length > 0) throw failures[0];
  } finally {
    over.abort();
    await background;
    scene.close();
  }
}

/** @returns What they failed with. */
async function workOnAll(
  o: RunOptions,
  opened: readonly Opened[],
  ends: Ends,
  onFailure: (err: unknown) => void,
): Promise<unknown[]> {
  let unsynced = opened.length;
  const onSynced = (): void => {
    if (--unsynced <= 0) o.onSynced();
  };
  if (unsynced === 0) o.onSynced();
  const { log, metrics } = o;
  const working = opened.map(async (one) => {
    try {
      const observe = (result: string, seconds: number): void => metrics.reconciled(one.name, result, seconds);
      await work({ ...one, log, observe, onSynced }, ends);
      return [];
    } catch (err) {
      onFailure(err);
      return [err];
    }
  });
  if (working.length === 0) await aborted(ends.stop); // nothing to do is no reason to end
  return (await Promise.all(working)).flat();
}

interface Opened {
  readonly name: string;
  readonly controller: Controller;
  readonly queue: WorkQueue;
}

async function openAll({ entries, options, metrics, log }: RunOptions, scene: Scene): Promise<readonly Opened[]> {
  const opened: Opened[] = [];
  for (const entry of entries) {
    const { name } = entry;
    const queue = new WorkQueue({ observer: metrics.queues.observer(name) });
    const controller = await entry.open(options as never, scene.depsOf(entry, queue)); // which has the flags of its group
    if (controller === undefined) continue;
    metrics.queues.follow(name, queue);
    opened.push({ name, controller, queue });
  }
  log.info('Controllers run', { controllers: opened.map(({ name }) => name) });
  return opened;
}
