import { At } from '../checks/at.js';
import { checkNotNegative } from '../checks/members.js';
import type { KindValidation } from '../types.js';

export const controllerRevisions: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems);
    if (object['data'] === undefined || object['data'] === null) at.required('data', 'data is mandatory');
    checkNotNegative(at, 'revision', object['revision'] as number | undefined);
  },
};
