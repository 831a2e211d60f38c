import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import { checkAnnotations, checkLabels } from '../checks/labels.js';
import { checkEnum, checkRule } from '../checks/members.js';
import type { ResourceChecks } from '../checks/quantities.js';
import { resourceChecks } from '../checks/quantities.js';
import { httpHeaderName } from '../checks/text.js';
import type { TypeRules, ValidationOptions } from '../types.js';
import { checkContainers, checkHostNetworkPorts } from './containers.js';
import { checkEnvFrom, checkEnvVar } from './environment.js';
import { checkDns, checkHostAliases } from './name-resolution.js';
import { checkNodeSelectorTerm } from './node-selector.js';
import { checkHostProcess, checkOperatingSystem } from './operating-system.js';
import { checkPodAffinityTerm, checkSpreadConstraint, checkSpreadConstraints, checkToleration } from './scheduling.js';
import { checkContainerSecurity, checkSeccomp, checkSysctl } from './security.js';

type PodSpec = core.PodSpec;
type PodTemplate = core.PodTemplateSpec;

/** The volumes that are right, by name. */
function rightVolumes(at: At, volumes: readonly core.Volume[] = []): ReadonlyMap<string, core.Volume> {
  const wrong = at.problems.length === 0 ? undefined : at.wrongItems('volumes');
  const right = volumes.filter((_volume, i) => wrong?.has(i) !== true);
  return new Map(right.map((volume) => [volume.name ?? '', volume]));
}

/** Of all specs of pods, templates among them. */
function checkSpec(at: At, spec: PodSpec, resources: ResourceChecks): void {
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

function checkTemplate(at: At, { metadata = {}, spec }: PodTemplate): void {
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

/** What workloads that keep their pods running ask of the template. `kind` is for the message. */
export function checkKeptRunning(at: At, { spec = {} }: PodTemplate, kind: string): void {
  const { restartPolicy, activeDeadlineSeconds } = spec;
  checkEnum(at, 'spec.restartPolicy', restartPolicy, ['Always']);
  if (activeDeadlineSeconds !== undefined) {
    at.forbidden('spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}
