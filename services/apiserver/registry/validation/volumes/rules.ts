import { dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, checkBetween, checkText, isUnset } from '../checks/at.js';
import { wwn } from '../checks/text.js';
import type { TypeRule, TypeRules } from '../types.js';
import { checkAccessModes, checkClaimSpec, checkClaimTemplate } from './claims.js';
import { checkDownwardFiles, checkProjected } from './projections.js';

/** Messages know these disks by another name. Beside a source that comes before it, the disk is not looked into. */
function checkDisk(at: At, { gcePersistentDisk: disk, hostPath, emptyDir }: Partial<core.VolumeSource>): void {
  if (disk === undefined || hostPath !== undefined || emptyDir !== undefined) return;
  const diskAt = at.child('persistentDisk');
  const { partition = 0 } = disk;
  if (isUnset(disk.pdName)) diskAt.required('pdName');
  if (partition < 0 || partition > 255) diskAt.invalid('partition', partition, 'must be between 1 and 255, inclusive');
}

const checkIscsi: TypeRule<core.ISCSIVolumeSource> = (at, source) => {
  const { chapAuthDiscovery, chapAuthSession, secretRef } = source;
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) at.required('secretRef');
  checkText(at, 'initiatorname', source.initiatorName, wwn);
};

const checkFibreChannel: TypeRule<core.FCVolumeSource> = (at, { targetWWNs = [], wwids = [], lun }) => {
  if (targetWWNs.length === 0 && wwids.length === 0) {
    at.required('targetWWNs', 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) {
    at.invalid('targetWWNs', targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (lun === undefined) at.required('lun', 'lun is required if targetWWNs is specified');
  checkBetween(at, 'lun', lun, 0, 255);
};

const checkFlocker: TypeRule<core.FlockerVolumeSource> = (at, { datasetName = '', datasetUUID = '' }) => {
  if (datasetName === '' && datasetUUID === '') at.required('', 'one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '') {
    at.invalid('', 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  }
  if (datasetName.includes('/')) at.invalid('datasetName', datasetName, "must not contain '/'");
};

const DISK_URIS = {
  managed: '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
  blob: 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
};
const checkAzureDisk: TypeRule<core.AzureDiskVolumeSource> = (at, { kind, diskURI = '' }) => {
  if (kind === undefined) return;
  const form = kind === 'Managed' ? DISK_URIS.managed : DISK_URIS.blob;
  if (!diskURI.startsWith(form.slice(0, form.indexOf('{')))) at.notSupported('diskURI', diskURI, [form]);
};

/** Options of a driver are the driver's, but for those in our own domains. */
const flexRule =
  ({ reservedDomains }: Vocabulary): TypeRule<{ readonly options?: Readonly<Record<string, string>> }> =>
  (at, { options = {} }) => {
    for (const key of Object.keys(options)) {
      const domain = `.${key.split('/', 1)[0] ?? ''}`.toLowerCase();
      if (!reservedDomains.some((reserved) => domain.endsWith(`.${reserved}`))) continue;
      at.child('options')
        .key(key)
        .invalid('', key, `${reservedDomains.join(' and ')} namespaces are reserved`);
    }
  };

/** Rules of volumes and of what they are made from, in pods and on their own. */
export function volumeRules(vocabulary: Vocabulary): TypeRules<core.Types> {
  const checkFlex = flexRule(vocabulary);
  return {
    AzureDiskVolumeSource: checkAzureDisk,
    CSIVolumeSource: (at, { nodePublishSecretRef: secret }) => checkText(at, 'name', secret?.name, dns1123Subdomain),
    DownwardAPIProjection: checkDownwardFiles,
    DownwardAPIVolumeSource: checkDownwardFiles,
    EmptyDirVolumeSource: (at, { sizeLimit = '0' }) => {
      if (sizeLimit.startsWith('-')) at.forbidden('sizeLimit', 'SizeLimit field must be a valid resource quantity');
    },
    FCVolumeSource: checkFibreChannel,
    FlexPersistentVolumeSource: checkFlex,
    FlexVolumeSource: checkFlex,
    FlockerVolumeSource: checkFlocker,
    ISCSIPersistentVolumeSource: checkIscsi,
    ISCSIVolumeSource: checkIscsi,
    PersistentVolumeClaimSpec: checkClaimSpec,
    PersistentVolumeClaimTemplate: checkClaimTemplate,
    PersistentVolumeSource: (at, { gcePersistentDisk }) =>
      checkDisk(at, gcePersistentDisk === undefined ? {} : { gcePersistentDisk }),
    PersistentVolumeSpec: (at, { accessModes }) => checkAccessModes(at, accessModes),
    ProjectedVolumeSource: checkProjected,
    VolumeSource: checkDisk,
  };
}
