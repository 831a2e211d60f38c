import { memberOf } from '../../../machinery/rbac/policy-rule.js';

/** The role that a binding refers to. */
export interface RoleRef {
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
}

/** A subject of a binding, in the words by which requests name users. */
export interface Holder {
  readonly known: 'users' | 'groups';
  readonly name: string;
  /** For people: `User "alice"`, `ServiceAccount "builder/default"`. */
  readonly shown: string;
}

/** A binding as far as it grants anything. */
export interface Binding {
  readonly roleRef: RoleRef;
  readonly holders: readonly Holder[];
}

/**
 * Reads a stored binding. Subjects that cannot be understood get nothing.
 *
 * @param group The API group of roles.
 * @param namespace Of the binding; '' for one of the whole cluster.
 * @returns undefined when it names no role that it could bind.
 */
export function bindingOf(object: unknown, group: string, namespace: string): Binding | undefined {
  const roleRef = roleRefOf(object, group, namespace);
  if (roleRef === undefined) return undefined;
  const subjects = memberOf(object, 'subjects');
  const holders = Array.isArray(subjects)
    ? subjects.flatMap((subject: unknown) => holderOf(subject, group, namespace) ?? [])
    : [];
  return { roleRef, holders };
}

/** The role that a binding names; undefined where it can name none of that kind. */
export function roleRefOf(object: unknown, group: string, namespace: string): RoleRef | undefined {
  const ref = memberOf(object, 'roleRef');
  const kind = memberOf(ref, 'kind');
  const name = memberOf(ref, 'name');
  if (!inGroup(ref, group) || typeof name !== 'string' || name === '') return undefined;
  if (kind === 'ClusterRole' || (kind === 'Role' && namespace !== '')) return { kind, name };
  return undefined;
}

/** An absent apiGroup is the group of roles. */
function inGroup(reference: unknown, group: string): boolean {
  const apiGroup = memberOf(reference, 'apiGroup') ?? '';
  return apiGroup === '' || apiGroup === group;
}

function holderOf(subject: unknown, group: string, namespace: string): Holder | undefined {
  const kind = memberOf(subject, 'kind');
  const name = memberOf(subject, 'name');
  if (typeof name !== 'string' || name === '') return undefined;
  if (kind === 'ServiceAccount') return accountOf(subject, name, namespace);
  if ((kind !== 'User' && kind !== 'Group') || !inGroup(subject, group)) return undefined;
  return { known: kind === 'User' ? 'users' : 'groups', name, shown: `${kind} ${JSON.stringify(name)}` };
}

/** A service account without a namespace is one of the binding's own. */
function accountOf(subject: unknown, name: string, bindingNamespace: string): Holder | undefined {
  const said = memberOf(subject, 'namespace') ?? '';
  const namespace = said === '' ? bindingNamespace : said;
  if (!inGroup(subject, '') || typeof namespace !== 'string' || namespace === '') return undefined;
  // Neither has a colon: with one, the name of the user would be another account's.
  if (namespace.includes(':') || name.includes(':')) return undefined;
  return {
    known: 'users',
    name: `system:serviceaccount:${namespace}:${name}`,
    shown: `ServiceAccount ${JSON.stringify(`${name}/${namespace}`)}`,
  };
}
