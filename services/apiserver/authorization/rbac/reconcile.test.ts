import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { reconciled } from './reconcile.js';

const AUTO = 'rbac/autoupdate';
const metadata = { name: 'x', labels: { boot: 'yes' }, annotations: { [AUTO]: 'true' } };
const [pods, nodes] = [
  { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['get'], apiGroups: [''], resources: ['nodes'] },
];
const role: ApiObject = { kind: 'ClusterRole', apiVersion: 'v1', metadata, rules: [pods, nodes] };
const gathering: ApiObject = {
  ...role,
  rules: [pods],
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'true' } }] },
};
const [masters, alice] = [
  { kind: 'Group', name: 'masters' },
  { kind: 'User', name: 'alice' },
];
const binding: ApiObject = {
  kind: 'ClusterRoleBinding',
  apiVersion: 'v1',
  metadata,
  subjects: [masters],
  roleRef: { kind: 'ClusterRole', name: 'x' },
};

const after = (present: ApiObject, wanted: ApiObject): ApiObject | string => {
  const step = reconciled(present, wanted, AUTO);
  return step.do === 'put' ? step.object : step.do;
};
const kept = { ...metadata, annotations: { [AUTO]: 'false' } };

describe('reconciled()', () => {
  const untouched: readonly (readonly [why: string, present: ApiObject, wanted: ApiObject])[] = [
    ['is as it should be', role, role],
    [
      'has rules beyond the policy',
      { ...role, rules: [{ verbs: ['*'], apiGroups: ['x'], resources: ['y'] }, nodes, pods] },
      role,
    ],
    [
      'says the same in other words',
      { ...role, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['pods', 'nodes'] }] },
      role,
    ],
    ['has labels of its own', { ...role, metadata: { ...metadata, labels: { boot: 'no', more: 'x' } } }, role],
    ['is kept as it is by its annotation', { ...role, metadata: kept, rules: [] }, role],
    [
      'is a binding that is kept with another role',
      { ...binding, metadata: kept, roleRef: { kind: 'ClusterRole', name: 'y' } },
      binding,
    ],
    ['is a binding with more subjects', { ...binding, subjects: [alice, masters] }, binding],
    ['gathers other rules', { ...gathering, rules: [nodes] }, gathering],
    [
      'gathers with more selectors',
      { ...gathering, aggregationRule: { clusterRoleSelectors: [{}, { matchLabels: { a: 'true' } }] } },
      gathering,
    ],
  ];
  for (const [why, present, wanted] of untouched) {
    it(`leaves what ${why}`, () => assert.equal(after(present, wanted), 'nothing'));
  }

  it('adds the rules that are not covered as a whole, behind those that are there', () => {
    const own = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
    assert.deepEqual(after({ ...role, rules: [own] }, role), {
      ...role,
      rules: [own, pods, nodes],
    });
  });

  it('adds them where there are none', () => {
    const { rules, ...bare } = role;
    assert.deepEqual((after(bare, { ...role, rules: [nodes] }) as ApiObject)['rules'], [nodes]);
  });

  it('adds labels and annotations that are missing', () => {
    const present = { ...role, metadata: { name: 'x', uid: 'u', labels: { more: 'x' } } };
    assert.deepEqual(after(present, role), {
      ...role,
      metadata: { name: 'x', uid: 'u', labels: { boot: 'yes', more: 'x' }, annotations: { [AUTO]: 'true' } },
    });
  });

  it('adds selectors that are missing', () => {
    const present = { ...gathering, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { b: 'true' } }] } };
    assert.deepEqual((after(present, gathering) as ApiObject)['aggregationRule'], {
      clusterRoleSelectors: [{ matchLabels: { b: 'true' } }, { matchLabels: { a: 'true' } }],
    });
  });

  it('takes away selectors from a role that has rules of its own', () => {
    const next = after({ ...gathering, rules: [pods, nodes] }, role) as ApiObject;
    assert.equal(next['aggregationRule'], undefined);
  });

  it('adds subjects that are missing', () => {
    assert.deepEqual(after({ ...binding, subjects: [alice] }, binding), { ...binding, subjects: [alice, masters] });
    const { subjects, ...bare } = binding;
    assert.deepEqual((after(bare, binding) as ApiObject)['subjects'], [masters]);
  });

  it('replaces a binding of another role', () => {
    assert.equal(after({ ...binding, roleRef: { kind: 'ClusterRole', name: 'y' } }, binding), 'replace');
  });

  it('changes nothing in what it is given', () => {
    const present = { ...role, rules: [] };
    const before = structuredClone(present);
    after(present, role);
    assert.deepEqual(present, before);
  });
});
