import type { Log } from '../../machinery/log/log.js';
import { runOnChanges } from '../cache/changes.js';
import { declaredResource } from '../registry/resources.js';
import { LocalUpkeep, type LocalUpkeepDeps } from './local-upkeep.js';

/** Between two passes: definitions that come by the hundred are told of together. */
const REST_MS = 100;

/**
 * Keeps the APIServices of what this server serves itself, from the start until `signal` fires. Never throws. The caches
 * have to be loaded.
 */
export async function lookAfterLocalServices(
  d: LocalUpkeepDeps,
  log: Pick<Log, 'warn'>,
  signal: AbortSignal,
): Promise<void> {
  const upkeep = new LocalUpkeep(d);
  const { apiextensions } = d.vocabulary.groups;
  await runOnChanges(
    {
      caches: [upkeep.stored.cache, declaredResource(d.resources, apiextensions, 'customresourcedefinitions').cache],
      pass: async () => {
        await upkeep.pass(signal);
        return REST_MS;
      },
      onFailure: (err) => log.warn('APIServices of what is served here could not be brought in line yet', { err }),
    },
    signal,
  );
}
