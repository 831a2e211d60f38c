import { readFileSync } from 'node:fs';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { apiVersionOf } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { aggregatedRules, sameRules, writtenRule } from '../../../machinery/rbac/aggregation.js';
import { rulesOf, type PolicyRule } from '../../../machinery/rbac/policy-rule.js';

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

/** Objects in the file leave out what all of them have, and the group of what they refer to. */
interface FileObject {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules?: readonly Partial<PolicyRule>[];
  readonly aggregationRule?: object;
  readonly subjects?: readonly FileSubject[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
}

interface FileSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

const readPolicy = (): PolicyFile =>
  JSON.parse(readFileSync(new URL('./data/bootstrap.json', import.meta.url), 'utf8')) as PolicyFile; // our own file

/**
 * The roles and bindings that every installation has, in one vocabulary's words: complete, and with their members in the
 * order in which they are stored. Roles that gather the rules of others have them already.
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

function objectOf(
  { groups: { rbac: group }, labels, annotations }: Vocabulary,
  kind: string,
  o: FileObject,
): ApiObject {
  return {
    kind,
    apiVersion: apiVersionOf({ group, version: 'v1' }),
    metadata: {
      name: o.name,
      ...(o.namespace === undefined ? {} : { namespace: o.namespace }),
      labels: { [labels.bootstrapping]: 'rbac-defaults', ...o.labels },
      annotations: { [annotations.rbacAutoupdate]: 'true' },
    },
    // The rules of a role that gathers them are filled in later, and stand before its selectors.
    ...(o.rules === undefined && o.aggregationRule === undefined ? {} : { rules: rulesOf(o).map(writtenRule) }),
    ...(o.aggregationRule === undefined ? {} : { aggregationRule: o.aggregationRule }),
    ...(o.subjects === undefined ? {} : { subjects: o.subjects.map((subject) => subjectOf(subject, group)) }),
    ...(o.roleRef === undefined ? {} : { roleRef: { apiGroup: group, kind: o.roleRef.kind, name: o.roleRef.name } }),
  };
}

const subjectOf = ({ kind, name, namespace }: FileSubject, apiGroup: string): object =>
  kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, apiGroup, name };

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
export function translated(tree: unknown, translate: (form: string) => string): unknown {
  if (typeof tree === 'string') return translate(tree);
  if (Array.isArray(tree)) return tree.map((item: unknown) => translated(item, translate));
  if (typeof tree !== 'object' || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [translate(key), translated(value, translate)]));
}
