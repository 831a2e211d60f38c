import type * as budgets from '../../../../machinery/types/generated/policy.v1.js';
import type * as policy from '../../../../machinery/types/generated/policy.v1beta1.js';
import { At, type List, checkRule, each } from '../checks/at.js';
import { descendingPath } from '../checks/text.js';
import type { Problems, TypeRules } from '../types.js';

type PolicySpec = policy.PodSecurityPolicySpec;

const ANY = 'RunAsAny';

function checkGroupRanges(at: At, { rule = '', ranges = [] }: policy.RunAsGroupStrategyOptions): void {
  if (!at.isRight('rule')) return;
  if (rule === ANY && ranges.length > 0) at.invalid('ranges', ranges, 'Ranges must be empty');
  if (rule !== ANY && ranges.length === 0) at.invalid('ranges', ranges, 'must provide at least one range');
}

function checkCapabilities(problems: Problems, spec: PolicySpec): void {
  const at = At.root(problems); // without spec: so they always were
  const drops = spec.requiredDropCapabilities ?? [];
  if (drops.length > 0 && spec.allowedCapabilities?.includes('*') === true) {
    const why = 'must be empty when all capabilities are allowed by a wildcard';
    at.invalid('requiredDropCapabilities', drops, why);
  }
  const dropped = new Set(drops);
  for (const member of ['defaultAddCapabilities', 'allowedCapabilities'] as const) {
    for (const capability of spec[member] ?? []) {
      if (!dropped.has(capability)) continue;
      at.invalid(member, capability, `capability is listed in ${member} and requiredDropCapabilities`);
    }
  }
}

function checkEscalation(at: At, spec: PolicySpec): void {
  if (spec.defaultAllowPrivilegeEscalation !== true || spec.allowPrivilegeEscalation !== false) return;
  const why =
    'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
  at.invalid('defaultAllowPrivilegeEscalation', true, why);
}

const MAX_SYSCTL = 253;
const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL_PATTERN = String.raw`(${SYSCTL_SEGMENT}[\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]`;
const SYSCTL = new RegExp(`^${SYSCTL_PATTERN}$`);

function checkSysctls(at: At, member: string, sysctls: List<string>): void {
  each(at, member, sysctls, (sysctl, sysctlAt) => {
    if (sysctl === '') sysctlAt.invalid('', sysctl, 'empty sysctl not allowed');
    else if (sysctl.length > MAX_SYSCTL || !SYSCTL.test(sysctl)) {
      sysctlAt.invalid('', sysctl, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL_PATTERN}`);
    }
  });
  if (sysctls !== null && sysctls !== undefined && sysctls.length > 1 && sysctls.some((s) => s.startsWith('*'))) {
    at.child(member).forbidden('items', "if '*' is present, must not specify other sysctls");
  }
}

/** A bound, as all pairs are compared. */
const MAX_COMPARED = 1000;

/** Whether the first, which may be a pattern, says something of all that the second says. */
const covers = (pattern: string, other: string): boolean =>
  pattern.endsWith('*') ? other.startsWith(pattern.slice(0, -1)) : pattern === other;

function checkOverlap(at: At, spec: PolicySpec): void {
  const allowed = (spec.allowedUnsafeSysctls ?? []).slice(0, MAX_COMPARED);
  const forbidden = (spec.forbiddenSysctls ?? []).slice(0, MAX_COMPARED);
  for (const [i, one] of allowed.entries()) {
    for (const [j, other] of forbidden.entries()) {
      if (covers(other, one)) {
        at.child('allowedUnsafeSysctls').index(i).invalid('', one, `sysctl overlaps with ${other}`);
      } else if (covers(one, other)) {
        at.child('forbiddenSysctls').index(j).invalid('', other, `sysctl overlaps with ${one}`);
      }
    }
  }
}

function checkRuntimeClasses(at: At, classes: policy.RuntimeClassStrategyOptions): void {
  const names = classes.allowedRuntimeClassNames ?? [];
  const { defaultRuntimeClassName: usual } = classes;
  const allowsAll = names.includes('*');
  if (usual !== undefined && !allowsAll && !names.includes(usual)) {
    at.required('allowedRuntimeClassNames', `default ${JSON.stringify(usual)} must be allowed`);
  }
  if (allowsAll && names.length > 1) {
    const why = "if '*' is present, must not specify other RuntimeClass names";
    at.invalid('allowedRuntimeClassNames', names, why);
  }
}

function checkSpec(at: At, spec: PolicySpec): void {
  checkCapabilities(at.problems, spec);
  checkEscalation(at, spec);
  checkSysctls(at, 'allowedUnsafeSysctls', spec.allowedUnsafeSysctls);
  checkSysctls(at, 'forbiddenSysctls', spec.forbiddenSysctls);
  checkOverlap(at, spec);
}

/** Of pod security policies; without the annotations that profiles were once allowed in. */
export const podSecurityPolicyRules: TypeRules<policy.Types> = {
  AllowedHostPath: (at, { pathPrefix = '' }) => {
    if (pathPrefix === '') at.required('', 'is required');
    else checkRule(at, '', pathPrefix, descendingPath);
  },
  IDRange: (at, { min = 0, max = 0 }) => {
    if (min > max) at.invalid('min', min, 'min cannot be greater than max');
  },
  PodSecurityPolicySpec: checkSpec,
  RunAsGroupStrategyOptions: checkGroupRanges,
  RuntimeClassStrategyOptions: checkRuntimeClasses,
};

/** Of disruption budgets. */
export const policyRules: TypeRules<budgets.Types> = {
  PodDisruptionBudgetSpec: (at, spec) => {
    if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return;
    at.invalid('', spec, 'minAvailable and maxUnavailable cannot be both set');
  },
};
