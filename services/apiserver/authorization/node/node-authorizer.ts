import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { follow } from '../../cache/follow.js';
import { declaredResource, type ResourceTable } from '../../registry/resources.js';
import type { UserInfo } from '../../request/request.js';
import { bootstrapPolicy } from '../rbac/bootstrap-policy.js';
import { CompiledRole, questionOf } from '../rbac/compiled-role.js';
import { rulesOf, type PolicyRule } from '../../../machinery/rbac/policy-rule.js';
import { NO_OPINION, type Attributes, type Authorizer, type Decision, type ResourceAttributes } from '../authorizer.js';
import { NodeGraph } from './graph.js';
import { reference, type ReferencedKind } from './references.js';

export const NODES_GROUP = 'system:nodes';
const USER_PREFIX = 'system:node:';

const ALLOWED: Decision = { decision: 'allow', reason: '' };
const because = (reason: string): Decision => ({ ...NO_OPINION, reason });

/** The node whose agent asks; undefined: no agent does. */
export const nodeOf = ({ name, groups }: UserInfo): string | undefined =>
  name.startsWith(USER_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(USER_PREFIX.length) : undefined;

export interface NodeAuthorizerDeps {
  readonly graph: NodeGraph;
  readonly vocabulary: Vocabulary;
  /** Rules for every agent, before they are narrowed to its own node's objects. Asked for once, at the first agent. */
  readonly rules: () => readonly PolicyRule[];
}

/** Decides a question of the agent of `node`. */
type Check = (node: string, asked: ResourceAttributes) => Decision;

/** Agents of nodes may do what their own pods need (spec 2, 5.9). It has no opinion about other users. */
export function nodeAuthorizer({ graph, vocabulary, rules }: NodeAuthorizerDeps): Authorizer {
  let role: CompiledRole | undefined;
  const checks = checksOf(graph, vocabulary);
  return {
    name: 'Node',
    authorize: (user, asked) => {
      const node = nodeOf(user);
      if (node === undefined) return NO_OPINION;
      if (node === '') return because(`unknown node for user ${JSON.stringify(user.name)}`);
      const check = checkFor(checks, asked);
      if (check !== undefined && asked.kind === 'resource') return check(node, asked);
      role ??= new CompiledRole(rules());
      return role.allows(questionOf(asked)) ? ALLOWED : NO_OPINION;
    },
    rulesFor: (user) => ({
      resourceRules: [],
      pathRules: [],
      incomplete: nodeOf(user) !== undefined, // what an agent may do hangs on its pods, and is no list of rules
    }),
  };
}

/** The role whose rules say what every agent may do. No subject is bound to it: the authorizer reads it in the policy. */
const ROLE = 'system:node';

/** @param d Its resources' caches are followed from now on. */
export function openNodeAuthorizer({ resources, vocabulary }: NodeAuthorizerParts): Authorizer {
  const graph = new NodeGraph(vocabulary.annotations.mirrorPod);
  const { pods, volumes, attachments } = graph.followers();
  follow(declaredResource(resources, '', 'pods').cache, pods);
  follow(declaredResource(resources, '', 'persistentvolumes').cache, volumes);
  follow(declaredResource(resources, vocabulary.groups.storage, 'volumeattachments').cache, attachments);
  return nodeAuthorizer({ graph, vocabulary, rules: () => rulesOf(roleOf(vocabulary)) });
}

export interface NodeAuthorizerParts {
  readonly resources: ResourceTable;
  readonly vocabulary: Vocabulary;
}

const roleOf = (vocabulary: Vocabulary): ApiObject | undefined =>
  bootstrapPolicy(vocabulary).find(({ object }) => object.kind === 'ClusterRole' && object.metadata.name === ROLE)
    ?.object;

type Checks = Readonly<Record<string, Readonly<Record<string, Check>>>>;

function checkFor(checks: Checks, asked: Attributes): Check | undefined {
  if (asked.kind === 'path') return undefined;
  const { group, resource } = asked;
  const ofGroup = Object.hasOwn(checks, group) ? checks[group] : undefined;
  return ofGroup !== undefined && Object.hasOwn(ofGroup, resource) ? ofGroup[resource] : undefined;
}

const UNRELATED = (node: string): Decision =>
  because(`no relationship found between node ${JSON.stringify(node)} and this object`);

/** By group and resource: those of which an agent may see or do only what its node needs. */
function checksOf(graph: NodeGraph, { groups, namespaces }: Vocabulary): Checks {
  const related =
    (kind: ReferencedKind): Check =>
    (node, { namespace, name }) => {
      if (name === '') return because('No Object name found');
      return graph.leadsTo(node, reference(kind, namespace, name)) ? ALLOWED : UNRELATED(node);
    };
  const whenRead = (kind: ReferencedKind): Check => only(READS, NO_SUBRESOURCE, inNamespace(related(kind)));
  const whenGot = (check: Check): Check => only(GETS, NO_SUBRESOURCE, check);
  const claims: Check = (node, asked) =>
    asked.subresource === 'status'
      ? only(UPDATES, ANY_SUBRESOURCE, related('claim'))(node, asked)
      : whenGot(related('claim'))(node, asked);
  return {
    '': {
      configmaps: whenRead('configmap'),
      secrets: whenRead('secret'),
      persistentvolumeclaims: claims,
      persistentvolumes: whenGot((node, { name }) => (graph.claimsVolume(node, name) ? ALLOWED : UNRELATED(node))),
      serviceaccounts: only(CREATES_TOKENS, TOKEN_ONLY, related('serviceaccount')),
    },
    [groups.storage]: {
      volumeattachments: whenGot((node, { name }) => (graph.isAttachedTo(node, name) ? ALLOWED : UNRELATED(node))),
      csinodes: only(OWN_CSI_NODE, NO_CSI_SUBRESOURCE, ownName('CSINode')),
    },
    [groups.coordination]: {
      leases: only(OWN_LEASE, ANY_SUBRESOURCE, (node, asked) =>
        asked.namespace === namespaces.nodeLease
          ? ownName('node lease')(node, asked)
          : because(`can only access leases in the ${JSON.stringify(namespaces.nodeLease)} system namespace`),
      ),
    },
  };
}

/** Something that must hold of a question, and what to say when it does not. */
interface Demand {
  readonly holds: (asked: ResourceAttributes) => boolean;
  readonly else: string;
}

const verbs = (known: readonly string[], why: string): Demand => ({
  holds: ({ verb }) => known.includes(verb),
  else: why,
});

const READS = verbs(['get', 'list', 'watch'], 'can only read resources of this type');
const GETS = verbs(['get'], 'can only get individual resources of this type');
const UPDATES = verbs(['update', 'patch'], 'can only update status of this type');
const CREATES_TOKENS = verbs(['create'], 'can only create tokens for individual service accounts');
const OWN_VERBS = ['get', 'create', 'update', 'patch', 'delete'];
const OWN_LEASE = verbs(OWN_VERBS, 'can only get, create, update, patch, or delete a node lease');
const OWN_CSI_NODE = verbs(OWN_VERBS, 'can only get, create, update, patch, or delete a CSINode');

const ANY_SUBRESOURCE: Demand = { holds: () => true, else: '' };
const NO_SUBRESOURCE: Demand = { holds: ({ subresource }) => subresource === '', else: 'cannot read subresource' };
const NO_CSI_SUBRESOURCE: Demand = { ...NO_SUBRESOURCE, else: 'cannot authorize CSINode subresources' };
const TOKEN_ONLY: Demand = { holds: ({ subresource }) => subresource === 'token', else: CREATES_TOKENS.else };

const only =
  (verb: Demand, subresource: Demand, check: Check): Check =>
  (node, asked) => {
    const failed = [verb, subresource].find(({ holds }) => !holds(asked));
    return failed === undefined ? check(node, asked) : because(failed.else);
  };

const inNamespace =
  (check: Check): Check =>
  (node, asked) =>
    asked.namespace === '' ? because('can only read namespaced object of this type') : check(node, asked);

/** An object that has the node's name; when it is created, the request does not tell the name yet. */
const ownName =
  (what: string): Check =>
  (node, { verb, name }) =>
    verb === 'create' || name === node
      ? ALLOWED
      : because(`can only access ${what} with the same name as the requesting node`);
