import { runOnChanges } from '../../cache/changes.js';
import type { Log } from '../../../machinery/log/log.js';
import { Upkeep, type UpkeepDeps } from './upkeep.js';

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
  await runOnChanges(
    {
      caches: upkeep.caches,
      pass: async () => {
        const hasMade = await upkeep.settleFirst();
        d.state.flowControlSettled = true;
        const hasWritten = await upkeep.settleRest();
        return hasMade || hasWritten ? REST_MS : 0;
      },
      onFailure: (err) => log.warn('Flow schemas and priority levels could not be brought in line yet', { err }),
    },
    signal,
  );
}
