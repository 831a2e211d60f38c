import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import { keyOf, nameOf, type Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import type { Job } from '../machinery/types/generated/batch.v1.js';

export interface TtlAfterFinishedOptions {
  readonly concurrentTtlAfterFinishedSyncs: number;
}

/** Longest that a timer runs. */
const MAX_WAIT_MS = 24 * 3_600_000;

/** Deletes jobs some time after they have finished, where they say so. A key is `namespace/name`; each has a timer. */
export function openTtlAfterFinished(o: TtlAfterFinishedOptions, d: ControllerDeps): Controller {
  const types = builtInTypes(d.vocabulary);
  const jobs = d.informers.of(types.jobs);
  const add = (job: Live<Job>): void => {
    if (endOf(job) !== undefined) d.queue.add(keyOf(job.metadata));
  };
  jobs.handle({ added: add, updated: add });
  return {
    informers: [jobs],
    workers: o.concurrentTtlAfterFinishedSyncs,
    reconcile: async (key, signal) => {
      const job = jobs.store.get(key);
      const end = job === undefined ? undefined : endOf(job);
      if (job === undefined || end === undefined) return undefined;
      const leftMs = end - Date.now();
      if (leftMs > 0) return { againInMs: Math.min(leftMs, MAX_WAIT_MS) };
      const { uid, resourceVersion } = job.metadata;
      try {
        // Only the state that was judged: its time may have been made longer since.
        const preconditions = { uid, resourceVersion };
        const options = { propagationPolicy: 'Foreground', preconditions } as const;
        await d.client.resource(types.jobs).delete(nameOf(key), options, signal);
      } catch (err) {
        if (!isApiError(err, 'NotFound', 'Conflict')) throw err;
      }
      return undefined;
    },
  };
}

/** When a job is to be deleted, in milliseconds since 1970; undefined: not by its time, or not yet known. */
export function endOf({ metadata, spec, status }: Live<Job>): number | undefined {
  const seconds = spec?.ttlSecondsAfterFinished;
  if (seconds === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const finished = (status?.conditions ?? []).find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
  const at = Date.parse(finished?.lastTransitionTime ?? '');
  return Number.isNaN(at) ? undefined : at + seconds * 1000;
}
