import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import { each } from '../checks/members.js';
import type { Problems } from '../types.js';

interface Status {
  readonly conditions?: readonly { readonly type?: string }[];
}

/** Older than the conditions of other kinds, and asked less. */
export function checkStatus(next: ApiObject, _old: ApiObject, problems: Problems): void {
  const { conditions } = (next['status'] ?? {}) as Status;
  const seen = new Set<string>();
  each(At.root(problems, 'status'), 'conditions', conditions, ({ type = '' }, at) => {
    if (seen.has(type)) at.duplicate('type', type);
    seen.add(type);
    if (type === '') at.required('type', 'must not be empty');
  });
}
