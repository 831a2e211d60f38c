import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import type { Count } from '../checks/counts.js';
import { checkCount, checkNotMoreThanAll, isZeroCount } from '../checks/counts.js';
import { checkNotNegative } from '../checks/members.js';
import type { PodChecks } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';
import type { Replicated } from './workloads.js';
import { checkCollisionCount, checkReplicated } from './workloads.js';

interface RollingUpdate {
  readonly maxUnavailable?: Count;
  readonly maxSurge?: Count;
}

interface DeploymentSpec extends Replicated {
  readonly strategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly progressDeadlineSeconds?: number;
}

function checkRollingUpdate(at: At, { maxUnavailable, maxSurge }: RollingUpdate): void {
  checkCount(at, 'maxUnavailable', maxUnavailable);
  checkCount(at, 'maxSurge', maxSurge);
  if (isZeroCount(maxUnavailable) && isZeroCount(maxSurge)) {
    at.invalid('maxUnavailable', maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  checkNotMoreThanAll(at, 'maxUnavailable', maxUnavailable);
}

function checkStrategy(
  at: At,
  { type = 'RollingUpdate', rollingUpdate }: NonNullable<DeploymentSpec['strategy']>,
): void {
  if (type === 'Recreate') {
    if (rollingUpdate === undefined) return;
    at.forbidden('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'");
  } else if (type === 'RollingUpdate') {
    if (rollingUpdate !== undefined) checkRollingUpdate(at.child('rollingUpdate'), rollingUpdate);
  } else {
    at.notSupported('type', type, ['Recreate', 'RollingUpdate']);
  }
}

const checkDeployment =
  (checks: PodChecks) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems, 'spec');
    const spec: DeploymentSpec = object['spec'] ?? {};
    const { minReadySeconds = 0, progressDeadlineSeconds: deadline } = spec;
    checkNotNegative(at, 'replicas', spec.replicas);
    checkReplicated(at, spec, checks);
    checkStrategy(at.child('strategy'), spec.strategy ?? {});
    checkNotNegative(at, 'minReadySeconds', minReadySeconds);
    checkNotNegative(at, 'revisionHistoryLimit', spec.revisionHistoryLimit);
    checkNotNegative(at, 'progressDeadlineSeconds', deadline);
    if (deadline !== undefined && deadline <= minReadySeconds) {
      at.invalid('progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
    }
  };

const COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'collisionCount',
] as const;
type Status = Readonly<Partial<Record<(typeof COUNTS)[number], number>>>;

function checkStatus(next: ApiObject, old: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'status');
  const status: Status = next['status'] ?? {};
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const member of COUNTS) checkNotNegative(at, member, status[member]);
  for (const member of ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const) {
    const count = status[member] ?? 0;
    if (count > replicas) at.invalid(member, count, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) {
    at.invalid('availableReplicas', availableReplicas, 'cannot be greater than readyReplicas');
  }
  checkCollisionCount(at, status, old['status'] ?? {});
}

export const deployments = (checks: PodChecks): KindValidation => ({
  object: checkDeployment(checks),
  parts: { status: checkStatus },
});
