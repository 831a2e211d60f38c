import { isDeepStrictEqual } from 'node:util';
import { dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import {
  checkEnum,
  checkImmutable,
  checkText,
  eachEntry,
  isUnset,
  requireText,
  requireTexts,
} from '../checks/members.js';
import type { Quantities } from '../checks/quantities.js';
import { checkPlainQuantity, checkPositiveQuantity } from '../checks/quantities.js';
import type { NodeSelector } from '../pods/node-selector.js';
import { checkNodeSelector } from '../pods/node-selector.js';
import type { KindValidation, Problems } from '../types.js';
import { checkAccessModes, VOLUME_MODES } from '../volumes/claim-spec.js';
import type { SecretRef, SourceCheck } from '../volumes/sources.js';
import { checkDriverName, sharedSources } from '../volumes/sources.js';
import { checkSource } from '../volumes/volumes.js';

export interface VolumeSpec extends Readonly<Record<string, unknown>> {
  readonly capacity?: Quantities;
  readonly accessModes?: readonly string[];
  readonly persistentVolumeReclaimPolicy?: string;
  readonly storageClassName?: string;
  readonly volumeMode?: string;
  readonly nodeAffinity?: { readonly required?: NodeSelector };
  readonly hostPath?: { readonly path?: string };
  readonly local?: object;
}

const SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

const csi: SourceCheck = (at, source) => {
  checkDriverName(at, 'driver', source.driver);
  requireTexts(at, source, 'volumeHandle');
  for (const member of SECRETS) {
    const ref = source[member] as SecretRef | undefined;
    if (ref === undefined) continue;
    requireText(at.child(member), 'name', ref.name, dns1123Subdomain);
    requireText(at.child(member), 'namespace', ref.namespace, dns1123Label);
  }
};

/** A secret that belongs to no namespace's pod must say whose it is. */
const namespacedSecret =
  (check: SourceCheck | undefined): SourceCheck =>
  (at, source) => {
    check?.(at, source);
    const { secretRef } = source;
    if (secretRef !== undefined && isUnset(secretRef.namespace)) at.required('secretRef.namespace');
  };

const iscsi =
  (check: SourceCheck | undefined): SourceCheck =>
  (at, source) => {
    check?.(at, source);
    const { secretRef } = source;
    if (secretRef !== undefined && isUnset(secretRef.name)) at.required('secretRef.name');
  };

function volumeSources(vocabulary: Vocabulary): ReadonlyMap<string, SourceCheck> {
  const shared = sharedSources(vocabulary);
  return new Map([
    ...shared,
    ['cinder', namespacedSecret(shared.get('cinder'))],
    ['storageos', namespacedSecret(shared.get('storageos'))],
    ['iscsi', iscsi(shared.get('iscsi'))],
    ['csi', csi],
  ]);
}

/** Members of the spec that are no sources; all others are. */
const NO_SOURCES: ReadonlySet<string> = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);
const sourcesOf = (spec: VolumeSpec): readonly string[] =>
  Object.keys(spec).filter((member) => !NO_SOURCES.has(member) && spec[member] !== undefined);

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const ROOT = /^[/.]*$/;

function checkCapacity(at: At, capacity: Quantities = {}): void {
  const resources = Object.keys(capacity);
  if (resources.length === 0) at.required('capacity');
  if (resources.length !== 1 || resources[0] !== 'storage') at.notSupported('capacity', capacity, ['storage']);
  eachEntry(at, 'capacity', capacity, (quantity, _resource, quantityAt) => {
    checkPlainQuantity(quantityAt, '', quantity);
    checkPositiveQuantity(quantityAt, '', quantity);
  });
}

function checkNodeAffinity(at: At, { nodeAffinity, local }: VolumeSpec): void {
  if (nodeAffinity === undefined) {
    if (local !== undefined) at.required('nodeAffinity', 'Local volume requires node affinity');
  } else if (nodeAffinity.required === undefined) {
    at.required('nodeAffinity.required', 'must specify required node constraints');
  } else {
    checkNodeSelector(at.child('nodeAffinity').child('required'), nodeAffinity.required);
  }
}

const NOT_INLINE = 'may not be specified in the context of inline volumes';

/** A volume that is part of something else is not claimed, and is the business of a driver. */
function checkInline(at: At, spec: VolumeSpec): void {
  if (spec['claimRef'] !== undefined) at.forbidden('claimRef', NOT_INLINE);
  if (Object.keys(spec.capacity ?? {}).length > 0) at.forbidden('capacity', NOT_INLINE);
  if (spec['csi'] === undefined) at.required('csi', 'has to be specified in the context of inline volumes');
}

/** Checks the specs of volumes that lie inside other objects. */
export function inlineVolumeCheck(vocabulary: Vocabulary): (at: At, spec: VolumeSpec) => void {
  const sources = volumeSources(vocabulary);
  return (at, spec) => {
    checkInline(at, spec);
    checkAccessModes(at, spec.accessModes);
    checkSource(at, spec, sources, sourcesOf(spec));
    checkText(at, 'storageClassName', spec.storageClassName, dns1123Subdomain);
    checkEnum(at, 'volumeMode', spec.volumeMode, VOLUME_MODES);
  };
}

function checkSpec(at: At, spec: VolumeSpec, sources: ReadonlyMap<string, SourceCheck>): void {
  const { persistentVolumeReclaimPolicy: policy, hostPath } = spec;
  checkAccessModes(at, spec.accessModes);
  checkCapacity(at, spec.capacity);
  checkEnum(at, 'persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES);
  checkSource(at, spec, sources, sourcesOf(spec));
  checkNodeAffinity(at, spec);
  if (hostPath?.path !== undefined && ROOT.test(hostPath.path) && policy === 'Recycle') {
    at.forbidden('persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'");
  }
  checkText(at, 'storageClassName', spec.storageClassName, dns1123Subdomain);
  checkEnum(at, 'volumeMode', spec.volumeMode, VOLUME_MODES);
}

const specOf = (volume: ApiObject): VolumeSpec => (volume['spec'] ?? {}) as VolumeSpec;
const sourceIn = (spec: VolumeSpec): object =>
  Object.fromEntries(sourcesOf(spec).map((member) => [member, spec[member]]));

function checkUpdate(next: ApiObject, old: ApiObject, problems: Problems): void {
  const at = At.root(problems);
  const spec = specOf(next);
  const oldSpec = specOf(old);
  if (!isDeepStrictEqual(sourceIn(spec), sourceIn(oldSpec))) {
    at.forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation');
  }
  checkImmutable(at, 'volumeMode', spec.volumeMode, oldSpec.volumeMode);
  if (oldSpec.nodeAffinity !== undefined) {
    checkImmutable(at, 'nodeAffinity', spec.nodeAffinity, oldSpec.nodeAffinity);
  }
}

export const persistentVolumes = (vocabulary: Vocabulary): KindValidation => {
  const sources = volumeSources(vocabulary);
  return {
    object: (volume, problems) => checkSpec(At.root(problems, 'spec'), specOf(volume), sources),
    update: checkUpdate,
  };
};
