import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { RequestVerb } from '../pipeline/request.js';
import type { Operation, Operations } from '../pipeline/verb.js';
import type { ResourceTable } from '../registry/resources.js';
import type { VerbDeps } from '../verbs/types.js';

import { bindings, podBinding } from './binding.js';
import { log } from './connect/log.js';
import type { NodeAgents } from './connect/nodes.js';
import type { PassDeps } from './connect/pass-on.js';
import { nodeProxy, podProxy, serviceProxy } from './connect/proxy.js';
import { attach, exec, portForward } from './connect/sessions.js';
import { eviction } from './eviction.js';
import { scale } from './scale.js';
import type { TokenIssuer } from './tokens/issuer.js';
import { accountToken } from './tokens/token.js';

/** What operations are made of. */
export interface OperationDeps extends VerbDeps {
  readonly resources: ResourceTable;
  readonly passing: PassDeps;
  readonly nodeAgents: NodeAgents;
  /** undefined: no tokens are issued. */
  readonly tokens: TokenIssuer | undefined;
}

/** Who answers which verb. */
export type OperationVerbs = Partial<Readonly<Record<RequestVerb, Operation>>>;

/** By group and by `<resource>` or `<resource>/<subresource>`. One file each, one line here. */
const operationTable = (d: OperationDeps): Readonly<Record<string, Readonly<Record<string, OperationVerbs>>>> => ({
  '': {
    bindings: bindings(d),
    'nodes/proxy': nodeProxy(d),
    'pods/attach': attach(d),
    'pods/binding': podBinding(d),
    'pods/eviction': eviction(d),
    'pods/exec': exec(d),
    'pods/log': log(d),
    'pods/portforward': portForward(d),
    'pods/proxy': podProxy(d),
    'replicationcontrollers/scale': scale(d),
    'serviceaccounts/token': accountToken(d),
    'services/proxy': serviceProxy(d),
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
