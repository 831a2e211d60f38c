import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import type { Count } from '../checks/counts.js';
import { checkCount, checkNotMoreThanAll, isZeroCount } from '../checks/counts.js';
import { checkedSelector, checkSelectsTemplate, isEmptySelector } from '../checks/labels.js';
import { checkNotNegative } from '../checks/members.js';
import type { PodChecks } from '../pods/spec.js';
import { checkKeptRunning } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';
import type { Workload } from './workloads.js';
import { checkCollisionCount, checkSharedDisks } from './workloads.js';

interface RollingUpdate {
  readonly maxUnavailable?: Count;
  readonly maxSurge?: Count;
}

interface DaemonSetSpec extends Workload {
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate };
}

/** A machine either loses its pod first or gets the new one first. */
function checkRollingUpdate(at: At, { maxUnavailable = 1, maxSurge = 0 }: RollingUpdate): void {
  checkCount(at, 'maxUnavailable', maxUnavailable);
  checkCount(at, 'maxSurge', maxSurge);
  checkNotMoreThanAll(at, 'maxUnavailable', maxUnavailable);
  checkNotMoreThanAll(at, 'maxSurge', maxSurge);
  if (isZeroCount(maxUnavailable)) {
    if (isZeroCount(maxSurge)) at.required('maxUnavailable', 'cannot be 0 when maxSurge is 0');
  } else if (!isZeroCount(maxSurge)) {
    at.invalid('maxSurge', maxSurge, 'may not be set when maxUnavailable is non-zero');
  }
}

const ROLLING = 'RollingUpdate';
const STRATEGIES = [ROLLING, 'OnDelete'];

function checkStrategy(at: At, strategy: NonNullable<DaemonSetSpec['updateStrategy']>): void {
  const { type = ROLLING, rollingUpdate = {} } = strategy;
  if (!STRATEGIES.includes(type)) at.notSupported('', strategy, STRATEGIES);
  else if (type === ROLLING) checkRollingUpdate(at.child('rollingUpdate'), rollingUpdate);
}

const checkDaemonSet =
  (checks: PodChecks) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems, 'spec');
    const spec: DaemonSetSpec = object['spec'] ?? {};
    const { selector, template = {} } = spec;
    const templateAt = at.child('template');
    const right = checkedSelector(at, selector);
    if (right !== undefined) checkSelectsTemplate(templateAt, right, template.metadata?.labels);
    if (selector !== null && selector !== undefined && isEmptySelector(selector)) {
      at.invalid('selector', selector, 'empty selector is invalid for daemonset');
    }
    checks.template(templateAt, template);
    checkSharedDisks(templateAt, template);
    checkKeptRunning(templateAt, template, 'DaemonSet');
    checkNotNegative(at, 'minReadySeconds', spec.minReadySeconds);
    checkStrategy(at.child('updateStrategy'), spec.updateStrategy ?? {});
    checkNotNegative(at, 'revisionHistoryLimit', spec.revisionHistoryLimit);
  };

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;
type Status = Readonly<Partial<Record<(typeof COUNTS)[number], number>>>;

function checkStatus(next: ApiObject, old: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'status');
  const status: Status = next['status'] ?? {};
  for (const member of COUNTS) checkNotNegative(at, member, status[member]);
  checkCollisionCount(at, status, old['status'] ?? {});
}

export const daemonSets = (checks: PodChecks): KindValidation => ({
  object: checkDaemonSet(checks),
  parts: { status: checkStatus },
});
