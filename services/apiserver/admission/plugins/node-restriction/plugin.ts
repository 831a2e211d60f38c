import { qualified } from '../../../../machinery/meta/status.js';
import { nodeOf } from '../../../authorization/node/node-authorizer.js';
import type { AdmissionPlugin } from '../../plugin.js';
import { claimStatus } from './claims.js';
import { labelPolicy } from './labels.js';
import { nodes } from './nodes.js';
import { ownCsiNode, ownLease } from './own-name.js';
import { podParts, pods } from './pods.js';
import { tokens } from './tokens.js';
import { quoted, refused, type Check, type NodeRestrictionDeps } from './agent-request.js';

/**
 * The agent of a node changes its own node and the pods there, and nothing by which it could come to what is not for
 * it: other nodes' pods, secrets that none of its pods has, pods that are meant for other nodes (spec 2, 5.9).
 */
export function nodeRestriction(d: NodeRestrictionDeps): AdmissionPlugin {
  const checks = checksOf(d);
  return {
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    resources: [...checks.keys()],
    // After all that could still change an object: what is stored is what is looked at.
    validate: (request) => {
      const node = nodeOf(request.user);
      if (node === undefined) return undefined;
      if (node === '') throw refused(request, `could not determine node from user ${quoted(request.user.name)}`);
      return checks.get(qualified(request.resource))?.(d, { node, request });
    },
  };
}

/** By resource. The others are for the authorizers alone. */
const checksOf = ({ vocabulary }: NodeRestrictionDeps): ReadonlyMap<string, Check> =>
  new Map<string, Check>([
    ['pods', (d, asked) => (asked.request.subresource === '' ? pods : podParts)(d, asked)],
    ['nodes', nodes(labelPolicy(vocabulary))],
    ['persistentvolumeclaims', claimStatus],
    ['serviceaccounts', tokens],
    [`leases.${vocabulary.groups.coordination}`, ownLease],
    [`csinodes.${vocabulary.groups.storage}`, ownCsiNode],
  ]);
