import type { Container, PodSpec } from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { each, requireEnum } from '../checks/members.js';

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

/** What a pod may say depends on the system it says it is for. */
export function checkOperatingSystem(at: At, spec: PodSpec): void {
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
export function checkHostProcess(at: At, spec: PodSpec): void {
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
