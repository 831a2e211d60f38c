import type { Container, Volume } from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { checkEnum, checkText, each } from '../checks/members.js';
import { descendingPath, localPath } from '../checks/text.js';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

/**
 * What a container mounts, and which devices it sees.
 *
 * @param volumes Those that are right, by name.
 */
export function checkMounts(at: At, container: Container, volumes: ReadonlyMap<string, Volume>): void {
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
