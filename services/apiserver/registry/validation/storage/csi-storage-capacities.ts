import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import { At } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelSelector } from '../checks/labels.js';
import { checkRule, NOT_NEGATIVE } from '../checks/members.js';
import type { KindValidation } from '../types.js';

interface StorageCapacity {
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName?: string;
  readonly capacity?: string;
}

export const csiStorageCapacities: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems);
    const { nodeTopology, storageClassName = '', capacity = '0' } = object as StorageCapacity;
    checkLabelSelector(at, 'nodeTopology', nodeTopology);
    checkRule(at, 'storageClassName', storageClassName, dns1123Subdomain);
    if (capacity.startsWith('-')) at.invalid('capacity', capacity, NOT_NEGATIVE);
  },
};
