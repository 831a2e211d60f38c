import { dns1123Label } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import { checkEnum, checkPort, each, isUnset, PROTOCOLS, requireText } from '../checks/members.js';
import type { ResourceChecks, ResourceRequirements } from '../checks/quantities.js';
import { portName } from '../checks/text.js';
import type { Volume } from '../volumes/volumes.js';
import type { EnvFrom, EnvVar } from './environment.js';
import { checkEnv, checkEnvFrom } from './environment.js';
import type { VolumeDevice, VolumeMount } from './mounts.js';
import { checkMounts } from './mounts.js';
import type { Lifecycle, Probes } from './probes.js';
import { checkLifecycle, checkProbes } from './probes.js';
import type { SecurityContext } from './security.js';
import { checkContainerSecurity } from './security.js';

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
}

export interface Container extends Probes {
  readonly name?: string;
  readonly image?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly lifecycle?: Lifecycle;
  readonly imagePullPolicy?: string;
  readonly terminationMessagePolicy?: string;
  readonly securityContext?: SecurityContext;
  /** Of containers that start before the others, and stay. */
  readonly restartPolicy?: string;
}

export interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
}

export interface Containers {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
}

function checkPorts(at: At, ports: readonly ContainerPort[] | undefined): void {
  const names = new Set<string>();
  each(at, 'ports', ports, ({ name = '', containerPort = 0, hostPort = 0, protocol }, portAt) => {
    if (name !== '') {
      const problems = portName(name);
      for (const problem of problems) portAt.invalid('name', name, problem);
      if (problems.length === 0 && names.has(name)) portAt.duplicate('name', name);
      names.add(name);
    }
    if (containerPort === 0) portAt.required('containerPort');
    else checkPort(portAt, 'containerPort', containerPort);
    if (hostPort !== 0) checkPort(portAt, 'hostPort', hostPort);
    checkEnum(portAt, 'protocol', protocol, PROTOCOLS);
  });
}

/** A port of the machine can be had once. */
function checkHostPorts(at: At, ports: readonly ContainerPort[] | undefined, taken: Set<string>): void {
  each(at, 'ports', ports, ({ hostPort = 0, hostIP = '', protocol = 'TCP' }, portAt) => {
    if (hostPort === 0) return;
    const port = `${protocol}/${hostIP}/${hostPort}`;
    if (taken.has(port)) portAt.duplicate('hostPort', port);
    taken.add(port);
  });
}

/** Everything about a container that does not depend on which list it is in. */
function checkContainer(at: At, container: Container, c: ContainersContext): void {
  const { ports, resources, securityContext } = container;
  requireText(at, 'name', container.name, dns1123Label);
  if (isUnset(container.image)) at.required('image');
  checkEnum(at, 'terminationMessagePolicy', container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError']);
  if (ports !== undefined) checkPorts(at, ports);
  checkEnv(at, container.env);
  checkEnvFrom(at, container.envFrom);
  checkMounts(at, container, c.volumes);
  checkEnum(at, 'imagePullPolicy', container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']);
  if (resources !== undefined) c.resources.requirements(at.child('resources'), resources);
  if (securityContext !== undefined) checkContainerSecurity(at.child('securityContext'), securityContext, c);
}

export interface ContainersContext {
  /** Those that are right, by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly resources: ResourceChecks;
  readonly allowPrivileged: boolean;
}

export function checkContainers(
  at: At,
  { containers, initContainers, ephemeralContainers }: Containers,
  c: ContainersContext,
): void {
  const names = new Set<string>();
  if ((containers ?? []).length === 0) at.required('containers');
  each(at, 'containers', containers, (container, containerAt) => {
    checkContainer(containerAt, container, c);
    checkUnique(containerAt, container, names);
    if (container.lifecycle !== undefined) checkLifecycle(containerAt.child('lifecycle'), container.lifecycle);
    checkProbes(containerAt, container);
  });
  const hostPorts = new Set<string>();
  each(at, 'containers', containers, ({ ports }, containerAt) => checkHostPorts(containerAt, ports, hostPorts));
  if (initContainers !== undefined) checkInitContainers(at, initContainers, names, c);
  if (ephemeralContainers !== undefined) checkEphemeralContainers(at, ephemeralContainers, names, c);
}

/** A name that is missing is reported as such. */
function checkUnique(at: At, { name = '' }: Container, names: Set<string>): void {
  if (name === '') return;
  if (names.has(name)) at.duplicate('name', name);
  names.add(name);
}

const NOT_FOR_INIT = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function checkInitContainers(at: At, list: readonly Container[], names: Set<string>, c: ContainersContext): void {
  each(at, 'initContainers', list, (container, containerAt) => {
    checkContainer(containerAt, container, c);
    checkUnique(containerAt, container, names);
    // They run one after the other: several may have the same port.
    checkHostPorts(containerAt, container.ports, new Set());
    if (container.restartPolicy !== undefined) {
      checkEnum(containerAt, 'restartPolicy', container.restartPolicy, ['Always']);
      return;
    }
    for (const member of NOT_FOR_INIT) {
      if (container[member] !== undefined) containerAt.forbidden(member, 'may not be set for init containers');
    }
  });
}

const NOT_FOR_EPHEMERAL = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const satisfies readonly (keyof Container)[];
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

function checkEphemeralContainers(
  at: At,
  list: readonly EphemeralContainer[],
  names: Set<string>,
  c: ContainersContext,
): void {
  const others = new Set(names);
  each(at, 'ephemeralContainers', list, (container, containerAt) => {
    const { targetContainerName: target } = container;
    checkContainer(containerAt, container, c);
    checkImage(containerAt, container);
    checkUnique(containerAt, container, names);
    if (target !== undefined && !others.has(target)) containerAt.notFound('targetContainerName', target);
    for (const member of NOT_FOR_EPHEMERAL) {
      if (container[member] !== undefined) containerAt.forbidden(member, NOT_EPHEMERAL);
    }
    if (Object.keys(container.resources ?? {}).length > 0) containerAt.forbidden('resources', NOT_EPHEMERAL);
    each(containerAt, 'volumeMounts', container.volumeMounts, (mount, mountAt) => {
      for (const member of ['subPath', 'subPathExpr'] as const) {
        if (mount[member] !== undefined) mountAt.forbidden(member, NOT_EPHEMERAL);
      }
    });
  });
}

/** Pods are asked more of their images than templates, in which tools may have left blanks to fill in. */
export function checkImage(at: At, { image = '' }: Container): void {
  if (image.trim() !== image) at.invalid('image', image, 'must not have leading or trailing whitespace');
}

/** On the machine's own network a port is the machine's. */
export function checkHostNetworkPorts(at: At, containers: Containers['containers']): void {
  each(at, 'containers', containers, ({ ports }, containerAt) => {
    each(containerAt, 'ports', ports, ({ containerPort = 0, hostPort }, portAt) => {
      // One that was left out becomes the container's: that is a default.
      if (hostPort !== undefined && hostPort !== containerPort) {
        portAt.invalid('containerPort', containerPort, 'must match `hostPort` when `hostNetwork` is true');
      }
    });
  });
}
