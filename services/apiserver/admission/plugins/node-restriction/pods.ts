import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { isMirror, namedBy, type ReferencedKind } from '../../../authorization/node/references.js';
import {
  quoted,
  refused,
  specOf,
  unexpected,
  type AgentRequest,
  type Check,
  type NodeRestrictionDeps,
} from './agent-request.js';

/** Pods themselves: an agent shows what it runs by its own word, and removes what runs no more. */
export const pods: Check = (d, { node, request }) => {
  if (request.operation === 'CREATE' && request.object !== undefined) {
    return mayCreate(d, { node, request }, request.object);
  }
  const who = `node ${quoted(node)}`;
  if (request.operation !== 'DELETE') {
    const what = `unexpected operation ${quoted(request.operation)}`;
    throw refused(request, `${what}, ${who} can only create and delete mirror pods`);
  }
  if (!isOn(node, request.oldObject)) {
    throw refused(request, `${who} can only delete pods with spec.nodeName set to itself`);
  }
  return undefined;
};

/** Sub-resources of pods. */
export const podParts: Check = (d, asked) => {
  const { subresource } = asked.request;
  const check = PARTS.get(subresource);
  if (check !== undefined) return check(d, asked);
  const only = "only 'status' and 'eviction' are allowed";
  throw refused(asked.request, `unexpected pod subresource ${quoted(subresource)}, ${only}`);
};

const isOn = (node: string, pod: ApiObject | undefined): boolean => specOf(pod).nodeName === node;

async function mayCreate(d: NodeRestrictionDeps, asked: AgentRequest, pod: ApiObject): Promise<void> {
  const { node, request } = asked;
  const { mirrorPod } = d.vocabulary.annotations;
  const who = `node ${quoted(node)}`;
  if (!isMirror(pod, mirrorPod)) {
    throw refused(request, `pod does not have ${quoted(mirrorPod)} annotation, ${who} can only create mirror pods`);
  }
  if (!isOn(node, pod)) throw refused(request, `${who} can only create pods with spec.nodeName set to itself`);
  await ownedByNode(d, asked, pod);
  // A mirror pod that names objects would give its node the right to read them.
  const named = new Set([...namedBy(pod)].map((ref) => ref.slice(0, ref.indexOf('/'))));
  if ((specOf(pod).serviceAccount ?? '') !== '') named.add('serviceaccount'); // the older way to name it
  const found = NAMED.find(([kind]) => named.has(kind));
  if (found !== undefined) throw refused(request, `${who} can not create pods that reference ${found[1]}`);
}

const NAMED: readonly (readonly [ReferencedKind, string])[] = [
  ['serviceaccount', 'a service account'],
  ['secret', 'secrets'],
  ['configmap', 'configmaps'],
  ['claim', 'persistentvolumeclaims'],
];

/** Its node is its only owner, so that it goes with the node. @throws {StatusError} Forbidden, NotFound */
async function ownedByNode(d: NodeRestrictionDeps, { node, request }: AgentRequest, pod: ApiObject): Promise<void> {
  const who = `node ${quoted(node)}`;
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  const can = (what: string): string => `${who} can only create pods with ${what} set to itself`;
  if (others.length > 0) throw refused(request, can('a single owner reference'));
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refused(request, can('an owner reference'));
  }
  if (owner.controller !== true) throw refused(request, can('a controller owner reference'));
  if (owner.blockOwnerDeletion === true) {
    throw refused(request, `${who} must not set blockOwnerDeletion on an owner reference`);
  }
  const { uid } = (await d.present('nodes', '', node)).metadata;
  if (owner.uid !== uid) {
    throw refused(request, `node ${node} UID mismatch: expected ${owner.uid} got ${uid ?? ''}`);
  }
}

const status: Check = (_, asked) => {
  const { node, request } = asked;
  if (request.operation !== 'UPDATE') throw unexpected(asked);
  const { object, oldObject } = request;
  if (!isOn(node, oldObject)) {
    const why = 'can only update pod status for pods with spec.nodeName set to itself';
    throw refused(request, `node ${quoted(node)} ${why}`);
  }
  if (!isDeepStrictEqual(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {})) {
    throw refused(request, `node ${quoted(node)} cannot update labels through pod status`);
  }
};

const eviction: Check = async (d, asked) => {
  const { node, request } = asked;
  if (request.operation !== 'CREATE') throw unexpected(asked);
  if (!isOn(node, await d.present('pods', request.namespace, request.name))) {
    throw refused(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
  }
};

const PARTS: ReadonlyMap<string, Check> = new Map([
  ['status', status],
  ['eviction', eviction],
]);
