import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../machinery/log/log.js';
import { runOnChanges } from '../cache/changes.js';
import { DefinitionUpkeep, type UpkeepDeps } from './upkeep.js';

/** Between two looks at instances that do not go yet. */
const LOOK_AGAIN_MS = 250;

/**
 * Keeps the statuses of definitions, and takes away what belongs to those that go, from the start of the server until
 * `signal` fires. Never throws. The caches have to be loaded.
 */
export async function lookAfterDefinitions(d: UpkeepDeps, log: Pick<Log, 'warn'>, signal: AbortSignal): Promise<void> {
  const upkeep = new DefinitionUpkeep(d);
  await runOnChanges(
    {
      caches: [upkeep.stored.cache],
      pass: async () => {
        while ((await upkeep.pass(signal)) && !signal.aborted) {
          await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
        }
        return 0;
      },
      onFailure: (err) => log.warn('Definitions of custom resources could not be brought in line yet', { err }),
    },
    signal,
  );
}
