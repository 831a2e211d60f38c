import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { RequestVerb } from '../pipeline/request.js';
import type { Operation, Operations } from '../pipeline/verb.js';
import type { ResourceTable } from '../registry/resources.js';
import type { VerbDeps } from '../verbs/types.js';

/** What operations are made of. */
export interface OperationDeps extends VerbDeps {
  readonly resources: ResourceTable;
}

/** Who answers which verb. */
export type OperationVerbs = Partial<Readonly<Record<RequestVerb, Operation>>>;

/** By group and by `<resource>` or `<resource>/<subresource>`. One file each, one line here. */
const operationTable = (
  _vocabulary: Vocabulary,
  _d: OperationDeps,
): Readonly<Record<string, Readonly<Record<string, OperationVerbs>>>> => ({});

export function operations(d: OperationDeps): Operations {
  const table = operationTable(d.vocabulary, d);
  return {
    find: ({ group, resource }: ResourceDeclaration, subresource, verb) =>
      table[group]?.[subresource === '' ? resource : `${resource}/${subresource}`]?.[verb],
  };
}
