import { KindUnderTest } from '../testing/cases.js';
import { LABEL_VALUE, SUBDOMAIN } from '../testing/words.js';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;
const of = (resource: string, kind: string): KindUnderTest =>
  new KindUnderTest({ group, resource, type: `${group}/v1.${kind}` });
const rule = { apiGroups: ['', 'apps'], resources: ['pods', 'deployments/scale'], verbs: ['get', 'list'] };

describe('validation of roles', () => {
  const kind = of('roles', 'Role');
  const role = { apiVersion, kind: 'Role', metadata: { name: 'system:x', namespace: 'default' }, rules: [rule] };
  kind.acceptsManifest('a role', role);
  kind.accepts(role, [{ rules: [] }, { rules: undefined }]);
  kind.refuses(role, [
    [{ 'rules.0.verbs': [] }, 'rules[0].verbs', 'Required value: verbs must contain at least one value'],
    [
      { 'rules.0.apiGroups': [] },
      'rules[0].apiGroups',
      'Required value: resource rules must supply at least one api group',
    ],
    [
      { 'rules.0.resources': undefined },
      'rules[0].resources',
      'Required value: resource rules must supply at least one resource',
    ],
    [
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
      'rules[0].nonResourceURLs',
      'Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs',
    ],
  ]);
});

describe('validation of cluster roles', () => {
  const kind = of('clusterroles', 'ClusterRole');
  const role = {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name: 'x' },
    rules: [rule, { verbs: ['*'], nonResourceURLs: ['*'] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'true' } }] },
  };
  const S = 'aggregationRule.clusterRoleSelectors';
  kind.acceptsManifest('a role', role);
  kind.refuses(role, [
    [
      { 'rules.0.nonResourceURLs': ['/x'] },
      'rules[0].nonResourceURLs',
      'Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs',
    ],
    [{ [S]: [] }, S, 'Required value: at least one clusterRoleSelector required if aggregationRule is non-nil'],
    [
      { [S]: [{ matchLabels: { a: 'b c' } }] },
      `${S}[0].matchLabels`,
      `Invalid value: "b c": ${LABEL_VALUE}`,
      `${S}[0]`,
      'Invalid value: {"matchLabels":{"a":"b c"}}: invalid label selector.',
    ],
  ]);
});

const subjects = [
  { kind: 'User', name: 'alice' },
  { kind: 'Group', name: 'system:masters', apiGroup: group },
  { kind: 'ServiceAccount', name: 'default', namespace: 'default' },
];

describe('validation of role bindings', () => {
  const kind = of('rolebindings', 'RoleBinding');
  const binding = {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'x', namespace: 'default' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'system:x' },
    subjects,
  };
  kind.acceptsManifest('a binding', binding);
  kind.accepts(binding, [
    { 'roleRef.kind': 'ClusterRole', subjects: undefined },
    { 'roleRef.apiGroup': undefined },
    { 'subjects.2.namespace': undefined },
  ]);
  kind.refuses(binding, [
    [{ 'roleRef.apiGroup': 'apps' }, 'roleRef.apiGroup', `Unsupported value: "apps": supported values: "${group}"`],
    [{ 'roleRef.kind': 'User' }, 'roleRef.kind', 'Unsupported value: "User": supported values: "Role", "ClusterRole"'],
    [{ 'roleRef.name': '' }, 'roleRef.name', 'Required value'],
    [{ 'roleRef.name': 'a/b' }, 'roleRef.name', `Invalid value: "a/b": may not contain '/'`],
    [{ 'subjects.0.name': '' }, 'subjects[0].name', 'Required value'],
    [
      { 'subjects.0.kind': 'Pod' },
      'subjects[0].kind',
      'Unsupported value: "Pod": supported values: "ServiceAccount", "User", "Group"',
    ],
    [
      { 'subjects.1.apiGroup': 'apps' },
      'subjects[1].apiGroup',
      `Unsupported value: "apps": supported values: "${group}"`,
    ],
    [{ 'subjects.2.apiGroup': group }, 'subjects[2].apiGroup', `Unsupported value: "${group}": supported values: ""`],
    [{ 'subjects.2.name': 'A' }, 'subjects[2].name', `Invalid value: "A": ${SUBDOMAIN}`],
  ]);
  kind.refusesUpdates(binding, [
    [
      { 'roleRef.name': 'other' },
      'roleRef',
      `Invalid value: {"apiGroup":"${group}","kind":"Role","name":"other"}: cannot change roleRef`,
    ],
  ]);
  kind.acceptsUpdates(binding, [{ subjects: [] }]);
});

describe('validation of cluster role bindings', () => {
  const kind = of('clusterrolebindings', 'ClusterRoleBinding');
  const binding = {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'x' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'x' },
    subjects,
  };
  kind.acceptsManifest('a binding', binding);
  kind.refuses(binding, [
    [{ 'roleRef.kind': 'Role' }, 'roleRef.kind', 'Unsupported value: "Role": supported values: "ClusterRole"'],
    [{ 'subjects.2.namespace': undefined }, 'subjects[2].namespace', 'Required value'],
  ]);
});
