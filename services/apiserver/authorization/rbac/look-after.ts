import { repeat } from '../../../machinery/loop/repeat.js';
import type { Log } from '../../../machinery/log/log.js';
import { reconcilePolicy, type PolicyDeps } from './bootstrap.js';

const RETRY = { leastMs: 200, mostMs: 1_000 };

/**
 * Brings the bootstrap policy in line, which every server does at its start. Resolves when it is, or `signal` fires. Never
 * throws.
 *
 * @param d `state.policySettled` is set once the policy is in line.
 */
export async function lookAfterRoles(
  d: PolicyDeps & { readonly state: { policySettled: boolean } },
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
}
