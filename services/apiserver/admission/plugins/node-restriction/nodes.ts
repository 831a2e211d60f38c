import { isDeepStrictEqual } from 'node:util';
import { changedLabels, type LabelPolicy } from './labels.js';
import { quoted, refused, specOf, type AgentRequest, type Check } from './agent-request.js';

/** Nodes and their parts: an agent registers its own and keeps it up to date; others say what may run there. */
export const nodes =
  (mayDecide: LabelPolicy): Check =>
  (_, asked) => {
    const { node, request } = asked;
    if (request.name !== node) {
      throw refused(request, `node ${quoted(node)} is not allowed to modify node ${quoted(request.name)}`);
    }
    // One that could be made anew would come without the taints and labels that others gave it.
    if (request.operation === 'DELETE') throw refused(request, `node ${quoted(node)} is not allowed to delete itself`);
    if (request.operation === 'CREATE') mayCreate(mayDecide, asked);
    if (request.operation === 'UPDATE') mayUpdate(mayDecide, asked);
  };

function mayCreate(mayDecide: LabelPolicy, { node, request }: AgentRequest): void {
  const may = `node ${quoted(node)} is not allowed to`;
  const { object } = request;
  if (specOf(object).configSource != null) {
    throw refused(request, `${may} create nodes with a non-nil configSource`);
  }
  // An owner that goes, or was never there, takes the node with it: that would be a deletion.
  if ((object?.metadata.ownerReferences ?? []).length > 0) throw refused(request, `${may} set ownerReferences`);
  const bad = forbiddenLabels(mayDecide, {}, object?.metadata.labels);
  if (bad !== '') throw refused(request, `${may} set the following labels: ${bad}`);
}

function mayUpdate(mayDecide: LabelPolicy, { node, request }: AgentRequest): void {
  const may = `node ${quoted(node)} is not allowed to`;
  const { object, oldObject } = request;
  const [next, old] = [specOf(object), specOf(oldObject)];
  // An old agent may leave it out: that gives it nothing.
  if (next.configSource != null && !isDeepStrictEqual(next.configSource, old.configSource)) {
    throw refused(request, `${may} update configSource to a new non-nil configSource`);
  }
  if (!isDeepStrictEqual(next.taints ?? [], old.taints ?? [])) throw refused(request, `${may} modify taints`);
  const owners = [object?.metadata.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? []];
  if (!isDeepStrictEqual(owners[0], owners[1])) throw refused(request, `${may} modify ownerReferences`);
  const bad = forbiddenLabels(mayDecide, oldObject?.metadata.labels, object?.metadata.labels);
  if (bad !== '') throw refused(request, `is not allowed to modify labels: ${bad}`);
}

/** '' when there is none. */
function forbiddenLabels(
  mayDecide: LabelPolicy,
  old: Readonly<Record<string, string>> | undefined,
  next: Readonly<Record<string, string>> | undefined,
): string {
  return changedLabels(old ?? {}, next ?? {})
    .filter((key) => !mayDecide(key))
    .sort()
    .join(', ');
}
