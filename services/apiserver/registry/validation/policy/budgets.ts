import { At } from '../checks/at.js';
import type { Condition } from '../checks/conditions.js';
import { checkConditions } from '../checks/conditions.js';
import type { Count } from '../checks/counts.js';
import { checkCount, checkNotMoreThanAll } from '../checks/counts.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelSelector } from '../checks/labels.js';
import { checkNotNegative } from '../checks/members.js';
import type { KindValidation } from '../types.js';

interface BudgetSpec {
  readonly minAvailable?: Count;
  readonly maxUnavailable?: Count;
  readonly selector?: LabelSelector;
}

const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

interface BudgetStatus extends Readonly<Partial<Record<(typeof COUNTS)[number], number>>> {
  readonly conditions?: readonly Condition[];
}

export const podDisruptionBudgets: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems, 'spec');
    const spec: BudgetSpec = object['spec'] ?? {};
    if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      at.invalid('', spec, 'minAvailable and maxUnavailable cannot be both set');
    }
    for (const member of ['minAvailable', 'maxUnavailable'] as const) {
      checkCount(at, member, spec[member]);
      checkNotMoreThanAll(at, member, spec[member]);
    }
    checkLabelSelector(at, 'selector', spec.selector);
  },
  parts: {
    status: (next, _old, problems) => {
      const at = At.root(problems, 'status');
      const status: BudgetStatus = next['status'] ?? {};
      checkConditions(at, status.conditions);
      for (const member of COUNTS) checkNotNegative(at, member, status[member]);
    },
  },
};
