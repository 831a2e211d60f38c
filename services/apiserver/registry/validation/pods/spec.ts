import { dns1123Label, labelValue, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type {
  Container,
  PodSpec,
  PodAffinityTerm,
  Taint,
  Toleration,
  TopologySpreadConstraint,
  HostAlias,
  PodDNSConfig,
} from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, checkEnum, checkRule, each, requireEnum, shownList, isUnset } from '../checks/at.js';
import { checkAnnotations, checkLabels, checkLabelKey } from '../checks/labels.js';
import { type ResourceChecks, resourceChecks } from '../checks/quantities.js';
import { httpHeaderName, ipVersion } from '../checks/text.js';
import type { TypeRules, ValidationOptions, TypeRule } from '../types.js';
import { checkContainers, checkHostNetworkPorts, checkEnvFrom, checkEnvVar } from './containers.js';
import { checkNodeSelectorTerm } from './node-selector.js';
import { checkContainerSecurity, checkSeccomp, checkSysctl } from './security.js';

/** The volumes that are right, by name. */
function rightVolumes(at: At, volumes: readonly core.Volume[] = []): ReadonlyMap<string, core.Volume> {
  const wrong = at.problems.length === 0 ? undefined : at.wrongItems('volumes');
  const right = volumes.filter((_volume, i) => wrong?.has(i) !== true);
  return new Map(right.map((volume) => [volume.name ?? '', volume]));
}

/** Of all specs of pods, templates among them. */
function checkSpec(at: At, spec: core.PodSpec, resources: ResourceChecks): void {
  checkContainers(at, spec, rightVolumes(at, spec.volumes));
  if (spec.hostNetwork === true) checkHostNetworkPorts(at, spec.containers);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    at.invalid('securityContext.shareProcessNamespace', true, why);
  }
  checkDns(at, spec.dnsPolicy, spec.dnsConfig);
  checkSpreadConstraints(at, spec.topologySpreadConstraints);
  checkHostProcess(at, spec);
  checkHostAliases(at, spec.hostAliases);
  if (spec.overhead !== undefined) resources.requirements(at.child('overhead'), { limits: spec.overhead });
  checkOperatingSystem(at, spec);
}

function checkTemplate(at: At, { metadata = {}, spec }: core.PodTemplateSpec): void {
  checkLabels(at, 'labels', metadata.labels);
  checkAnnotations(at, 'annotations', metadata.annotations);
  if ((spec?.ephemeralContainers ?? []).length === 0) return;
  at.forbidden('spec.ephemeralContainers', 'ephemeral containers not allowed in pod template');
}

/** Rules of pods and of what they are made of, wherever they stand. */
export function podRules(vocabulary: Vocabulary, { allowPrivileged }: ValidationOptions): TypeRules<core.Types> {
  const resources = resourceChecks(vocabulary);
  return {
    Container: checkEnvFrom,
    EnvVar: checkEnvVar,
    EphemeralContainerCommon: checkEnvFrom,
    HTTPGetAction: (at, { httpHeaders = [] }) => {
      for (const { name = '' } of httpHeaders) checkRule(at, 'httpHeaders', name, httpHeaderName);
    },
    NodeSelectorTerm: checkNodeSelectorTerm,
    PodAffinityTerm: checkPodAffinityTerm,
    PodSpec: (at, spec) => checkSpec(at, spec, resources),
    PodTemplateSpec: checkTemplate,
    ResourceRequirements: resources.requirements,
    SeccompProfile: checkSeccomp,
    SecurityContext: checkContainerSecurity(allowPrivileged),
    Sysctl: checkSysctl,
    Toleration: checkToleration,
    TopologySpreadConstraint: checkSpreadConstraint,
  };
}

/** Rules for the template of workloads that keep their pods running. `kind` is for the message. */
export function checkKeptRunning(at: At, { spec = {} }: core.PodTemplateSpec, kind: string): void {
  const { restartPolicy, activeDeadlineSeconds } = spec;
  checkEnum(at, 'spec.restartPolicy', restartPolicy, ['Always']);
  if (activeDeadlineSeconds !== undefined) {
    at.forbidden('spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** Members of the spec, of its security context, and of a container's, that mean nothing on Windows. */
const NOT_ON_WINDOWS = {
  spec: ['hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'],
  pod: [
    'seLinuxOptions',
    'seccompProfile',
    'fsGroup',
    'fsGroupChangePolicy',
    'sysctls',
    'runAsUser',
    'runAsGroup',
    'supplementalGroups',
  ],
  container: [
    'seLinuxOptions',
    'seccompProfile',
    'capabilities',
    'readOnlyRootFilesystem',
    'privileged',
    'allowPrivilegeEscalation',
    'procMount',
    'runAsUser',
    'runAsGroup',
  ],
} as const;

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

const eachContainer = (at: At, spec: PodSpec, check: (container: Container, at: At) => void): void => {
  for (const list of LISTS) each<Container>(at, list, spec[list], check);
};

function forbid(at: At, object: object | undefined, members: readonly string[], why: string): void {
  for (const member of members) {
    if ((object as Readonly<Record<string, unknown>> | undefined)?.[member] !== undefined) at.forbidden(member, why);
  }
}

/** Fields that a pod may set by its operating system. */
function checkOperatingSystem(at: At, spec: PodSpec): void {
  if (spec.os === undefined) return;
  const { name = '' } = spec.os;
  if (name === '') requireEnum(at.child('os'), 'name', name, [], 'cannot be empty');
  else if (name === 'linux') forbidAll(at, spec, LINUX);
  else if (name === 'windows') forbidAll(at, spec, WINDOWS);
  else at.notSupported('os', name, ['linux', 'windows']);
}

interface Forbidden {
  readonly spec: readonly string[];
  readonly pod: readonly string[];
  readonly container: readonly string[];
  readonly why: string;
}

const WINDOWS: Forbidden = { ...NOT_ON_WINDOWS, why: 'cannot be set for a windows pod' };
const LINUX: Forbidden = {
  spec: [],
  pod: ['windowsOptions'],
  container: ['windowsOptions'],
  why: 'windows options cannot be set for a linux pod',
};

function forbidAll(at: At, spec: PodSpec, forbidden: Forbidden): void {
  forbid(at, spec, forbidden.spec, forbidden.why);
  forbid(at.child('securityContext'), spec.securityContext, forbidden.pod, forbidden.why);
  eachContainer(at, spec, ({ securityContext }, containerAt) =>
    forbid(containerAt.child('securityContext'), securityContext, forbidden.container, forbidden.why),
  );
}

/** Processes of the machine itself: all containers of a pod or none, and on the machine's network. */
function checkHostProcess(at: At, spec: PodSpec): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  let hostProcesses = 0;
  eachContainer(at, spec, ({ securityContext }, containerAt) => {
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      containerAt.invalid('securityContext.windowsOptions.hostProcess', own, why);
    }
    count++;
    if (own ?? ofPod ?? false) hostProcesses++;
  });
  if (hostProcesses === 0) return;
  if (hostProcesses !== count) {
    at.invalid('', '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  }
  if (spec.hostNetwork !== true) {
    at.invalid('hostNetwork', false, 'hostNetwork must be true if pod contains any hostProcess containers');
  }
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

function checkToleration(at: At, toleration: Toleration): void {
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
  if (effect !== '') checkEnum(at, 'effect', effect, EFFECTS);
}

export const checkTolerations = (at: At, member: string, tolerations: readonly Toleration[] | undefined): void =>
  each(at, member, tolerations, (toleration, tolerationAt) => checkToleration(tolerationAt, toleration));

const checkSpreadConstraint: TypeRule<TopologySpreadConstraint> = (at, { whenUnsatisfiable, minDomains }) => {
  if (minDomains === undefined || whenUnsatisfiable === 'DoNotSchedule') return;
  const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable ?? ''}`;
  at.invalid('minDomains', minDomains, why);
};

const kindOf = ({ topologyKey = '', whenUnsatisfiable = '' }: TopologySpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`;

/** Of constraints that say the same, all but the last are told. */
function checkSpreadConstraints(at: At, constraints: readonly TopologySpreadConstraint[] = []): void {
  if (constraints.length < 2) return;
  const last = new Map(constraints.map((constraint, i) => [kindOf(constraint), i]));
  each(at, 'topologySpreadConstraints', constraints, (constraint, constraintAt, i) => {
    const kind = kindOf(constraint);
    if (last.get(kind) !== i) constraintAt.duplicate('{topologyKey, whenUnsatisfiable}', kind);
  });
}

function checkPodAffinityTerm(at: At, { namespaces = [] }: PodAffinityTerm): void {
  for (const namespace of namespaces) checkRule(at, 'namespace', namespace, dns1123Label);
}

/** All of it but for how long. */
export const identityOf = ({ key, operator, value, effect }: Toleration): string =>
  JSON.stringify([key, operator, value, effect]);

const MAX_SERVERS = 3;
const MAX_SEARCHES = 6;
const MAX_SEARCH_CHARACTERS = 256;
const NOT_AN_ADDRESS = 'must be valid IP address';

const checkAddress = (at: At, member: string, address = ''): void => {
  if (ipVersion(address) === 0) at.invalid(member, address, NOT_AN_ADDRESS);
};

/** A pod with the policy None brings its own name servers. */
function checkOwnDns(at: At, config: PodDNSConfig | undefined): boolean {
  if (config === undefined) {
    at.required('dnsConfig', 'must provide `dnsConfig` when `dnsPolicy` is None');
  } else if ((config.nameservers ?? []).length === 0) {
    at.required('dnsConfig.nameservers', 'must provide at least one DNS nameserver when `dnsPolicy` is None');
  } else {
    return true;
  }
  return false;
}

/** @param at The place of the pod's spec. */
function checkDns(at: At, policy: string | undefined, config: PodDNSConfig | undefined): void {
  if (policy === 'None' && !checkOwnDns(at, config)) return;
  if (config === undefined) return;
  const { nameservers = [], searches = [], options } = config;
  const configAt = at.child('dnsConfig');
  if (nameservers.length > MAX_SERVERS) {
    configAt.invalidShown('nameservers', shownList(nameservers), `must not have more than ${MAX_SERVERS} nameservers`);
  }
  each(configAt, 'nameservers', nameservers, (server, serverAt) => checkAddress(serverAt, '', server));
  if (searches.length > MAX_SEARCHES) {
    configAt.invalidShown('searches', shownList(searches), `must not have more than ${MAX_SEARCHES} search paths`);
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const why = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    configAt.invalidShown('searches', shownList(searches), why);
  }
  each(configAt, 'searches', searches, (search, searchAt) =>
    checkRule(searchAt, '', search.endsWith('.') ? search.slice(0, -1) : search, dns1123Subdomain),
  );
  each(configAt, 'options', options, ({ name }, optionAt) => {
    if (isUnset(name)) optionAt.required('', 'must not be empty');
  });
}

/** Problems of all aliases are reported at the list: so they always were. */
function checkHostAliases(at: At, aliases: readonly HostAlias[] | undefined): void {
  const listAt = at.child('hostAliases');
  for (const { ip, hostnames = [] } of aliases ?? []) {
    checkAddress(listAt, 'ip', ip);
    for (const hostname of hostnames) checkRule(listAt, 'hostnames', hostname, dns1123Subdomain);
  }
}
