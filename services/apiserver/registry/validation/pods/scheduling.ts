import { labelValue } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelKey, checkLabelSelector } from '../checks/labels.js';
import { checkEnum, each, isUnset, POSITIVE, requireEnum } from '../checks/members.js';

export interface Taint {
  readonly key?: string;
  readonly value?: string;
  readonly effect?: string;
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function checkTaints(at: At, member: string, taints: readonly Taint[] | undefined): void {
  const seen = new Set<string>();
  each(at, member, taints, (taint, taintAt) => {
    const { key, value = '', effect = '' } = taint;
    checkLabelKey(taintAt, 'key', key);
    const problems = labelValue(value);
    if (problems.length > 0) taintAt.invalid('value', value, problems.join(';'));
    requireEnum(taintAt, 'effect', effect, EFFECTS);
    const identity = `${effect}/${key ?? ''}`;
    if (seen.has(identity)) {
      taintAt.duplicate('', taint);
    }
    seen.add(identity);
  });
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

function checkToleration(toleration: Toleration, at: At): void {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') checkLabelKey(at, 'key', key);
  else if (operator !== 'Exists') {
    at.invalid(
      'operator',
      operator,
      'operator must be Exists when `key` is empty, which means "match all values and all keys"',
    );
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    at.invalid('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === '' || operator === 'Equal') {
    const problems = labelValue(value);
    if (problems.length > 0) at.invalid('operator', value, problems.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') at.invalid('operator', toleration, "value must be empty when `operator` is 'Exists'");
  } else {
    at.notSupported('operator', operator, ['Equal', 'Exists']);
  }
  checkEnum(at, 'effect', effect, EFFECTS);
}

export const checkTolerations = (at: At, member: string, tolerations: readonly Toleration[] | undefined): void =>
  each(at, member, tolerations, checkToleration);

export interface SpreadConstraint {
  readonly maxSkew?: number;
  readonly topologyKey?: string;
  readonly whenUnsatisfiable?: string;
  readonly minDomains?: number;
  readonly labelSelector?: LabelSelector;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const POLICIES = ['Honor', 'Ignore'];

function checkConstraint(constraint: SpreadConstraint, at: At): void {
  const { maxSkew = 0, topologyKey, whenUnsatisfiable = '', minDomains } = constraint;
  if (maxSkew <= 0) at.invalid('maxSkew', maxSkew, POSITIVE);
  if (isUnset(topologyKey)) at.required('topologyKey', 'can not be empty');
  if (!ACTIONS.includes(whenUnsatisfiable)) at.notSupported('whenUnsatisfiable', whenUnsatisfiable, ACTIONS);
  if (minDomains !== undefined) {
    if (minDomains <= 0) at.invalid('minDomains', minDomains, POSITIVE);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      at.invalid('minDomains', minDomains, why);
    }
  }
  checkEnum(at, 'nodeAffinityPolicy', constraint.nodeAffinityPolicy, POLICIES);
  checkEnum(at, 'nodeTaintsPolicy', constraint.nodeTaintsPolicy, POLICIES);
  checkLabelSelector(at, 'labelSelector', constraint.labelSelector);
}

const kindOf = ({ topologyKey = '', whenUnsatisfiable = '' }: SpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`;

export function checkSpreadConstraints(at: At, constraints: readonly SpreadConstraint[] | undefined): void {
  if (constraints === undefined) return;
  const last = new Map(constraints.map((constraint, i) => [kindOf(constraint), i]));
  each(at, 'topologySpreadConstraints', constraints, (constraint, constraintAt, i) => {
    checkConstraint(constraint, constraintAt);
    const kind = kindOf(constraint);
    if (last.get(kind) !== i) constraintAt.duplicate('{topologyKey, whenUnsatisfiable}', kind);
  });
}
