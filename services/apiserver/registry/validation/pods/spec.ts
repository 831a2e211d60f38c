import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../machinery/meta/names.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkAnnotations, checkLabels } from '../checks/labels.js';
import { checkBetween, checkEnum, checkRule, checkText, each } from '../checks/members.js';
import type { Quantities } from '../checks/quantities.js';
import { resourceChecks } from '../checks/quantities.js';
import type { Volume } from '../volumes/volumes.js';
import { volumeChecks } from '../volumes/volumes.js';
import type { Affinity } from './affinity.js';
import { checkAffinity } from './affinity.js';
import type { Containers } from './containers.js';
import { checkContainers, checkHostNetworkPorts } from './containers.js';
import type { DnsConfig, HostAlias } from './name-resolution.js';
import { checkDns, checkHostAliases, DNS_POLICIES } from './name-resolution.js';
import { checkHostProcess, checkOperatingSystem } from './operating-system.js';
import type { SpreadConstraint, Toleration } from './scheduling.js';
import { checkSpreadConstraints, checkTolerations } from './scheduling.js';
import type { ValidationOptions } from '../types.js';
import type { PodSecurityContext } from './security.js';
import { checkPodSecurity } from './security.js';

export interface PodSpec extends Containers {
  readonly volumes?: readonly Volume[];
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: DnsConfig;
  readonly nodeSelector?: StringMap;
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly securityContext?: PodSecurityContext;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly hostAliases?: readonly HostAlias[];
  readonly priorityClassName?: string;
  readonly readinessGates?: readonly { readonly conditionType?: string }[];
  readonly runtimeClassName?: string;
  readonly preemptionPolicy?: string;
  readonly overhead?: Quantities;
  readonly topologySpreadConstraints?: readonly SpreadConstraint[];
  readonly os?: { readonly name?: string };
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: StringMap; readonly annotations?: StringMap };
  readonly spec?: PodSpec;
}

export interface PodChecks {
  /** @param podName '' where the spec is a template's. */
  readonly spec: (at: At, spec: PodSpec, podName: string) => void;
  /** What every template must be; what a workload asks of its own comes on top. */
  readonly template: (at: At, template: PodTemplate) => void;
}

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const LONGEST_DEADLINE = 2 ** 31 - 1;

/** Checks of the specs of pods, for all kinds that have one. */
export function podChecks(vocabulary: Vocabulary, { allowPrivileged }: ValidationOptions): PodChecks {
  const resources = resourceChecks(vocabulary);
  const checkVolumes = volumeChecks(vocabulary);
  const checkSpec = (at: At, spec: PodSpec, podName: string): void => {
    const volumes = checkVolumes(at, spec.volumes, podName);
    checkContainers(at, spec, { volumes, resources, allowPrivileged });
    checkEnum(at, 'restartPolicy', spec.restartPolicy, RESTART_POLICIES);
    checkEnum(at, 'dnsPolicy', spec.dnsPolicy, DNS_POLICIES);
    checkLabels(at, 'nodeSelector', spec.nodeSelector);
    checkSharing(at, spec);
    checkPlacement(at, spec);
    checkHostProcess(at, spec);
    checkNames(at, spec);
    checkBetween(at, 'activeDeadlineSeconds', spec.activeDeadlineSeconds, 1, LONGEST_DEADLINE);
    checkTolerations(at, 'tolerations', spec.tolerations);
    checkHostAliases(at, spec.hostAliases);
    checkEnum(at, 'preemptionPolicy', spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']);
    if (spec.overhead !== undefined) resources.requirements(at.child('overhead'), { limits: spec.overhead });
    checkOperatingSystem(at, spec);
  };
  return {
    spec: checkSpec,
    template: (at, { metadata = {}, spec = {} }) => {
      checkLabels(at, 'labels', metadata.labels);
      checkAnnotations(at, 'annotations', metadata.annotations);
      checkSpec(at.child('spec'), spec, '');
      if ((spec.ephemeralContainers ?? []).length > 0) {
        at.forbidden('spec.ephemeralContainers', 'ephemeral containers not allowed in pod template');
      }
    },
  };
}

/** What containers share with each other and with the machine. */
function checkSharing(at: At, spec: PodSpec): void {
  if (spec.hostNetwork === true) checkHostNetworkPorts(at, spec.containers);
  if (spec.securityContext !== undefined) checkPodSecurity(at.child('securityContext'), spec.securityContext);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    at.invalid('securityContext.shareProcessNamespace', true, why);
  }
}

function checkPlacement(at: At, spec: PodSpec): void {
  if (spec.affinity !== undefined) checkAffinity(at.child('affinity'), spec.affinity);
  checkDns(at, spec.dnsPolicy, spec.dnsConfig);
  each(at, 'readinessGates', spec.readinessGates, ({ conditionType = '' }, gateAt) =>
    checkRule(gateAt, 'conditionType', conditionType, qualifiedName),
  );
  checkSpreadConstraints(at, spec.topologySpreadConstraints);
}

/** Names of other objects, and of the pod in its network. */
function checkNames(at: At, spec: PodSpec): void {
  checkText(at, 'serviceAccountName', spec.serviceAccountName, dns1123Subdomain);
  checkText(at, 'nodeName', spec.nodeName, dns1123Subdomain);
  checkText(at, 'hostname', spec.hostname, dns1123Label);
  checkText(at, 'subdomain', spec.subdomain, dns1123Label);
  checkText(at, 'priorityClassName', spec.priorityClassName, dns1123Subdomain);
  checkText(at, 'runtimeClassName', spec.runtimeClassName, dns1123Subdomain);
}

/** What workloads that keep their pods running ask of the template. `kind` is for the message. */
export function checkKeptRunning(at: At, { spec = {} }: PodTemplate, kind: string): void {
  const { restartPolicy, activeDeadlineSeconds } = spec;
  checkEnum(at, 'spec.restartPolicy', restartPolicy, ['Always']);
  if (activeDeadlineSeconds !== undefined) {
    at.forbidden('spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}
