import { quoted, refused, type AgentRequest, type Check } from './agent-request.js';

/** @throws {StatusError} Forbidden */
function haveName({ node, request }: AgentRequest, what: string): void {
  if (request.name === node) return;
  throw refused(request, `can only access ${what} with the same name as the requesting node`);
}

/** By its lease a node shows that it is alive; by that of another, that the other is. */
export const ownLease: Check = ({ vocabulary }, asked) => {
  const { nodeLease } = vocabulary.namespaces;
  if (asked.request.namespace !== nodeLease) {
    throw refused(asked.request, `can only access leases in the ${quoted(nodeLease)} system namespace`);
  }
  haveName(asked, 'node lease');
};

export const ownCsiNode: Check = (_, asked) => {
  haveName(asked, 'CSINode');
};
