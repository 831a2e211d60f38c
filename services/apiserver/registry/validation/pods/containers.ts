import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  PodSpec,
  Probe,
  Volume,
} from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { checkEnum, each } from '../checks/members.js';
import { checkMounts } from './mounts.js';

/** A port of the machine can be had once. */
function checkHostPorts(at: At, ports: readonly ContainerPort[] | undefined, taken: Set<string>): void {
  each(at, 'ports', ports, ({ hostPort = 0, hostIP = '', protocol = 'TCP' }, portAt) => {
    if (hostPort === 0) return;
    const port = `${protocol}/${hostIP}/${hostPort}`;
    if (taken.has(port)) portAt.duplicate('hostPort', port);
    taken.add(port);
  });
}

/** What containers share with each other and with the volumes of their pod. */
export function checkContainers(at: At, spec: PodSpec, volumes: ReadonlyMap<string, Volume>): void {
  const { containers, initContainers, ephemeralContainers } = spec;
  const names = new Set<string>();
  each(at, 'containers', containers, (container, containerAt) => {
    checkMounts(containerAt, container, volumes);
    checkUnique(containerAt, container, names);
    checkProbes(containerAt, container);
  });
  const hostPorts = new Set<string>();
  each(at, 'containers', containers, ({ ports }, containerAt) => checkHostPorts(containerAt, ports, hostPorts));
  each(at, 'initContainers', initContainers, (container, containerAt) => {
    checkMounts(containerAt, container, volumes);
    checkUnique(containerAt, container, names);
    checkInitContainer(containerAt, container);
  });
  const others = new Set(names);
  each(at, 'ephemeralContainers', ephemeralContainers, (container, containerAt) => {
    const { targetContainerName: target } = container;
    checkMounts(containerAt, container, volumes);
    checkImage(containerAt, container);
    checkUnique(containerAt, container, names);
    if (target !== undefined && !others.has(target)) containerAt.notFound('targetContainerName', target);
    checkEphemeralContainer(containerAt, container);
  });
}

function checkProbes(at: At, container: Container): void {
  for (const member of ['livenessProbe', 'startupProbe'] as const) {
    const { successThreshold = 1 }: Probe = container[member] ?? {};
    if (successThreshold !== 1) at.child(member).invalid('successThreshold', successThreshold, 'must be 1');
  }
  const grace = container.readinessProbe?.terminationGracePeriodSeconds;
  if (grace === undefined) return;
  at.child('readinessProbe').invalid('terminationGracePeriodSeconds', grace, 'must not be set for readinessProbes');
}

/** A name that is missing is reported as such. */
function checkUnique(at: At, { name = '' }: Container, names: Set<string>): void {
  if (name === '') return;
  if (names.has(name)) at.duplicate('name', name);
  names.add(name);
}

const NOT_FOR_INIT = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function checkInitContainer(at: At, container: Container): void {
  // They run one after the other: several may have the same port.
  checkHostPorts(at, container.ports, new Set());
  if (container.restartPolicy !== undefined) {
    checkEnum(at, 'restartPolicy', container.restartPolicy, ['Always']);
    return;
  }
  for (const member of NOT_FOR_INIT) {
    if (container[member] !== undefined) at.forbidden(member, 'may not be set for init containers');
  }
}

const NOT_FOR_EPHEMERAL = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const;
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

function checkEphemeralContainer(at: At, container: EphemeralContainer): void {
  for (const member of NOT_FOR_EPHEMERAL) {
    if (container[member] !== undefined) at.forbidden(member, NOT_EPHEMERAL);
  }
  if (Object.keys(container.resources ?? {}).length > 0) at.forbidden('resources', NOT_EPHEMERAL);
  each(at, 'volumeMounts', container.volumeMounts, (mount, mountAt) => {
    for (const member of ['subPath', 'subPathExpr'] as const) {
      if (mount[member] !== undefined) mountAt.forbidden(member, NOT_EPHEMERAL);
    }
  });
}

/** Pods are asked more of their images than templates, in which tools may have left blanks to fill in. */
export function checkImage(at: At, { image = '' }: Container): void {
  if (image.trim() !== image) at.invalid('image', image, 'must not have leading or trailing whitespace');
}

/** On the machine's own network a port is the machine's. */
export function checkHostNetworkPorts(at: At, containers: PodSpec['containers']): void {
  each(at, 'containers', containers, ({ ports }, containerAt) => {
    each(containerAt, 'ports', ports, ({ containerPort = 0, hostPort }, portAt) => {
      // One that was left out becomes the container's: that is a default.
      if (hostPort !== undefined && hostPort !== containerPort) {
        portAt.invalid('containerPort', containerPort, 'must match `hostPort` when `hostNetwork` is true');
      }
    });
  });
}
