import type { ApiObject } from '../../../../machinery/meta/object.js';
import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import { At } from '../checks/at.js';
import type { List } from '../checks/members.js';
import { checkRule, checkText, each } from '../checks/members.js';
import { descendingPath } from '../checks/text.js';
import type { KindValidation, Problems } from '../types.js';
import { checkDriverName } from '../volumes/sources.js';

interface Ranges {
  readonly rule?: string;
  readonly ranges?: List<{ readonly min?: number; readonly max?: number }>;
}

interface RuntimeClasses {
  readonly allowedRuntimeClassNames?: List<string>;
  readonly defaultRuntimeClassName?: string;
}

interface PolicySpec {
  readonly runAsUser?: Ranges;
  readonly runAsGroup?: Ranges;
  readonly seLinux?: { readonly rule?: string };
  readonly supplementalGroups?: Ranges;
  readonly fsGroup?: Ranges;
  readonly volumes?: List<string>;
  readonly requiredDropCapabilities?: List<string>;
  readonly defaultAddCapabilities?: List<string>;
  readonly allowedCapabilities?: List<string>;
  readonly defaultAllowPrivilegeEscalation?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly allowedProcMountTypes?: List<string>;
  readonly allowedHostPaths?: List<{ readonly pathPrefix?: string }>;
  readonly allowedFlexVolumes?: List<{ readonly driver?: string }>;
  readonly allowedCSIDrivers?: List<{ readonly name?: string }>;
  readonly allowedUnsafeSysctls?: List<string>;
  readonly forbiddenSysctls?: List<string>;
  readonly runtimeClass?: RuntimeClasses;
}

const ANY = 'RunAsAny';
const MUST = 'MustRunAs';
const MAY = 'MayRunAs';
const GROUP_RULES = [MAY, MUST, ANY];

/** Strategies, and the rules that each knows, in the order in which messages list them. */
const STRATEGIES = [
  ['runAsUser', [MUST, 'MustRunAsNonRoot', ANY]],
  ['runAsGroup', [MUST, ANY, MAY]],
  ['seLinux', [MUST, ANY]],
  ['supplementalGroups', GROUP_RULES],
  ['fsGroup', GROUP_RULES],
] as const;

function checkRanges(at: At, ranges: Ranges['ranges']): void {
  each(at, 'ranges', ranges, ({ min = 0, max = 0 }, rangeAt) => {
    if (min < 0) rangeAt.invalid('min', min, 'min cannot be negative');
    if (max < 0) rangeAt.invalid('max', max, 'max cannot be negative');
    if (min > max) rangeAt.invalid('min', min, 'min cannot be greater than max');
  });
}

function checkStrategies(at: At, spec: PolicySpec): void {
  for (const [member, rules] of STRATEGIES) {
    const strategy: Ranges | undefined = spec[member];
    if (strategy === undefined && member === 'runAsGroup') continue;
    const { rule = '', ranges = [] } = strategy ?? {};
    const strategyAt = at.child(member);
    if (!(rules as readonly string[]).includes(rule)) strategyAt.notSupported('rule', rule, rules);
    else if (member === 'runAsGroup') checkGroupRanges(strategyAt, rule, ranges ?? []);
    checkRanges(strategyAt, ranges);
  }
}

function checkGroupRanges(at: At, rule: string, ranges: readonly object[]): void {
  if (rule === ANY && ranges.length > 0) at.invalid('ranges', ranges, 'Ranges must be empty');
  if (rule !== ANY && ranges.length === 0) at.invalid('ranges', ranges, 'must provide at least one range');
}

const VOLUMES = [
  '*',
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephFS',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
];

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

const PROC_MOUNTS = ['Default', 'Unmasked'];

function checkAllowed(at: At, spec: PolicySpec): void {
  if (spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false) {
    const why =
      'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
    at.invalid('defaultAllowPrivilegeEscalation', true, why);
  }
  each(at, 'allowedProcMountTypes', spec.allowedProcMountTypes, (type, typeAt) => {
    if (!PROC_MOUNTS.includes(type)) typeAt.notSupported('', type, PROC_MOUNTS);
  });
  each(at, 'allowedHostPaths', spec.allowedHostPaths, ({ pathPrefix = '' }, pathAt) => {
    if (pathPrefix === '') pathAt.required('', 'is required');
    else checkRule(pathAt, '', pathPrefix, descendingPath);
  });
  each(at, 'allowedFlexVolumes', spec.allowedFlexVolumes, ({ driver = '' }, volumeAt) => {
    if (driver === '') volumeAt.required('driver', 'must specify a driver');
  });
  each(at, 'allowedCSIDrivers', spec.allowedCSIDrivers, ({ name }, driverAt) => {
    checkDriverName(driverAt, 'name', name);
  });
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

/** More than anybody has; all pairs are compared. */
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

function checkRuntimeClasses(
  at: At,
  { allowedRuntimeClassNames, defaultRuntimeClassName: usual }: RuntimeClasses,
): void {
  const names = allowedRuntimeClassNames ?? [];
  const seen = new Set<string>();
  each(at, 'allowedRuntimeClassNames', names, (name, nameAt) => {
    if (name !== '*') checkRule(nameAt, '', name, dns1123Subdomain);
    if (seen.has(name)) nameAt.duplicate('', name);
    seen.add(name);
  });
  if (usual !== undefined) {
    checkText(at, 'defaultRuntimeClassName', usual, dns1123Subdomain);
    if (!seen.has(usual) && !seen.has('*')) {
      at.required('allowedRuntimeClassNames', `default ${JSON.stringify(usual)} must be allowed`);
    }
  }
  if (seen.has('*') && names.length > 1) {
    const why = "if '*' is present, must not specify other RuntimeClass names";
    at.invalid('allowedRuntimeClassNames', names, why);
  }
}

function checkPolicy(object: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec: PolicySpec = object['spec'] ?? {};
  checkStrategies(at, spec);
  for (const volume of spec.volumes ?? []) {
    if (!VOLUMES.includes(volume)) at.notSupported('volumes', volume, VOLUMES);
  }
  checkCapabilities(problems, spec);
  checkAllowed(at, spec);
  checkSysctls(at, 'allowedUnsafeSysctls', spec.allowedUnsafeSysctls);
  checkSysctls(at, 'forbiddenSysctls', spec.forbiddenSysctls);
  checkOverlap(at, spec);
  if (spec.runtimeClass !== undefined) checkRuntimeClasses(at.child('runtimeClass'), spec.runtimeClass);
}

/** Without the annotations that profiles were once allowed in. */
export const podSecurityPolicies: KindValidation = { object: checkPolicy };
