import type { ShownEvent } from '../../api/tools/audit.js';
import { bootstrapPolicy, type PolicyObject } from '../../../services/apiserver/authorization/rbac/bootstrap-policy.js';
import type { Vocabulary } from '../../../services/machinery/vocabulary/vocabulary.js';
import { userIn } from './audit-tail.js';

/** One verb for one resource, in one role. */
export interface Right {
  readonly role: RoleAt;
  /** The user that the role is bound to. */
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** With its subresource. */
  readonly resource: string;
  /** Of the only object; '': of all. */
  readonly name: string;
}

/** A role of the bootstrap policy. */
export interface RoleAt {
  readonly path: string;
  readonly name: string;
  /** '': it holds everywhere. */
  readonly namespace: string;
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}
interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** All rights of the users, one by one, as the bootstrap policy gives them by roles of their own. */
export function rightsOf(words: Vocabulary, users: ReadonlySet<string>): readonly Right[] {
  const policy = bootstrapPolicy(words);
  return policy.flatMap(({ resource, object }) => {
    if (!resource.endsWith('bindings')) return [];
    const { roleRef, subjects = [] } = object as unknown as Binding;
    const user = subjects.map(userOf).find((it) => users.has(it));
    const { namespace = '' } = object.metadata;
    const role = policy.find(
      (it) => it.object.kind === roleRef.kind && it.object.metadata.name === roleRef.name && (it.object.metadata.namespace ?? '') === namespace, // prettier-ignore
    );
    return user === undefined || role === undefined ? [] : rightsIn(role, user, words);
  });
}

const userOf = ({ kind, name, namespace = '' }: { kind: string; name: string; namespace?: string }): string =>
  kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name;

function rightsIn({ resource: kind, object }: PolicyObject, user: string, { groups }: Vocabulary): Right[] {
  const { name: roleName = '', namespace = '' } = object.metadata;
  const where = namespace === '' ? '' : `/namespaces/${namespace}`;
  const role = { path: `/apis/${groups.rbac}/v1${where}/${kind}/${roleName}`, name: roleName, namespace };
  return (object['rules'] as readonly Rule[]).flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [''] }) =>
    verbs.flatMap((verb) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => resourceNames.map((name) => ({ role, user, verb, group, resource, name }))),
      ),
    ),
  ); // prettier-ignore
}

export const ruleOf = ({ verb, group, resource, name }: Right): Rule => ({
  verbs: [verb],
  apiGroups: [group],
  resources: [resource],
  ...(name !== '' && { resourceNames: [name] }),
});

/** As a table of a test has it. */
export const titleOf = ({ verb, group, resource, name }: Right): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === '' ? '' : ` ${name}`}`;

/** Rights of a user by which a request would be allowed, those that say more about it first. */
export function rightsFor(event: ShownEvent, rights: readonly Right[]): readonly Right[] {
  const { apiGroup = '', resource = '', subresource, namespace = '', name = '' } = event.objectRef ?? {};
  const whole = subresource === undefined ? resource : `${resource}/${subresource}`;
  const isSelected = name === '' && (event.verb === 'list' || event.verb === 'watch');
  return rights
    .filter(
      (it) =>
        it.user === userIn(event) &&
        it.verb === event.verb &&
        (it.group === '*' || it.group === apiGroup) &&
        (it.resource === '*' || it.resource === whole) &&
        (it.name === '' || it.name === name || isSelected) &&
        (it.role.namespace === '' || it.role.namespace === namespace),
    )
    .sort((one, other) => Number(one.resource === '*') - Number(other.resource === '*'));
}
