import { repeat } from '../../machinery/loop/repeat.js';
import { runCompactor } from '../../storage/compactor/compactor.js';
import type { KeyValueStore } from '../../storage/store.js';
import { lookAfterLocalServices } from '../aggregation/look-after.js';
import type { Aggregation } from '../aggregation/open-aggregation.js';
import { publishTrust } from '../authentication/published-trust.js';
import { lookAfterPolicies } from '../admission/policies/look-after.js';
import { lookAfterRoles } from '../authorization/rbac/look-after.js';
import type { Core } from './core.js';
import { lookAfterDefinitions } from '../extensions/look-after.js';
import { lookAfterFlowControl } from '../flowcontrol/objects/look-after.js';
import { keepIdentity } from '../endpoints/identity-lease.js';
import type { PlatformEndpoints } from '../endpoints/platform-endpoints.js';
import type { Log } from '../../machinery/log/log.js';
import type { ApiServerOptions } from '../options/flags.js';
import { bootstrapObjects } from '../registry/bootstrap.js';
import { runAllocationRepair } from '../registry/allocation/allocation-repair.js';

export interface BackgroundDeps {
  readonly log: Log;
  readonly core: Core;
  readonly store: KeyValueStore;
  readonly endpoints: PlatformEndpoints;
  readonly aggregation: Pick<Aggregation, 'run'>;
  /** The server cannot go on; the process has to end. */
  readonly onFatal: (err: Error) => void;
}

/** The loops of the process. Resolves when all have ended, which they do when `signal` fires. */
export async function runInBackground(o: ApiServerOptions, d: BackgroundDeps, signal: AbortSignal): Promise<void> {
  const { log, core, store, onFatal } = d;
  const { etcdCompactionIntervalMs: intervalMs } = o;
  const loops = [core.feed.run(signal), lookAfter(o, d, signal)];
  if (intervalMs > 0) {
    loops.push(runCompactor({ store, key: core.keys.record('compaction'), intervalMs, log }, signal));
  }
  try {
    await Promise.all(loops);
  } catch (err) {
    if (!signal.aborted) onFatal(err as Error);
  }
}

/** The periodic work of every server, once the first objects are there. Requests do not wait for it. */
async function lookAfter(
  o: ApiServerOptions,
  { core, store, endpoints, aggregation, log }: BackgroundDeps,
  signal: AbortSignal,
): Promise<void> {
  await bootstrap(core, log, signal);
  const allocations = {
    store,
    allocationKey: core.keys.allocation,
    reached: (at: number, timeoutMs: number) => core.reader.reached(at, timeoutMs),
    log,
  };
  await Promise.all([
    endpoints.run(signal),
    runAllocationRepair(allocations, core.resources.allStored(), signal),
    lookAfterAccess(core, log, signal),
    lookAfterFlowControl(core, log, signal),
    aggregation.run(signal),
    lookAfterDefinitions(core, log, signal),
    lookAfterPolicies(core, log, signal),
    publishTrust(o, core, log, signal),
    core.gates.enabled('APIServerIdentity') ? keepIdentity({ ...core, log }, signal) : undefined,
  ]);
}

/** What stands for the served groups is made when a server that starts has nothing more urgent to write. */
async function lookAfterAccess(core: Core, log: Log, signal: AbortSignal): Promise<void> {
  if (core.access !== undefined) await lookAfterRoles(core, log, signal);
  await lookAfterLocalServices(core, log, signal);
}

const RETRY = { leastMs: 200, mostMs: 1_000 };

async function bootstrap(core: Core, log: Log, signal: AbortSignal): Promise<void> {
  const round = async (): Promise<'finished'> => {
    await core.feed.whenLoaded(signal);
    await bootstrapObjects(core);
    core.state.bootstrapped = true;
    return 'finished';
  };
  const onFailure = (err: unknown): void => log.warn('First objects could not be made yet', { err });
  await repeat({ round, onFailure, retry: RETRY }, signal);
}
