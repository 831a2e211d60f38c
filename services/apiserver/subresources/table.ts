import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { RequestVerb } from '../pipeline/request.js';
import type { Operation, Operations } from '../pipeline/verb.js';
import type { ResourceTable } from '../registry/resources.js';
import type { VerbDeps } from '../verbs/types.js';

import { bindings, podBinding } from './binding.js';
import { eviction } from './eviction.js';
import { scale } from './scale.js';

/** What operations are made of. */
export interface OperationDeps extends VerbDeps {
  readonly resources: ResourceTable;
}

/** Who answers which verb. */
export type OperationVerbs = Partial<Readonly<Record<RequestVerb, Operation>>>;

/** By group and by `<resource>` or `<resource>/<subresource>`. One file each, one line here. */
const operationTable = (d: OperationDeps): Readonly<Record<string, Readonly<Record<string, OperationVerbs>>>> => ({
  '': {
    bindings: bindings(d),
    'pods/binding': podBinding(d),
    'pods/eviction': eviction(d),
    'replicationcontrollers/scale': scale(d),
  },
  apps: {
    'deployments/scale': scale(d),
    'replicasets/scale': scale(d),
    'statefulsets/scale': scale(d),
  },
});

export function operations(d: OperationDeps): Operations {
  const table = operationTable(d);
  return {
    find: ({ group, resource }: ResourceDeclaration, subresource, verb) =>
      table[group]?.[subresource === '' ? resource : `${resource}/${subresource}`]?.[verb],
  };
}
