import type { TextRule } from '../../../../machinery/meta/names.js';
import { dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import {
  checkBetween,
  checkEnum,
  checkRule,
  checkText,
  each,
  isUnset,
  requireText,
  requireTexts,
} from '../checks/members.js';
import { absolutePath, descendingPath, localPath } from '../checks/text.js';

/** What the sources of volumes have, all in one: which members are there depends on the source. */
export interface Source extends Readonly<Record<string, unknown>> {
  readonly path?: string;
  readonly type?: string;
  readonly directory?: string;
  readonly name?: string;
  readonly driver?: string;
  readonly defaultMode?: number;
  readonly partition?: number;
  readonly lun?: number;
  readonly iqn?: string;
  readonly initiatorName?: string;
  readonly targetPortal?: string;
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: SecretRef;
  readonly nodePublishSecretRef?: SecretRef;
  readonly options?: StringMap;
  readonly sizeLimit?: string;
  readonly targetWWNs?: readonly string[];
  readonly wwids?: readonly string[];
  readonly monitors?: readonly string[] | null;
  readonly cachingMode?: string;
  readonly kind?: string;
  readonly diskURI?: string;
  readonly datasetName?: string;
  readonly datasetUUID?: string;
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
  readonly secretNamespace?: string;
  readonly endpointsNamespace?: string;
}

export interface SecretRef {
  readonly name?: string;
  readonly namespace?: string;
}

export type SourceCheck = (at: At, source: Source) => void;

export interface KeyToPath {
  readonly key?: string;
  readonly path?: string;
  readonly mode?: number;
}

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

export function checkFileMode(at: At, member: string, mode: number | undefined): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) at.invalid(member, mode, FILE_MODE);
}

/** Members that must not be empty. */
const needs =
  (...members: readonly string[]): SourceCheck =>
  (at, source) =>
    requireTexts(at, source, ...members);

const both =
  (...checks: readonly SourceCheck[]): SourceCheck =>
  (at, source) => {
    for (const check of checks) check(at, source);
  };

const needsPath =
  (rule: TextRule): SourceCheck =>
  (at, { path }) => {
    requireText(at, 'path', path, rule);
  };

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const hostPath: SourceCheck = (at, source) => {
  needsPath(descendingPath)(at, source);
  if (!isUnset(source.path)) checkEnum(at, 'type', source.type, HOST_PATH_TYPES);
};

const partition: SourceCheck = (at, source) => {
  const { partition: n = 0 } = source;
  if (n < 0 || n > 255) at.invalid('partition', n, 'must be between 1 and 255, inclusive');
};

const nfs: SourceCheck = (at, source) => {
  requireTexts(at, source, 'server', 'path');
  checkRule(at, 'path', source.path ?? '', absolutePath);
};

const gitRepo: SourceCheck = (at, source) => {
  requireTexts(at, source, 'repository');
  checkText(at, 'directory', source.directory, localPath);
};

const WWN_FORMS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries<RegExp>({
    iqn: /^iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\s]+$/,
    eui: /^eui.[a-zA-Z0-9]{16}$/,
    naa: /^naa.[a-zA-Z0-9]{32}$/,
  }),
);
const wwn: TextRule = (text) => {
  const form = WWN_FORMS.get(text.slice(0, 3));
  if (form === undefined) return ['must be valid format starting with iqn, eui, or naa'];
  return form.test(text) ? [] : ['must be valid format'];
};

const iscsi: SourceCheck = (at, source) => {
  requireTexts(at, source, 'targetPortal', 'iqn');
  checkText(at, 'iqn', source.iqn, wwn);
  checkBetween(at, 'lun', source.lun, 0, 255);
  const { chapAuthDiscovery, chapAuthSession, secretRef } = source;
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) at.required('secretRef');
  checkText(at, 'initiatorname', source.initiatorName, wwn);
};

const fibreChannel: SourceCheck = (at, { targetWWNs = [], wwids = [], lun }) => {
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

const monitors: SourceCheck = (at, source) => {
  if ((source.monitors ?? []).length === 0) at.required('monitors');
};

const flocker: SourceCheck = (at, { datasetName = '', datasetUUID = '' }) => {
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
const azureDisk: SourceCheck = (at, source) => {
  const { cachingMode, kind, diskURI = '' } = source;
  requireTexts(at, source, 'diskName', 'diskURI');
  checkEnum(at, 'cachingMode', cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  checkEnum(at, 'kind', kind, ['Dedicated', 'Managed', 'Shared']);
  if (kind === undefined) return;
  const form = kind === 'Managed' ? DISK_URIS.managed : DISK_URIS.blob;
  if (!diskURI.startsWith(form.slice(0, form.indexOf('{')))) at.notSupported('diskURI', diskURI, [form]);
};

const storageOs: SourceCheck = (at, source) => {
  requireTexts(at, source, 'volumeName');
  checkText(at, 'volumeName', source.volumeName, dns1123Label);
  checkText(at, 'volumeNamespace', source.volumeNamespace, dns1123Label);
};

const secretName: SourceCheck = (at, { secretRef }) => {
  if (secretRef !== undefined) requireTexts(at.child('secretRef'), { ...secretRef }, 'name');
};

const DRIVER_MAX = 63;

export function checkDriverName(at: At, member: string, driver = ''): void {
  if (driver === '') at.required(member);
  if (driver.length > DRIVER_MAX) at.tooLong(member, DRIVER_MAX);
  for (const problem of dns1123Subdomain(driver.toLowerCase())) at.invalid(member, driver, problem);
}

const csi: SourceCheck = (at, { driver, nodePublishSecretRef: secret }) => {
  checkDriverName(at, 'driver', driver);
  if (secret === undefined) return;
  if (isUnset(secret.name)) at.required('nodePublishSecretRef.name');
  checkText(at, 'name', secret.name, dns1123Subdomain);
};

const emptyDir: SourceCheck = (at, { sizeLimit = '0' }) => {
  if (sizeLimit.startsWith('-')) at.forbidden('sizeLimit', 'SizeLimit field must be a valid resource quantity');
};

export function checkKeyToPath({ key, path = '', mode }: KeyToPath, at: At, rule: TextRule): void {
  if (isUnset(key)) at.required('key');
  if (path === '') at.required('path');
  checkRule(at, 'path', path, rule);
  checkFileMode(at, 'mode', mode);
}

/** A config map or a secret as files; `member` names it. */
export const files =
  (member: string, rule: TextRule): SourceCheck =>
  (at, source) => {
    requireTexts(at, source, member);
    checkFileMode(at, 'defaultMode', source.defaultMode);
    each(at, 'items', source['items'] as readonly KeyToPath[] | undefined, (item, itemAt) =>
      checkKeyToPath(item, itemAt, rule),
    );
  };

/** Options of a driver are the driver's, but for those in our own domains. */
const flexVolume =
  ({ reservedDomains }: Vocabulary): SourceCheck =>
  (at, source) => {
    requireTexts(at, source, 'driver');
    for (const key of Object.keys(source.options ?? {})) {
      const domain = `.${key.split('/', 1)[0] ?? ''}`.toLowerCase();
      if (reservedDomains.some((reserved) => domain.endsWith(`.${reserved}`))) {
        at.child('options')
          .key(key)
          .invalid('', key, `${reservedDomains.join(' and ')} namespaces are reserved`);
      }
    }
  };

/** Sources that pods and persistent volumes share, by member. */
export const sharedSources = (vocabulary: Vocabulary): ReadonlyMap<string, SourceCheck> =>
  new Map<string, SourceCheck>([
    ['hostPath', hostPath],
    ['gcePersistentDisk', both(needs('pdName'), partition)],
    ['awsElasticBlockStore', both(needs('volumeID'), partition)],
    ['nfs', nfs],
    ['iscsi', iscsi],
    ['glusterfs', needs('endpoints', 'path')],
    ['rbd', both(monitors, needs('image'))],
    ['flexVolume', flexVolume(vocabulary)],
    ['cinder', both(needs('volumeID'), secretName)],
    ['cephfs', monitors],
    ['flocker', flocker],
    ['fc', fibreChannel],
    ['azureFile', needs('secretName', 'shareName')],
    ['vsphereVolume', needs('volumePath')],
    ['quobyte', needs('registry', 'volume')],
    ['azureDisk', azureDisk],
    ['photonPersistentDisk', needs('pdID')],
    ['portworxVolume', needs('volumeID')],
    ['scaleIO', needs('gateway', 'system', 'volumeName')],
    ['storageos', both(storageOs, secretName)],
    ['local', needsPath(descendingPath)],
  ]);

/** Sources that only pods have. */
export const podSources: ReadonlyMap<string, SourceCheck> = new Map<string, SourceCheck>([
  ['emptyDir', emptyDir],
  ['gitRepo', gitRepo],
  ['persistentVolumeClaim', needs('claimName')],
  ['csi', csi],
]);
