import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  PodSpec,
  Probe,
  Volume,
} from '../../../../machinery/types/generated/core.v1.js';
import { type At, checkEnum, each, checkRule, countOf, checkText } from '../checks/at.js';
import { descendingPath, localPath } from '../checks/text.js';
import type { TypeRule } from '../types.js';

/** A port of the machine can be had once. */
function checkHostPorts(at: At, ports: readonly ContainerPort[] | undefined, taken: Set<string>): void {
  each(at, 'ports', ports, ({ hostPort = 0, hostIP = '', protocol = 'TCP' }, portAt) => {
    if (hostPort === 0) return;
    const port = `${protocol}/${hostIP}/${hostPort}`;
    if (taken.has(port)) portAt.duplicate('hostPort', port);
    taken.add(port);
  });
}

/** State that the checks of all containers of a pod share. */
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

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];
/** Those that a file in a volume may hold. */
export const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
/** Fields that a path may name at all, whether or not they can be had where it stands. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  ...VOLUME_FIELDS,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

/** `map['key']` in its parts; undefined for paths that end otherwise. */
function subscripted(path: string): readonly [map: string, key: string] | undefined {
  const start = path.indexOf("['");
  return start > 0 && path.endsWith("']") ? [path.slice(0, start), path.slice(start + 2, -2)] : undefined;
}

/** Maps of which one value may be taken: what a key must be. */
const SUBSCRIPTED: ReadonlyMap<string, (key: string) => string> = new Map([
  ['metadata.annotations', (key: string) => key.toLowerCase()],
  ['metadata.labels', (key: string) => key],
]);

export function checkFieldRef(
  at: At,
  { apiVersion = 'v1', fieldPath = '' }: core.ObjectFieldSelector,
  fields: readonly string[],
): void {
  if (fieldPath === '') {
    at.required('fieldPath');
    return;
  }
  const failed = (why: string): void => at.invalid('fieldPath', fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion !== 'v1') {
    failed(`unsupported pod version: ${apiVersion}`);
    return;
  }
  const parts = subscripted(fieldPath);
  if (parts !== undefined) {
    const [map, key] = parts;
    const keyOf = SUBSCRIPTED.get(map);
    if (keyOf === undefined) {
      failed(`field label does not support subscript: ${fieldPath}`);
      return;
    }
    checkRule(at, '', keyOf(key), qualifiedName);
    return;
  }
  if (!KNOWN_FIELDS.has(fieldPath)) {
    failed(`field label not supported: ${fieldPath}`);
    return;
  }
  const path = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!fields.includes(path)) at.notSupported('fieldPath', path, fields);
}

const CONTAINER_RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/;
const SIZES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const sizes = (what: string): string => `only divisor's values ${SIZES.join(', ')} are supported with the ${what}`;

/** The unit of an amount, by its resource. */
const DIVISORS: readonly (readonly [resource: RegExp, divisors: readonly string[], problem: string])[] = [
  [/\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [/\.memory$/, SIZES, sizes('memory resource')],
  [/\.ephemeral-storage$/, SIZES, sizes('local ephemeral storage resource')],
  [HUGE_PAGES, SIZES, sizes('hugepages resource')],
];

export function checkResourceFieldRef(
  at: At,
  ref: core.ResourceFieldSelector,
  isInVolume: 'volume' | 'container',
): void {
  const { containerName = '', resource = '', divisor = '0' } = ref;
  if (isInVolume === 'volume' && containerName === '') at.required('containerName');
  else if (resource === '') at.required('resource');
  else if (!CONTAINER_RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) {
    at.notSupported('resource', resource, CONTAINER_RESOURCES);
  }
  if (divisor === '0') return;
  const rule = DIVISORS.find(([pattern]) => pattern.test(resource));
  if (rule !== undefined && !rule[1].includes(divisor)) at.invalid('divisor', resource, rule[2]);
}

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

function checkValueFrom(at: At, from: core.EnvVarSource, value: string): void {
  const { fieldRef, resourceFieldRef } = from;
  if (fieldRef !== undefined) checkFieldRef(at.child('fieldRef'), fieldRef, ENV_FIELDS);
  if (resourceFieldRef !== undefined) {
    checkResourceFieldRef(at.child('resourceFieldRef'), resourceFieldRef, 'container');
  }
  const count = Object.keys(from).length; // newer sources count, too
  if (count === 0) {
    const names = SOURCES.map((source) => `\`${source}\``);
    at.invalid('', '', `must specify one of: ${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`);
  } else if (value !== '') {
    at.invalid('', '', 'may not be specified when `value` is not empty');
  } else if (count > 1) {
    at.invalid('', '', 'may not have more than one field specified at a time');
  }
}

export const checkEnvVar: TypeRule<core.EnvVar> = (at, { value = '', valueFrom }) => {
  if (valueFrom !== undefined) checkValueFrom(at.child('valueFrom'), valueFrom, value);
};

/** A problem of one source is reported for the whole list, as clients know it. */
export function checkEnvFrom(at: At, { envFrom = [] }: core.EphemeralContainerCommon): void {
  for (const source of envFrom) {
    const count = countOf(source, ['configMapRef', 'secretRef']);
    if (count === 0) at.invalid('envFrom', '', 'must specify one of: `configMapRef` or `secretRef`');
    if (count > 1) at.invalid('envFrom', '', 'may not have more than one field specified at a time');
  }
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

/**
 * The mounts and devices of a container.
 *
 * @param volumes Those that are right, by name.
 */
function checkMounts(at: At, container: Container, volumes: ReadonlyMap<string, Volume>): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  if (volumeMounts.length > 0) checkVolumeMounts(at, container, volumes);
  if (volumeDevices.length > 0) checkVolumeDevices(at, container, volumes);
}

function checkVolumeMounts(at: At, container: Container, volumes: ReadonlyMap<string, Volume>): void {
  const { volumeMounts, volumeDevices = [] } = container;
  const listAt = at.child('volumeMounts');
  const paths = new Set<string>();
  const deviceNames = new Set(volumeDevices.map((device) => device.name));
  const devicePaths = new Set(volumeDevices.map((device) => device.devicePath));
  each(at, 'volumeMounts', volumeMounts, (mount, mountAt) => {
    const { name = '', mountPath = '', subPath = '', subPathExpr = '' } = mount;
    if (name === '') mountAt.required('name');
    if (!volumes.has(name)) mountAt.notFound('name', name);
    if (mountPath === '') mountAt.required('mountPath');
    if (paths.has(mountPath)) mountAt.invalid('mountPath', mountPath, 'must be unique');
    paths.add(mountPath);
    if (deviceNames.has(name)) {
      mountAt.invalid('name', name, 'must not already exist in volumeDevices');
    }
    if (devicePaths.has(mountPath)) {
      mountAt.invalid('mountPath', mountPath, 'must not already exist as a path in volumeDevices');
    }
    // From here on problems are reported at the list: so they always were.
    checkText(listAt, 'subPath', subPath, localPath);
    if (subPathExpr !== '' && subPath !== '') {
      mountAt.invalid('subPathExpr', subPathExpr, 'subPathExpr and subPath are mutually exclusive');
    }
    checkText(listAt, 'subPathExpr', subPathExpr, localPath);
    checkEnum(listAt, 'mountPropagation', mount.mountPropagation, PROPAGATIONS);
    if (mount.mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
      listAt.forbidden(
        'mountPropagation',
        'Bidirectional mount propagation is available only to privileged containers',
      );
    }
  });
}

function checkVolumeDevices(at: At, container: Container, volumes: ReadonlyMap<string, Volume>): void {
  const { volumeMounts = [], volumeDevices } = container;
  const names = new Set<string>();
  const paths = new Set<string>();
  const mountNames = new Set(volumeMounts.map((mount) => mount.name));
  const mountPaths = new Set(volumeMounts.map((mount) => mount.mountPath));
  each(at, 'volumeDevices', volumeDevices, ({ name = '', devicePath = '' }, deviceAt) => {
    if (name === '') deviceAt.required('name');
    if (names.has(name)) deviceAt.invalid('name', name, 'must be unique');
    const volume = volumes.get(name);
    if (volume === undefined) deviceAt.notFound('name', name);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      deviceAt.invalid('name', name, why);
    }
    if (devicePath === '') deviceAt.required('devicePath');
    if (paths.has(devicePath)) deviceAt.invalid('devicePath', devicePath, 'must be unique');
    if (descendingPath(devicePath).length > 0) {
      deviceAt.invalid('devicePath', devicePath, "can not contain backsteps ('..')");
    } else {
      paths.add(devicePath);
    }
    if (mountNames.has(name)) {
      deviceAt.invalid('name', name, 'must not already exist in volumeMounts');
    }
    if (mountPaths.has(devicePath)) {
      deviceAt.invalid('devicePath', devicePath, 'must not already exist as a path in volumeMounts');
    }
    if (name !== '') names.add(name);
  });
}
