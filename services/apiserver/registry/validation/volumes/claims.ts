import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedLocalObjectReference,
} from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { checkAnnotations, checkLabels } from '../checks/labels.js';
import { checkPositiveQuantity } from '../checks/quantities.js';

const ONE_POD = 'ReadWriteOncePod';
const OTHERS = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];

export function checkAccessModes(at: At, modes: readonly string[] = []): void {
  if (!modes.includes(ONE_POD) || !modes.some((mode) => OTHERS.includes(mode))) return;
  at.forbidden('accessModes', `may not use ${ONE_POD} with other access modes`);
}

const CLAIM = 'PersistentVolumeClaim';
type DataSource = TypedLocalObjectReference;

function checkDataSource(at: At, { apiGroup, kind = '' }: DataSource = { kind: CLAIM }): void {
  if ((apiGroup ?? '') === '' && kind !== CLAIM) {
    at.invalid('', kind, `must be '${CLAIM}' when referencing the default apiGroup`);
  }
}

const isSameSource = (a: DataSource, b: DataSource): boolean =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;

export function checkClaimSpec(at: At, spec: PersistentVolumeClaimSpec): void {
  const { resources: { requests = {} } = {}, dataSource, dataSourceRef } = spec;
  checkAccessModes(at, spec.accessModes);
  const storageAt = at.child('resources').key('storage');
  const { storage } = requests;
  if (storage === undefined) storageAt.required('');
  else checkPositiveQuantity(storageAt, '', storage);
  checkDataSource(at.child('dataSource'), dataSource);
  checkDataSource(at.child('dataSourceRef'), dataSourceRef);
  if (dataSource !== undefined && dataSourceRef !== undefined && !isSameSource(dataSource, dataSourceRef)) {
    at.invalid('', 'spec.dataSource', 'must match dataSourceRef');
  }
}

const IN_TEMPLATES: ReadonlySet<string> = new Set(['labels', 'annotations', 'creationTimestamp']);

export function checkClaimTemplate(at: At, { metadata = {} }: PersistentVolumeClaimTemplate): void {
  const metadataAt = at.child('metadata');
  checkAnnotations(metadataAt, 'annotations', metadata.annotations);
  checkLabels(metadataAt, 'labels', metadata.labels);
  for (const member of Object.keys(metadata)) {
    if (!IN_TEMPLATES.has(member)) metadataAt.forbidden(member, 'cannot be set');
  }
}
