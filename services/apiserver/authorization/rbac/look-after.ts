import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../log.js';
import { runAggregation, type AggregationDeps } from './aggregation-loop.js';
import { reconcilePolicy } from './bootstrap.js';

const RETRY_MS = 500;

/**
 * What every server does for roles: at its start it brings the policy of every installation in line, and from then on it
 * keeps the rules of roles that gather them, until `signal` fires. Never throws.
 *
 * @param d `state.policySettled` is set once the policy is in line.
 */
export async function lookAfterRoles(
  d: Omit<AggregationDeps, 'log'> & { readonly state: { policySettled: boolean } },
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && !d.state.policySettled) {
    try {
      await reconcilePolicy(d);
      d.state.policySettled = true;
    } catch (err) {
      if (fired(signal)) return;
      log.warn('The first roles and bindings could not be brought in line yet', { err });
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  await runAggregation({ ...d, log }, signal);
}

/** Asked again after an await: the compiler takes the answer from before it. */
const fired = (signal: AbortSignal): boolean => signal.aborted;
