import { isDeepStrictEqual } from 'node:util';
import type {
  PersistentVolume,
  PersistentVolumeSource,
  PersistentVolumeSpec,
} from '../../../../machinery/types/generated/core.v1.js';
import { At, checkImmutable, eachEntry } from '../checks/at.js';
import { checkPlainQuantity, checkPositiveQuantity } from '../checks/quantities.js';
import type { KindValidation, TypeRule } from '../types.js';

/** Members of the spec other than sources of volumes. */
type NoSource = Exclude<keyof PersistentVolumeSpec, keyof PersistentVolumeSource>;
const NO_SOURCES: ReadonlySet<string> = new Set<NoSource>([
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
const sourceIn = (spec: PersistentVolumeSpec): object =>
  Object.fromEntries(Object.entries(spec).filter(([member]) => !NO_SOURCES.has(member)));

const ROOT = /^[/.]*$/;

function checkCapacity(at: At, capacity: NonNullable<PersistentVolumeSpec['capacity']> = {}): void {
  const resources = Object.keys(capacity);
  if (resources.length === 0) at.required('capacity');
  if (resources.length !== 1 || resources[0] !== 'storage') at.notSupported('capacity', capacity, ['storage']);
  eachEntry(at, 'capacity', capacity, (quantity, _resource, quantityAt) => {
    checkPlainQuantity(quantityAt, '', quantity);
    checkPositiveQuantity(quantityAt, '', quantity);
  });
}

const NOT_INLINE = 'may not be specified in the context of inline volumes';

/** A volume that is part of something else is not claimed, and is the business of a driver. */
export function checkInline(at: At, spec: PersistentVolumeSpec): void {
  if (spec.claimRef !== undefined) at.forbidden('claimRef', NOT_INLINE);
  if (Object.keys(spec.capacity ?? {}).length > 0) at.forbidden('capacity', NOT_INLINE);
  if (spec.csi === undefined) at.required('csi', 'has to be specified in the context of inline volumes');
}

/** Further rules for volumes that are objects. */
export const checkVolume: TypeRule<PersistentVolume> = (root, { spec = {} }) => {
  const at = root.child('spec');
  const { persistentVolumeReclaimPolicy: policy, hostPath } = spec;
  checkCapacity(at, spec.capacity);
  if (spec.nodeAffinity === undefined && spec.local !== undefined) {
    at.required('nodeAffinity', 'Local volume requires node affinity');
  }
  if (hostPath?.path !== undefined && ROOT.test(hostPath.path) && policy === 'Recycle') {
    at.forbidden('persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'");
  }
};

export const persistentVolumes: KindValidation<PersistentVolume> = {
  update: ({ spec = {} }, { spec: old = {} }, problems) => {
    const at = At.root(problems);
    if (!isDeepStrictEqual(sourceIn(spec), sourceIn(old))) {
      at.forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation');
    }
    checkImmutable(at, 'volumeMode', spec.volumeMode, old.volumeMode);
    if (old.nodeAffinity !== undefined) checkImmutable(at, 'nodeAffinity', spec.nodeAffinity, old.nodeAffinity);
  },
};
