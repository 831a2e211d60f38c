import { hasFired } from '../../machinery/loop/repeat.js';
import type { WorkQueue } from './work-queue.js';

export interface KeyWork {
  /** No more keys are taken once it has fired. */
  readonly stop: AbortSignal;
  /** Ends what is under way: what fails from then on is no failure. @default `stop` */
  readonly halt?: AbortSignal;
  /** Says itself when its key is due again, unless it fails. */
  readonly work: (key: string) => Promise<void>;
  /** The key comes again after a pause. @param failures In a row, this one included. */
  readonly failed: (key: string, err: unknown, failures: number) => void;
}

/** Works on the keys of a queue one by one until `stop` fires or the queue is shut down. Never throws. */
export async function workOff(queue: WorkQueue, { stop, halt = stop, work, failed }: KeyWork): Promise<void> {
  for (let key = await queue.get(stop); key !== undefined; key = await queue.get(stop)) {
    try {
      await work(key);
    } catch (err) {
      if (hasFired(halt)) continue; // to be ended is no failure
      failed(key, err, queue.failures(key) + 1);
      queue.addRateLimited(key);
    } finally {
      queue.done(key); // a change that came meanwhile can be taken now
    }
  }
}
