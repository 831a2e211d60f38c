import assert from 'node:assert/strict';
import type { ApiObject } from '../../machinery/meta/object.js';
import { Ownership } from '../../machinery/ownership/ownership.js';
import type { ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import { THE_SERVER } from '../request/users.js';
import { done } from '../../machinery/work/work.js';
import { FieldOwnership, record, type FieldManager } from './field-ownership.js';
import { prepareForCreate } from './prepare.js';
import type { ServedResource } from './resources.js';
import { servedAs, words } from './testing/served.js';

const ownership = new FieldOwnership(new Ownership());
const configMaps = servedAs('', 'v1', 'configmaps');
const namespaces = servedAs('', 'v1', 'namespaces');
const nodes = servedAs('', 'v1', 'nodes');
const requests = servedAs(words.groups.certificates, 'v1', 'certificatesigningrequests');

const ONE: FieldManager = { name: 'one', subresource: '' };
const TWO: FieldManager = { name: 'two', subresource: '' };
const NO_ONE = { managers: undefined, whole: true };

const map = (data: object, metadata: object = {}): ApiObject =>
  configMaps.decode({ data, metadata: { name: 'x', ...metadata } });
const fieldsOf = (owners: readonly ManagedFieldsEntry[]): readonly unknown[] =>
  owners.map(({ manager, fieldsV1 }) => [manager, fieldsV1]);
const ownersIn = ({ metadata }: ApiObject): readonly ManagedFieldsEntry[] =>
  (metadata.managedFields ?? []) as readonly ManagedFieldsEntry[];

/** A stored object and its owners. */
function stored(served: ServedResource, object: ApiObject, by = ONE): ApiObject {
  const owners = done(ownership.created(served, object, by));
  prepareForCreate(served.stored, object, THE_SERVER);
  record(object, owners);
  return object;
}

describe('FieldOwnership', () => {
  describe('created()', () => {
    it('gives the writer what was sent', () => {
      assert.deepEqual(fieldsOf(done(ownership.created(configMaps, map({ a: '1' }), ONE))), [
        ['one', { 'f:data': { '.': {}, 'f:a': {} } }],
      ]);
    });

    it('gives nobody what the server fills in', () => {
      const namespace = stored(namespaces, namespaces.decode({ metadata: { name: 'x', labels: { l: '1' } } }));
      assert.deepEqual((namespace['spec'] as { finalizers: unknown[] }).finalizers.length, 1);
      assert.deepEqual(Object.keys(ownersIn(namespace)[0]?.fieldsV1 ?? {}), ['f:metadata']);
    });

    it('gives nobody a status, though it is kept', () => {
      const node = stored(
        nodes,
        nodes.decode({ metadata: { name: 'x', labels: { l: '1' } }, status: { phase: 'Running' } }),
      );
      assert.equal((node['status'] as { phase?: string }).phase, 'Running');
      assert.deepEqual(fieldsOf(ownersIn(node)), [['one', { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } }]]);
    });

    it('gives nobody what a kind keeps for the server', () => {
      const spec = { signerName: 'example.com/s', usages: ['client auth'], username: 'liar' };
      assert.deepEqual(done(ownership.created(requests, requests.decode({ metadata: { name: 'x' }, spec }), ONE)), []);
    });

    it('does not change what was sent', () => {
      const node = nodes.decode({ metadata: { name: 'x' }, status: { phase: 'Running' } });
      done(ownership.created(nodes, node, ONE));
      assert.equal((node['status'] as { phase?: string }).phase, 'Running');
    });
  });

  describe('changed()', () => {
    const before = (): ApiObject => stored(configMaps, map({ a: '1', b: '1' }));
    const write = (data: object, sent: { managers: unknown; whole: boolean }): readonly unknown[] => {
      const old = before();
      const next = map(data);
      next.metadata = { ...old.metadata };
      return fieldsOf(done(ownership.changed(configMaps, next, old, sent, TWO)) ?? ownersIn(old));
    };

    it('moves what was changed to the writer', () => {
      assert.deepEqual(write({ a: '2', b: '1' }, NO_ONE), [
        ['one', { 'f:data': { '.': {}, 'f:b': {} } }],
        ['two', { 'f:data': { 'f:a': {} } }],
      ]);
    });

    for (const whole of [true, false]) {
      it(`forgets all owners when asked, and nothing else was ${whole ? 'sent' : 'patched'}`, () => {
        assert.deepEqual(write({ a: '1', b: '1' }, { managers: [{}], whole }), []);
      });
    }

    it('gives the writer all that it sent when the owners are forgotten', () => {
      assert.deepEqual(write({ a: '2', b: '1' }, { managers: [{}], whole: true }), [
        ['two', { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } }],
      ]);
    });

    it('gives a patch what it changed when the owners are forgotten', () => {
      assert.deepEqual(write({ a: '2', b: '1' }, { managers: [{}], whole: false }), [
        ['two', { 'f:data': { 'f:a': {} } }],
      ]);
    });

    it('takes no notice of an empty list, and of one that cannot be read', () => {
      for (const managers of [[], [{ manager: 1 }], 'x']) {
        assert.deepEqual(write({ a: '1', b: '1' }, { managers, whole: true }), fieldsOf(ownersIn(before())));
      }
    });
  });

  describe('applied()', () => {
    const apply = (served: ServedResource, old: ApiObject | undefined, config: object, by: FieldManager): readonly unknown[] =>
      fieldsOf(done(ownership.applied(served, old, config as never, by, { force: true, normalise: (o) => served.decoding(o) })).managers); // prettier-ignore
    const identity = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } };

    it('of the object owns nothing of its status', () => {
      const config = { ...identity, spec: { podCIDR: '10.1.0.0/24' }, status: { phase: 'Running' } };
      assert.deepEqual(apply(nodes, undefined, config, ONE), [['one', { 'f:spec': { 'f:podCIDR': {} } }]]);
      assert.deepEqual(apply(nodes, undefined, { ...identity, status: { phase: 'Running' } }, ONE), []);
    });

    it('of the status owns it', () => {
      const old = stored(nodes, nodes.decode({ metadata: { name: 'x' } }));
      const by = { name: 'agent', subresource: 'status' };
      const owners = apply(nodes, old, { ...identity, status: { phase: 'Running' } }, by);
      assert.deepEqual(owners, [['agent', { 'f:status': { 'f:phase': {} } }]]);
    });

    it('leaves the owners of others alone', () => {
      const old = stored(nodes, nodes.decode({ metadata: { name: 'x' } }));
      const agent: ManagedFieldsEntry = {
        manager: 'agent',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:phase': {} } },
        subresource: 'status',
      };
      record(old, [agent]);
      old['status'] = { ...(old['status'] as object | undefined), phase: 'Running' };
      const owners = apply(
        nodes,
        old,
        { ...identity, status: { phase: 'Running' }, spec: { podCIDR: '10.1.0.0/24' } },
        ONE,
      );
      assert.deepEqual(owners, [
        ['agent', { 'f:status': { 'f:phase': {} } }],
        ['one', { 'f:spec': { 'f:podCIDR': {} } }],
      ]);
    });
  });
});
