import type { ApiObject } from '../meta/object.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import type { Spoke } from './spoke.js';
import { isTree, present, treeOf, without, type Tree } from './tree.js';

/** The object with every endpoint changed. */
const eachEndpoint =
  (change: (endpoint: Tree) => Tree) =>
  (object: ApiObject): ApiObject => {
    const endpoints = object['endpoints'];
    if (!Array.isArray(endpoints)) return { ...object };
    return {
      ...object,
      endpoints: endpoints.map((endpoint: unknown) => (isTree(endpoint) ? change(endpoint) : endpoint)),
    };
  };

/**
 * In discovery v1beta1 an endpoint's zone is a key of `topology`, and its node is there too as the host name. In v1 both
 * are members of their own, and what else is in `topology` is kept as `deprecatedTopology`.
 */
export function endpointSliceSpokes({ groups, labels }: Vocabulary): readonly Spoke[] {
  const toHub = ({ topology, nodeName, ...rest }: Tree): Tree => {
    const keys = treeOf(topology);
    const { [labels.zone]: zone, [labels.hostname]: hostname } = keys;
    const node = nodeName ?? hostname;
    // a host name that is not the node's says something of its own, and stays
    const moved = new Set([labels.zone, ...(hostname === node ? [labels.hostname] : [])]);
    return { ...rest, ...present({ deprecatedTopology: without(keys, moved), nodeName: node, zone }) };
  };
  const fromHub = ({ deprecatedTopology, nodeName, zone, ...rest }: Tree): Tree => {
    const moved = present({ [labels.hostname]: nodeName, [labels.zone]: zone });
    const topology = { ...moved, ...treeOf(deprecatedTopology), ...present({ [labels.zone]: zone }) };
    return { ...rest, ...present({ topology: without(topology, new Set()), nodeName }) };
  };
  return [
    {
      group: groups.discovery,
      version: 'v1beta1',
      kind: 'EndpointSlice',
      toHub: eachEndpoint(toHub),
      fromHub: eachEndpoint(fromHub),
    },
  ];
}
