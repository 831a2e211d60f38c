import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelSelector } from '../checks/labels.js';
import { checkEnum, checkText } from '../checks/members.js';
import type { ResourceRequirements } from '../checks/quantities.js';
import { checkPositiveQuantity } from '../checks/quantities.js';

interface DataSource {
  /** Always written. */
  readonly apiGroup?: string | null;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export interface ClaimSpec {
  readonly accessModes?: readonly string[];
  readonly selector?: LabelSelector;
  readonly resources?: ResourceRequirements;
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly volumeMode?: string;
  readonly dataSource?: DataSource;
  readonly dataSourceRef?: DataSource;
}

const ONE_POD = 'ReadWriteOncePod';
const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', ONE_POD];
export const VOLUME_MODES = ['Block', 'Filesystem'];

export function checkAccessModes(at: At, modes: readonly string[] = [], detail = ''): void {
  if (modes.length === 0) at.required('accessModes', detail);
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) at.notSupported('accessModes', mode, ACCESS_MODES);
  if (modes.includes(ONE_POD) && modes.some((mode) => mode !== ONE_POD && ACCESS_MODES.includes(mode))) {
    at.forbidden('accessModes', `may not use ${ONE_POD} with other access modes`);
  }
}

const CLAIM = 'PersistentVolumeClaim';

function checkDataSource(at: At, { apiGroup, kind = '', name = '' }: DataSource): void {
  if (name === '') at.required('name');
  if (kind === '') at.required('kind');
  if ((apiGroup ?? '') === '' && kind !== CLAIM) {
    at.invalid('', kind, `must be '${CLAIM}' when referencing the default apiGroup`);
  }
}

const isSameSource = (a: DataSource, b: DataSource): boolean =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;

export function checkClaimSpec(at: At, spec: ClaimSpec): void {
  const { selector, resources: { requests = {} } = {}, storageClassName, volumeMode, dataSource, dataSourceRef } = spec;
  checkAccessModes(at, spec.accessModes, 'at least 1 access mode is required');
  checkLabelSelector(at, 'selector', selector);
  const storageAt = at.child('resources').key('storage');
  const storage = requests['storage'];
  if (storage === undefined) storageAt.required('');
  else checkPositiveQuantity(storageAt, '', storage);
  checkText(at, 'storageClassName', storageClassName, dns1123Subdomain);
  checkEnum(at, 'volumeMode', volumeMode, VOLUME_MODES);
  if (dataSource !== undefined) checkDataSource(at.child('dataSource'), dataSource);
  if (dataSourceRef !== undefined) checkDataSource(at.child('dataSourceRef'), dataSourceRef);
  if (dataSource !== undefined && dataSourceRef !== undefined && !isSameSource(dataSource, dataSourceRef)) {
    at.invalid('', 'spec.dataSource', 'must match dataSourceRef');
  }
}
