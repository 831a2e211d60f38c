import { dns1123Label, labelValue } from '../../../../machinery/meta/names.js';
import type {
  PodAffinityTerm,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { checkLabelKey } from '../checks/labels.js';
import { checkEnum, checkRule, each, requireEnum } from '../checks/members.js';
import type { TypeRule } from '../types.js';

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

export function checkToleration(at: At, toleration: Toleration): void {
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
  each(at, member, tolerations, (toleration, tolerationAt) => checkToleration(tolerationAt, toleration));

export const checkSpreadConstraint: TypeRule<TopologySpreadConstraint> = (at, { whenUnsatisfiable, minDomains }) => {
  if (minDomains === undefined || whenUnsatisfiable === 'DoNotSchedule') return;
  const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable ?? ''}`;
  at.invalid('minDomains', minDomains, why);
};

const kindOf = ({ topologyKey = '', whenUnsatisfiable = '' }: TopologySpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`;

/** Of constraints that say the same, all but the last are told. */
export function checkSpreadConstraints(at: At, constraints: readonly TopologySpreadConstraint[] = []): void {
  if (constraints.length < 2) return;
  const last = new Map(constraints.map((constraint, i) => [kindOf(constraint), i]));
  each(at, 'topologySpreadConstraints', constraints, (constraint, constraintAt, i) => {
    const kind = kindOf(constraint);
    if (last.get(kind) !== i) constraintAt.duplicate('{topologyKey, whenUnsatisfiable}', kind);
  });
}

export function checkPodAffinityTerm(at: At, { namespaces = [] }: PodAffinityTerm): void {
  for (const namespace of namespaces) checkRule(at, 'namespace', namespace, dns1123Label);
}

/** All of it but for how long. */
export const identityOf = ({ key, operator, value, effect }: Toleration): string =>
  JSON.stringify([key, operator, value, effect]);
