import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta } from '../../../../machinery/meta/object.js';
import { notFound, StatusError } from '../../../../machinery/meta/status.js';
import { loadCatalog } from '../../../../machinery/types/catalog.js';
import { vocabulary, type VocabularyName } from '../../../../machinery/vocabulary/vocabulary.js';
import type { UserInfo } from '../../../request/request.js';
import type { AdmissionRequest } from '../../plugin.js';
import { requestFor } from '../../testing/request.js';
import { nodeRestriction } from './plugin.js';

const MIRROR = 'platform.io/config.mirror';
const agent: UserInfo = { name: 'system:node:n1', uid: '', groups: ['system:nodes'], extra: {} };
const catalog = loadCatalog(vocabulary('platform'));

const object = (metadata: ObjectMeta, parts: object = {}): ApiObject => ({ kind: 'K', apiVersion: 'v1', metadata, ...parts }); // prettier-ignore
const pod = (nodeName: string, metadata: ObjectMeta = {}, spec: object = {}): ApiObject =>
  object({ name: 'p', namespace: 'ns', uid: 'u1', ...metadata }, { spec: { nodeName, ...spec } });

/** What is stored. */
const THERE: Readonly<Record<string, ApiObject>> = {
  'pods/ns/mine': pod('n1', { uid: 'u-mine' }),
  'pods/ns/other': pod('n2', { uid: 'u-other' }),
  'nodes//n1': object({ name: 'n1', uid: 'u-node' }),
};

type Asked = Partial<Omit<AdmissionRequest, 'resource'>>;

/** The refusal's message; '' where there is none. */
async function answer(resource: string, asked: Asked, words: VocabularyName = 'platform'): Promise<string> {
  const declaration = catalog.resources.find((r) => r.resource === resource);
  assert.ok(declaration !== undefined, resource);
  const plugin = nodeRestriction({
    vocabulary: vocabulary(words),
    present: (what, namespace, name) => {
      const found = THERE[`${what}/${namespace}/${name}`];
      return found === undefined ? Promise.reject(notFound({ group: '', resource: what }, name)) : Promise.resolve(found); // prettier-ignore
    },
  });
  const request = requestFor(declaration, undefined, { namespace: 'ns', name: 'p', user: agent, ...asked });
  assert.ok(plugin.operations.includes(request.operation));
  try {
    await plugin.validate?.(request);
    return '';
  } catch (err) {
    assert.ok(err instanceof StatusError);
    const { reason, details } = err;
    if (reason !== 'NotFound') assert.deepEqual([reason, details?.name], ['Forbidden', request.name]);
    return err.message;
  }
}

type Case = readonly [what: string, resource: string, asked: Asked, why: string];

const refuses = (cases: readonly Case[]): void => {
  for (const [what, resource, asked, why] of cases) {
    it(`refuses ${what}`, async () => assert.ok((await answer(resource, asked)).endsWith(why), await answer(resource, asked))); // prettier-ignore
  }
};
const allows = (cases: readonly (readonly [what: string, resource: string, asked: Asked])[]): void => {
  for (const [what, resource, asked] of cases) {
    it(`allows ${what}`, async () => assert.equal(await answer(resource, asked), ''));
  }
};

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u-node', controller: true };
const mirror = (metadata: ObjectMeta = {}, spec: object = {}, node = 'n1'): Asked => ({
  object: pod(node, { annotations: { [MIRROR]: 'x' }, ownerReferences: [owner], ...metadata }, spec),
});
const env = (source: object): object => ({ containers: [{ name: 'c', ...source }] });
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] });
const update = (next: ApiObject, old: ApiObject, more: Asked = {}): Asked => ({ operation: 'UPDATE', object: next, oldObject: old, ...more }); // prettier-ignore

describe('nodeRestriction()', () => {
  it('lets everybody else through', async () => {
    const asked = { object: pod('n2', {}, { serviceAccountName: 'a' }) };
    for (const user of [
      { ...agent, name: 'admin' },
      { ...agent, groups: ['system:masters'] },
    ]) {
      assert.equal(await answer('pods', { ...asked, user }), '');
      assert.equal(await answer('nodes', { operation: 'DELETE', name: 'n2', user }), '');
    }
  });

  it('refuses an agent of no node whatever it asks', async () => {
    const user = { ...agent, name: 'system:node:' };
    const why = 'is forbidden: could not determine node from user "system:node:"';
    assert.equal(await answer('pods', { ...mirror(), user }), `pods "p" ${why}`);
    assert.equal(await answer('configmaps', { user }), `configmaps "p" ${why}`);
  });

  it('leaves other resources to the authorizers', async () => {
    assert.equal(await answer('configmaps', { operation: 'DELETE' }), '');
  });

  describe('of pods', () => {
    const only = 'node "n1" can only create pods with';
    const not = 'node "n1" can not create pods that reference';
    refuses([
      ['a pod that is no mirror', 'pods', { object: pod('n1') }, `pods "p" is forbidden: pod does not have "${MIRROR}" annotation, node "n1" can only create mirror pods`], // prettier-ignore
      ['a mirror on another node', 'pods', mirror({}, {}, 'n2'), `${only} spec.nodeName set to itself`],
      ['a mirror on no node', 'pods', mirror({}, {}, ''), `${only} spec.nodeName set to itself`],
      ['two owners', 'pods', mirror({ ownerReferences: [owner, owner] }), `${only} a single owner reference set to itself`],
      ['no owner', 'pods', mirror({ ownerReferences: [] }), `${only} an owner reference set to itself`],
      ['another kind of owner', 'pods', mirror({ ownerReferences: [{ ...owner, kind: 'Pod' }] }), `${only} an owner reference set to itself`],
      ['another group of owner', 'pods', mirror({ ownerReferences: [{ ...owner, apiVersion: 'a/v1' }] }), `${only} an owner reference set to itself`],
      ['another node as owner', 'pods', mirror({ ownerReferences: [{ ...owner, name: 'n2' }] }), `${only} an owner reference set to itself`],
      ['an owner that is no controller', 'pods', mirror({ ownerReferences: [{ ...owner, controller: false }] }), `${only} a controller owner reference set to itself`],
      ['an owner that waits', 'pods', mirror({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }), 'node "n1" must not set blockOwnerDeletion on an owner reference'],
      ['an earlier node as owner', 'pods', mirror({ ownerReferences: [{ ...owner, uid: 'u0' }] }), 'node n1 UID mismatch: expected u0 got u-node'],
      ['a mirror on a node that is not there', 'pods', { ...mirror({ ownerReferences: [{ ...owner, name: 'n9' }] }, {}, 'n9'), user: { ...agent, name: 'system:node:n9' } }, 'nodes "n9" not found'],
      ['a service account', 'pods', mirror({}, { serviceAccountName: 'a' }), `${not} a service account`],
      ['a service account by its older name', 'pods', mirror({}, { serviceAccount: 'a' }), `${not} a service account`],
      ['a secret in a volume', 'pods', mirror({}, volume({ secret: { secretName: 's' } })), `pods "p" is forbidden: ${not} secrets`],
      ['a secret to pull images', 'pods', mirror({}, { imagePullSecrets: [{ name: 's' }] }), `${not} secrets`],
      ['a secret in the environment', 'pods', mirror({}, env({ envFrom: [{ secretRef: { name: 's' } }] })), `${not} secrets`],
      ['a config map', 'pods', mirror({}, volume({ projected: { sources: [{ configMap: { name: 'c' } }] } })), `${not} configmaps`],
      ['a claim', 'pods', mirror({}, volume({ persistentVolumeClaim: { claimName: 'c' } })), `${not} persistentvolumeclaims`],
      ['a claim to be made', 'pods', mirror({}, volume({ ephemeral: {} })), `${not} persistentvolumeclaims`],
      ['a change', 'pods', update(pod('n1'), pod('n1')), 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'],
      ['the deletion of another node\'s', 'pods', { operation: 'DELETE', oldObject: pod('n2') }, 'pods "p" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself'],
      ['the deletion of one on no node', 'pods', { operation: 'DELETE', oldObject: pod('') }, 'node "n1" can only delete pods with spec.nodeName set to itself'],
      ['a binding', 'pods', { subresource: 'binding' }, 'unexpected pod subresource "binding", only \'status\' and \'eviction\' are allowed'],
      ['a command in one', 'pods', { operation: 'CONNECT', subresource: 'exec' }, 'unexpected pod subresource "exec", only \'status\' and \'eviction\' are allowed'],
      ['more containers', 'pods', update(pod('n1'), pod('n1'), { subresource: 'ephemeralcontainers' }), 'unexpected pod subresource "ephemeralcontainers", only \'status\' and \'eviction\' are allowed'],
      ['the status of another node\'s', 'pods', update(pod('n1'), pod('n2'), { subresource: 'status' }), 'node "n1" can only update pod status for pods with spec.nodeName set to itself'],
      ['labels with the status', 'pods', update(pod('n1', { labels: { a: 'b' } }), pod('n1'), { subresource: 'status' }), 'node "n1" cannot update labels through pod status'],
      ['a status by another way', 'pods', { operation: 'DELETE', subresource: 'status' }, 'unexpected operation "DELETE"'],
      ['the eviction of another node\'s', 'pods', { subresource: 'eviction', name: 'other' }, 'pods "other" is forbidden: node n1 can only evict pods with spec.nodeName set to itself'],
      ['the eviction of one that is not there', 'pods', { subresource: 'eviction', name: 'none' }, 'pods "none" not found'],
    ]); // prettier-ignore
    allows([
      ['a mirror of its own', 'pods', mirror()],
      ['the deletion of its own', 'pods', { operation: 'DELETE', oldObject: pod('n1') }],
      [
        'the status of its own',
        'pods',
        update(pod('n1', {}, {}), pod('n1', { labels: {} }), { subresource: 'status' }),
      ],
      ['the eviction of its own', 'pods', { subresource: 'eviction', name: 'mine' }],
    ]);
  });

  describe('of nodes', () => {
    const node = (metadata: ObjectMeta = {}, spec: object = {}): ApiObject =>
      object({ name: 'n1', ...metadata }, { spec });
    const create = (metadata: ObjectMeta, spec: object = {}): Asked => ({ name: 'n1', object: node(metadata, spec) });
    const change = (next: ApiObject, old: ApiObject = node(), more: Asked = {}): Asked =>
      update(next, old, { name: 'n1', ...more });
    const may = 'node "n1" is not allowed to';
    const taints = [{ key: 'k', effect: 'NoSchedule' }];
    const source = { configMap: { name: 'c' } };
    refuses([
      ['another', 'nodes', { name: 'n2', object: object({ name: 'n2' }) }, `nodes "n2" is forbidden: ${may} modify node "n2"`],
      ['the status of another', 'nodes', { ...change(node(), node(), { subresource: 'status' }), name: 'n2' }, `${may} modify node "n2"`],
      ['the deletion of its own', 'nodes', { operation: 'DELETE', name: 'n1', oldObject: node() }, `${may} delete itself`],
      ['the deletion of another', 'nodes', { operation: 'DELETE', name: 'n2' }, `${may} modify node "n2"`],
      ['a new one with a source of configuration', 'nodes', create({}, { configSource: source }), `${may} create nodes with a non-nil configSource`],
      ['a new one with an owner', 'nodes', create({ ownerReferences: [owner] }), `${may} set ownerReferences`],
      ['a new one with labels of others', 'nodes', create({ labels: { 'platform.io/x': '', 'a.platform.io/b': '', a: '' } }), `${may} set the following labels: a.platform.io/b, platform.io/x`],
      ['a source of configuration', 'nodes', change(node({}, { configSource: source })), `${may} update configSource to a new non-nil configSource`],
      ['a new taint', 'nodes', change(node({}, { taints })), `${may} modify taints`],
      ['a removed taint', 'nodes', change(node(), node({}, { taints }), { subresource: 'status' }), `${may} modify taints`],
      ['a new owner', 'nodes', change(node({ ownerReferences: [owner] })), `${may} modify ownerReferences`],
      ['a removed label', 'nodes', change(node(), node({ labels: { 'node-role.platform.io/x': '' } })), 'is not allowed to modify labels: node-role.platform.io/x'],
      ['a changed label with the status', 'nodes', change(node({ labels: { 'platform.io/x': '2' } }), node({ labels: { 'platform.io/x': '1' } }), { subresource: 'status' }), 'is not allowed to modify labels: platform.io/x'],
    ]); // prettier-ignore
    allows([
      ['its own', 'nodes', create({ labels: { 'platform.io/os': 'linux' } }, { taints })],
      ['what changes nothing of others', 'nodes', change(node({ labels: { 'platform.io/x': '1', a: 'b' } }, { taints }), node({ labels: { 'platform.io/x': '1' } }, { taints }))],
      ['its own status', 'nodes', change(node(), node({}, { taints: [] }), { subresource: 'status' })],
      ['a source of configuration that goes', 'nodes', change(node(), node({}, { configSource: source }))],
    ]); // prettier-ignore

    const labels: Readonly<Record<VocabularyName, { readonly bad: readonly string[]; readonly good: readonly string[] }>> = {
      platform: {
        bad: ['platform.io/x', 'x.platform.io/y', 'node-restriction.platform.io/x', 'a.node-restriction.platform.io/x', 'node-role.platform.io/x', 'xnode.platform.io/x'],
        good: ['platform.io/hostname', 'platform.io/os', 'platform.io/arch', 'beta.platform.io/os', 'beta.platform.io/arch', 'beta.platform.io/instance-type', 'node.platform.io/instance-type', 'node.platform.io/x', 'node-agent.platform.io/x', 'a.node.platform.io/x', 'topology.platform.io/region', 'topology.platform.io/zone', 'failure-domain.beta.platform.io/region', 'failure-domain.beta.platform.io/zone', 'x', 'example.com/x', 'notplatform.io/x', '__proto__'],
      },
      kubernetes: {
        bad: ['kubernetes.io/x', 'k8s.io/x', 'a.k8s.io/x', 'node-restriction.kubernetes.io/x', 'node-role.kubernetes.io/x', 'node.k8s.io/x'],
        good: ['kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch', 'beta.kubernetes.io/os', 'beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type', 'kubelet.kubernetes.io/x', 'topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region', 'platform.io/x'],
      },
    }; // prettier-ignore
    for (const [words, { bad, good }] of Object.entries(labels) as [
      VocabularyName,
      { bad: string[]; good: string[] },
    ][]) {
      const set = (label: string): Asked => create({ labels: Object.fromEntries([[label, 'v']]) });
      for (const label of bad) {
        it(`refuses the label ${label} in the vocabulary ${words}`, async () => {
          assert.ok((await answer('nodes', set(label), words)).endsWith(`${may} set the following labels: ${label}`));
        });
      }
      for (const label of good) {
        it(`allows the label ${label} in the vocabulary ${words}`, async () => {
          assert.equal(await answer('nodes', set(label), words), '');
        });
      }
    }
  });

  describe('of tokens', () => {
    const token = (ref?: object | null): Asked => ({ subresource: 'token', object: object({}, { spec: { boundObjectRef: ref } }) }); // prettier-ignore
    const mine = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'u-mine' };
    refuses([
      ['one for nothing', 'serviceaccounts', token(null), 'serviceaccounts "p" is forbidden: node requested token not bound to a pod'],
      ['one for a secret', 'serviceaccounts', token({ ...mine, kind: 'Secret' }), 'node requested token not bound to a pod'],
      ['one for what another group calls a pod', 'serviceaccounts', token({ ...mine, apiVersion: 'a/v1' }), 'node requested token not bound to a pod'],
      ['one for a pod without a name', 'serviceaccounts', token({ ...mine, name: '' }), 'node requested token not bound to a pod'],
      ['one for any pod of that name', 'serviceaccounts', token({ ...mine, uid: '' }), 'node requested token with a pod binding without a uid'],
      ['one for an earlier pod', 'serviceaccounts', token({ ...mine, uid: 'u0' }), 'the UID in the bound object reference (u0) does not match the UID in record. The object might have been deleted and then recreated'],
      ['one for a pod that is not there', 'serviceaccounts', token({ ...mine, name: 'none' }), 'pods "none" not found'],
      ['one for a pod of another node', 'serviceaccounts', token({ ...mine, name: 'other', uid: 'u-other' }), 'node requested token bound to a pod scheduled on a different node'],
    ]); // prettier-ignore
    allows([['one for a pod of its own', 'serviceaccounts', token(mine)]]);
  });

  describe('of what has the name of the node', () => {
    const lease = { namespace: 'platform-node-lease', name: 'n1' };
    refuses([
      ['a lease elsewhere', 'leases', { ...lease, namespace: 'ns' }, 'can only access leases in the "platform-node-lease" system namespace'],
      ['the lease of another', 'leases', { ...lease, name: 'n2' }, 'can only access node lease with the same name as the requesting node'],
      ['to delete the lease of another', 'leases', { ...lease, operation: 'DELETE', name: 'n2' }, 'can only access node lease with the same name as the requesting node'],
      ['the CSI node of another', 'csinodes', { name: 'n2' }, 'can only access CSINode with the same name as the requesting node'],
    ]); // prettier-ignore
    allows([
      ['its own lease', 'leases', lease],
      ['its own CSI node', 'csinodes', { name: 'n1' }],
    ]);
  });

  describe('of claims', () => {
    const claim = (metadata: ObjectMeta, status: object, spec: object = {}): ApiObject =>
      object(metadata, { spec, status });
    const old = claim({ resourceVersion: '1' }, { phase: 'Bound', capacity: { storage: '1Gi' } });
    const change = (next: ApiObject): Asked => update(next, old, { subresource: 'status' });
    const why = 'node "n1" is not allowed to update fields other than status.capacity and status.conditions';
    refuses([
      ['the claim itself', 'persistentvolumeclaims', update(old, old), 'may only update PVC status'],
      ['another way', 'persistentvolumeclaims', { operation: 'DELETE', subresource: 'status' }, 'unexpected operation "DELETE"'],
      ['its phase', 'persistentvolumeclaims', change(claim({}, { phase: 'Lost' })), why],
      ['its labels', 'persistentvolumeclaims', change(claim({ labels: { a: 'b' } }, { phase: 'Bound' })), why],
      ['what is asked for', 'persistentvolumeclaims', change(claim({}, { phase: 'Bound' }, { volumeName: 'v' })), why],
    ]); // prettier-ignore
    allows([
      ['how big it is, and how that went', 'persistentvolumeclaims', change(claim({ managedFields: [] }, { phase: 'Bound', capacity: { storage: '2Gi' }, conditions: [{ type: 'Resizing' }] }))],
    ]); // prettier-ignore
  });
});
