import { isDeepStrictEqual } from 'node:util';
import { dns1123Subdomain, pathSegment } from '../../../../machinery/meta/names.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import type { List } from '../checks/members.js';
import { checkText, each, isUnset, requireText } from '../checks/members.js';
import type { KindValidation } from '../types.js';

interface RoleRef {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly name?: string;
  readonly namespace?: string;
}

const ACCOUNT = 'ServiceAccount';
const SUBJECT_KINDS = [ACCOUNT, 'User', 'Group'];

interface BindingRules {
  readonly group: string;
  /** What may be bound. */
  readonly kinds: readonly string[];
  readonly isNamespaced: boolean;
}

// Groups that are left out have been filled in, where defaults are.
const checkGroup = (at: At, apiGroup: string | undefined, group: string): void => {
  if (apiGroup !== undefined && apiGroup !== group) at.notSupported('apiGroup', apiGroup, [group]);
};

function checkRoleRef(at: At, { apiGroup, kind = '', name }: RoleRef, { group, kinds }: BindingRules): void {
  // Always written: what is left out is empty.
  checkGroup(at, isUnset(apiGroup) ? group : apiGroup, group);
  if (!kinds.includes(kind)) at.notSupported('kind', kind, kinds);
  requireText(at, 'name', name, pathSegment);
}

function checkSubject(subject: Subject, at: At, { group, isNamespaced }: BindingRules): void {
  const { kind = '', apiGroup, name, namespace } = subject;
  if (isUnset(name)) at.required('name');
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

const bindings = (rules: BindingRules): KindValidation => ({
  object: (binding, problems) => {
    const at = At.root(problems);
    checkRoleRef(at.child('roleRef'), binding['roleRef'] ?? {}, rules);
    each(at, 'subjects', binding['subjects'] as List<Subject>, (subject, subjectAt) => {
      checkSubject(subject, subjectAt, rules);
    });
  },
  update: (next, old, problems) => {
    if (isDeepStrictEqual(next['roleRef'], old['roleRef'])) return;
    At.root(problems).invalid('roleRef', next['roleRef'], 'cannot change roleRef');
  },
});

export const roleBindings = ({ groups: { rbac: group } }: Vocabulary): KindValidation =>
  bindings({ group, kinds: ['Role', 'ClusterRole'], isNamespaced: true });

export const clusterRoleBindings = ({ groups: { rbac: group } }: Vocabulary): KindValidation =>
  bindings({ group, kinds: ['ClusterRole'], isNamespaced: false });
