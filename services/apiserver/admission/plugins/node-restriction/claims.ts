import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { quoted, refused, unexpected, type Check } from './agent-request.js';

/** Claims: an agent tells how big a volume has become, and how that went. */
export const claimStatus: Check = (_, asked) => {
  const { node, request } = asked;
  if (request.subresource !== 'status') throw refused(request, 'may only update PVC status');
  const { object, oldObject } = request;
  if (request.operation !== 'UPDATE' || object === undefined || oldObject === undefined) throw unexpected(asked);
  if (isDeepStrictEqual(withoutGrowth(object), withoutGrowth(oldObject))) return;
  const why = 'is not allowed to update fields other than status.capacity and status.conditions';
  throw refused(request, `node ${quoted(node)} ${why}`);
};

/** The last three are of volumes that grow while in use, under the names that they had from release to release. */
const OF_GROWTH = ['capacity', 'conditions', 'resizeStatus', 'allocatedResources', 'allocatedResourceStatuses'];

/** All that an agent may not change. Who owns which field follows from the change. */
function withoutGrowth(claim: ApiObject): object {
  const without = (part: object, left: readonly string[]): object =>
    Object.fromEntries(Object.entries(part).filter(([key, value]) => value !== undefined && !left.includes(key)));
  return {
    ...claim,
    metadata: without(claim.metadata, ['resourceVersion', 'managedFields']),
    status: without(claim['status'] ?? {}, OF_GROWTH),
  };
}
