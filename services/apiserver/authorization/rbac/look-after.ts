import { repeat } from '../../../machinery/loop/repeat.js';
import type { Log } from '../../../machinery/log/log.js';
import { runAggregation, type AggregationDeps } from './aggregation-loop.js';
import { reconcilePolicy } from './bootstrap.js';

const RETRY = { leastMs: 200, mostMs: 1_000 };

/**
 * Every server's work for roles: at its start it brings the bootstrap policy in line, and from then on it
 * keeps the rules of roles that gather them, until `signal` fires. Never throws.
 *
 * @param d `state.policySettled` is set once the policy is in line.
 */
export async function lookAfterRoles(
  d: Omit<AggregationDeps, 'log'> & { readonly state: { policySettled: boolean } },
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const round = async (): Promise<'finished'> => {
    await reconcilePolicy(d);
    d.state.policySettled = true;
    return 'finished';
  };
  const onFailure = (err: unknown): void =>
    log.warn('The roles and bindings of the bootstrap policy could not be brought in line yet', { err });
  await repeat({ round, onFailure, retry: RETRY }, signal);
  await runAggregation({ ...d, log }, signal);
}
