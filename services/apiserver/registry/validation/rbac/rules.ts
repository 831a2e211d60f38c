import { isDeepStrictEqual } from 'node:util';
import { dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type * as rbac from '../../../../machinery/types/generated/rbac.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, shownList, checkText, each, isUnset } from '../checks/at.js';
import type { KindValidation, TypeRules } from '../types.js';

const ACCOUNT = 'ServiceAccount';
const SUBJECT_KINDS = [ACCOUNT, 'User', 'Group'];

interface BindingRules {
  readonly group: string;
  /** Roles that may be bound. */
  readonly kinds: readonly string[];
  readonly isNamespaced: boolean;
}

// Groups that are left out have been filled in, where defaults are.
const checkGroup = (at: At, apiGroup: string | undefined, group: string): void => {
  if (apiGroup !== undefined && apiGroup !== group) at.notSupported('apiGroup', apiGroup, [group]);
};

function checkSubject(subject: rbac.Subject, at: At, { group, isNamespaced }: BindingRules): void {
  const { kind = '', apiGroup, name, namespace } = subject;
  if (kind === ACCOUNT) {
    checkText(at, 'name', name, dns1123Subdomain);
    checkGroup(at, apiGroup, '');
    if (!isNamespaced && isUnset(namespace)) at.required('namespace');
  } else if (SUBJECT_KINDS.includes(kind)) {
    checkGroup(at, apiGroup, group);
  } else {
    at.notSupported('kind', kind, SUBJECT_KINDS);
  }
}

const bindings = (rules: BindingRules): KindValidation<rbac.RoleBinding> => ({
  object: ({ roleRef: { apiGroup = '', kind = '' } = {}, subjects }, problems) => {
    const at = At.root(problems);
    const refAt = at.child('roleRef');
    if (apiGroup !== '') checkGroup(refAt, apiGroup, rules.group); // always written: what is left out is empty
    if (!rules.kinds.includes(kind)) refAt.notSupported('kind', kind, rules.kinds);
    each(at, 'subjects', subjects, (subject, subjectAt) => checkSubject(subject, subjectAt, rules));
  },
  update: (next, old, problems) => {
    if (isDeepStrictEqual(next.roleRef, old.roleRef)) return;
    At.root(problems).invalid('roleRef', next.roleRef, 'cannot change roleRef');
  },
});

export const roleBindings = ({ groups: { rbac: group } }: Vocabulary): KindValidation =>
  bindings({ group, kinds: ['Role', 'ClusterRole'], isNamespaced: true });

export const clusterRoleBindings = ({ groups: { rbac: group } }: Vocabulary): KindValidation =>
  bindings({ group, kinds: ['ClusterRole'], isNamespaced: false });

const isEmpty = (list: readonly string[] | undefined): boolean => (list ?? []).length === 0;

function checkPolicyRule(
  at: At,
  { apiGroups, resources, resourceNames, nonResourceURLs: urls }: rbac.PolicyRule,
): void {
  if (!isEmpty(urls)) {
    if ([apiGroups, resources, resourceNames].every(isEmpty)) return;
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    at.invalidShown('nonResourceURLs', shownList(urls), why);
    return;
  }
  if (isEmpty(apiGroups)) at.required('apiGroups', 'resource rules must supply at least one api group');
  if (isEmpty(resources)) at.required('resources', 'resource rules must supply at least one resource');
}

export const roles: KindValidation<rbac.Role> = {
  object: ({ rules }, problems) => {
    each(At.root(problems), 'rules', rules, ({ nonResourceURLs: urls }, at) => {
      if (isEmpty(urls)) return;
      at.invalidShown('nonResourceURLs', shownList(urls), 'namespaced rules cannot apply to non-resource URLs');
    });
  },
};

export const rbacRules: TypeRules<rbac.Types> = {
  AggregationRule: (at, { clusterRoleSelectors = [] }) => {
    for (const i of at.wrongItems('clusterRoleSelectors')) {
      at.child('clusterRoleSelectors').index(i).invalid('', clusterRoleSelectors[i], 'invalid label selector.');
    }
  },
  PolicyRule: checkPolicyRule,
};
