import { StatusError } from '../meta/status.js';
import { pathsOf, type FieldsTree, printPath } from './fields-tree.js';
import { compareText, type ManagedFieldsEntry } from './managed-fields.js';

/** Fields of another manager that an applied configuration would change. */
export interface Contest {
  readonly owner: ManagedFieldsEntry;
  readonly fields: FieldsTree;
}

/** 409 that names every field and its owner, in the words that clients know. */
export function applyConflict(contests: readonly Contest[]): StatusError {
  const listed = contests
    .map(({ owner, fields }) => ({ owner: ownerName(owner), fields: pathsOf(fields).map(printPath) }))
    .sort((a, b) => compareText(a.owner, b.owner));
  const causes = listed.flatMap(({ owner, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  return new StatusError('Conflict', messageOf(listed, causes.length), { details: { causes } });
}

interface Listed {
  readonly owner: string;
  readonly fields: readonly string[];
}

function messageOf(listed: readonly Listed[], count: number): string {
  const [first] = listed;
  if (count === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.fields.join()}`;
  }
  const lines = listed.flatMap(({ owner, fields }) => [`conflicts with ${owner}:`, ...fields.map((f) => `- ${f}`)]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

/** The version is part of who an updater is; appliers are the same in all. */
function ownerName({ manager, subresource, operation, apiVersion }: ManagedFieldsEntry): string {
  const part = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
