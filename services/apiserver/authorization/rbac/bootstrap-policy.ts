import { readFileSync } from 'node:fs';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { apiVersionOf } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { aggregatedRules, sameRules, writtenRule } from './aggregation.js';
import { rulesOf } from './rules.js';

/** The resources that the policy has objects of, in the order in which they are needed. */
export const POLICY_RESOURCES = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'] as const;
export type PolicyResource = (typeof POLICY_RESOURCES)[number];

/** An object that every installation has. */
export interface PolicyObject {
  readonly resource: PolicyResource;
  readonly object: ApiObject;
}

const KINDS: Readonly<Record<PolicyResource, string>> = {
  clusterroles: 'ClusterRole',
  roles: 'Role',
  clusterrolebindings: 'ClusterRoleBinding',
  rolebindings: 'RoleBinding',
};

interface PolicyFile {
  readonly clusterRoles: readonly FileObject[];
  readonly roles: readonly FileObject[];
  readonly clusterRoleBindings: readonly FileObject[];
  readonly roleBindings: readonly FileObject[];
}

interface FileObject {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const readPolicy = (): PolicyFile =>
  JSON.parse(readFileSync(new URL('./data/bootstrap.json', import.meta.url), 'utf8')) as PolicyFile; // our own file

/**
 * The roles and bindings that every installation has, in one vocabulary's words, as a client would send them. Roles that
 * gather the rules of others have them already.
 */
export function bootstrapPolicy(vocabulary: Vocabulary): readonly PolicyObject[] {
  const file = translated(readPolicy(), vocabulary.translate) as PolicyFile; // same shape, strings for strings
  const of = (resource: PolicyResource, objects: readonly FileObject[]): PolicyObject[] =>
    objects.map((object) => ({ resource, object: objectOf(vocabulary, KINDS[resource], object) }));
  const clusterRoles = of('clusterroles', file.clusterRoles);
  gatherRules(clusterRoles.map(({ object }) => object));
  return [
    ...clusterRoles,
    ...of('roles', file.roles),
    ...of('clusterrolebindings', file.clusterRoleBindings),
    ...of('rolebindings', file.roleBindings),
  ];
}

function objectOf({ groups, labels: keys, annotations }: Vocabulary, kind: string, object: FileObject): ApiObject {
  const { name, namespace, labels, ...rest } = object;
  return {
    kind,
    apiVersion: apiVersionOf({ group: groups.rbac, version: 'v1' }),
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [keys.bootstrapping]: 'rbac-defaults', ...labels },
      annotations: { [annotations.rbacAutoupdate]: 'true' },
    },
    ...rest,
  };
}

/** Roles that gather may gather from one another: again until nothing changes, at most once for each role. */
function gatherRules(roles: readonly ApiObject[]): void {
  for (let round = 0; round < roles.length; round++) {
    const all = roles.map((role) => ({
      name: role.metadata.name ?? '',
      labels: role.metadata.labels ?? {},
      rules: rulesOf(role),
    }));
    let changed = false;
    for (const role of roles) {
      const name = role.metadata.name ?? '';
      const rules = aggregatedRules({ name, aggregationRule: role['aggregationRule'] }, all);
      if (rules === undefined || sameRules(rules, rulesOf(role))) continue;
      role['rules'] = rules.map(writtenRule);
      changed = true;
    }
    if (!changed) return;
  }
}

/** The same tree with every key and every string translated. Our own file: no key of it is a stranger's. */
function translated(tree: unknown, translate: (form: string) => string): unknown {
  if (typeof tree === 'string') return translate(tree);
  if (Array.isArray(tree)) return tree.map((item: unknown) => translated(item, translate));
  if (typeof tree !== 'object' || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [translate(key), translated(value, translate)]));
}
