import assert from 'node:assert/strict';
import type { ApiObject } from '../../machinery/meta/object.js';
import { StatusError } from '../../machinery/meta/status.js';
import { THE_SERVER } from '../request/users.js';
import type { Part } from './parts.js';
import {
  matchPlace,
  prepareForCreate,
  prepareForUpdate,
  stateSent,
  validateForCreate,
  validateForUpdate,
} from './prepare.js';
import type { ServedResource } from './resources.js';
import { servedAs, words } from './testing/served.js';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const workload = { selector: { matchLabels: { a: 'b' } }, template };

const deployments = servedAs('apps', 'v1', 'deployments');
const daemonSets = servedAs('apps', 'v1', 'daemonsets');
const configMaps = servedAs('', 'v1', 'configmaps');
const nodes = servedAs('', 'v1', 'nodes');
const pods = servedAs('', 'v1', 'pods');
const claims = servedAs('', 'v1', 'persistentvolumeclaims');
const volumes = servedAs('', 'v1', 'persistentvolumes');
const drivers = servedAs(words.groups.storage, 'v1', 'csidrivers');
const flowSchemas = servedAs(words.groups.flowcontrol, 'v1beta2', 'flowschemas');
const slices = servedAs(words.groups.discovery, 'v1', 'endpointslices');
const oldSlices = servedAs(words.groups.discovery, 'v1beta1', 'endpointslices');

const sent = (served: ServedResource, body: object, metadata: object = {}): ApiObject =>
  stateSent(served, served.decode({ ...body, metadata: { name: 'x', ...metadata } }));

function created(served: ServedResource, body: object, metadata: object = {}): ApiObject {
  const object = sent(served, body, metadata);
  prepareForCreate(served.stored, object, THE_SERVER, served.apiVersion);
  return object;
}

const updated = (served: ServedResource, part: Part, old: ApiObject, body: object, metadata: object = {}): ApiObject =>
  prepareForUpdate(served, part, sent(served, body, metadata), old);

const reason = (expected: string) => (err: unknown) => err instanceof StatusError && err.reason === expected;

describe('validateForCreate()', () => {
  it('says once that the name of a cron job is too long', () => {
    const cronJobs = servedAs('batch', 'v1', 'cronjobs');
    const pod = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
    const spec = { schedule: '@daily', jobTemplate: { spec: { template: { spec: pod } } } };
    const named = (name: string): ApiObject => created(cronJobs, { spec }, { name, namespace: 'ns' });
    void validateForCreate(cronJobs, named('a'.repeat(52)));
    assert.throws(
      () => validateForCreate(cronJobs, named('a'.repeat(53))),
      (err) => err instanceof StatusError && err.details?.causes?.length === 1,
    );
  });
});

describe('matchPlace()', () => {
  const body = (metadata: object): ApiObject => ({ kind: 'K', apiVersion: 'v1', metadata });

  it('fills in the namespace that the path says', () => {
    const object = body({ name: 'a' });
    matchPlace(object, { namespace: 'ns', name: 'a' });
    assert.deepEqual(object.metadata, { namespace: 'ns', name: 'a' });
  });

  it('refuses no name, another name and another namespace', () => {
    for (const metadata of [{}, { name: '' }, { name: 'b' }, { name: 'a', namespace: 'other' }]) {
      assert.throws(() => matchPlace(body(metadata), { namespace: 'ns', name: 'a' }), reason('BadRequest'));
    }
  });
});

describe('prepareForCreate()', () => {
  it('gives identity and time, and drops what is the server’s', () => {
    const said = { uid: 'mine', selfLink: '/x', deletionGracePeriodSeconds: 3, managedFields: [{}], generation: 9 };
    const { metadata } = created(configMaps, {}, { ...said, deletionTimestamp: '2020-01-01T00:00:00Z' });
    assert.deepEqual(Object.keys(metadata).sort(), ['creationTimestamp', 'name', 'uid']);
    assert.notEqual(metadata.uid, 'mine');
  });

  it('refuses a version of what is not there yet', () => {
    assert.throws(() => created(configMaps, {}, { resourceVersion: '1' }), reason('BadRequest'));
  });

  for (const [what, served, body, expected] of [
    ['drops it', claims, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }, { phase: 'Pending' }],
    ['keeps that of a node', nodes, { status: { phase: 'Running' } }, 'Running'],
    ['keeps that of a volume', volumes, { spec: {}, status: { phase: 'Bound' } }, 'Bound'],
    ['begins that of a volume', volumes, { spec: {} }, 'Pending'],
  ] as const) {
    it(`judges the status: ${what}`, () => {
      const { status } = created(served, body) as { status?: { phase?: string } };
      assert.deepEqual(typeof expected === 'string' ? status?.phase : status, expected);
    });
  }

  it('begins to count kinds that are counted from their first state', () => {
    assert.equal(created(deployments, { spec: workload }).metadata.generation, 1);
    assert.equal(created(drivers, { spec: {} }).metadata.generation, undefined);
    assert.equal(created(pods, { spec: template.spec }).metadata.generation, undefined);
  });

  it('takes the old topology of endpoints from those who speak the old version only', () => {
    const endpoint = { addresses: ['10.1.1.1'] };
    const topology = { zone: 'a' };
    const of = (served: ServedResource, member: string): unknown =>
      (created(served, { addressType: 'IPv4', endpoints: [{ ...endpoint, [member]: topology }] })['endpoints'] as [object])[0]; // prettier-ignore
    assert.ok(!('deprecatedTopology' in (of(slices, 'deprecatedTopology') as object)));
    assert.deepEqual((of(oldSlices, 'topology') as { deprecatedTopology: object }).deprecatedTopology, topology);
  });
});

describe('prepareForUpdate()', () => {
  const old = created(deployments, { spec: workload }, { labels: { old: '1' }, ownerReferences: [] });
  old['status'] = { replicas: 1 };

  it('keeps what is the server’s and the status', () => {
    const said = { uid: old.metadata.uid, creationTimestamp: null, generation: 7, managedFields: [{}] };
    const next = updated(deployments, '', old, { spec: workload, status: { replicas: 9 } }, said);
    const { uid, creationTimestamp, generation } = old.metadata;
    assert.deepEqual([next.metadata.uid, next.metadata.creationTimestamp, next.metadata.generation, next['status']], [uid, creationTimestamp, generation, { replicas: 1 }]); // prettier-ignore
    assert.equal(next.metadata.managedFields, undefined);
  });

  it('refuses another identity, and an older version', () => {
    const stored = { ...old, metadata: { ...old.metadata, resourceVersion: '5' } };
    for (const metadata of [{ uid: 'another' }, { resourceVersion: '4' }]) {
      assert.throws(() => updated(deployments, '', stored, { spec: workload }, metadata), reason('Conflict'));
    }
    assert.throws(() => updated(drivers, '', created(drivers, { spec: {} }), { spec: {} }), reason('Invalid'));
  });

  const generations: readonly (readonly [string, ServedResource, Part, ApiObject, object, object, number])[] = [
    ['the spec', deployments, '', old, { spec: { ...workload, replicas: 3 } }, {}, 2],
    ['the annotations of a deployment', deployments, '', old, { spec: workload }, { annotations: { a: '1' } }, 2],
    ['labels', deployments, '', old, { spec: workload }, { labels: { a: '1' } }, 1],
    ['the status', deployments, 'status', old, { spec: workload, status: { replicas: 2 } }, { annotations: { a: '1' } }, 1], // prettier-ignore
    ['the replicas', deployments, 'scale', old, { spec: { replicas: 5 } }, {}, 2],
  ];
  for (const [what, served, part, before, body, metadata, expected] of generations) {
    it(`${expected > 1 ? 'counts' : 'does not count'} a change of ${what}`, () => {
      assert.equal(updated(served, part, before, body, metadata).metadata.generation, expected);
    });
  }

  it('begins to count drivers with their first change', () => {
    const first = { ...created(drivers, { spec: {} }) };
    first.metadata.resourceVersion = '1';
    const next = updated(drivers, '', first, { spec: { requiresRepublish: true } }, { resourceVersion: '1' });
    assert.equal(next.metadata.generation, 1);
  });

  const written = {
    labels: { l: '1' },
    annotations: { n: '1' },
    finalizers: ['example.com/f'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }],
  };
  const statuses: readonly (readonly [string, ServedResource, object, readonly (keyof typeof written)[]])[] = [
    ['all of it', claims, { spec: {} }, ['labels', 'annotations', 'finalizers', 'ownerReferences']],
    ['all but labels', deployments, { spec: workload }, ['annotations', 'finalizers', 'ownerReferences']],
    ['all but owners', pods, { spec: template.spec }, ['labels', 'annotations', 'finalizers']],
    ['none of it', flowSchemas, { spec: { priorityLevelConfiguration: { name: 'exempt' } } }, []],
  ];
  for (const [what, served, body, taken] of statuses) {
    it(`takes metadata with a status: ${what}`, () => {
      const before = created(served, body);
      const next = updated(served, 'status', before, { ...body, status: {} }, written);
      for (const member of Object.keys(written) as (keyof typeof written)[]) {
        const expected = taken.includes(member) ? written[member] : before.metadata[member];
        assert.deepEqual(next.metadata[member], expected, member);
      }
      assert.deepEqual(next['spec'], before['spec']);
    });
  }

  it('takes metadata with an approval and with finalizers of a namespace, not with a scale', () => {
    const requests = servedAs(words.groups.certificates, 'v1', 'certificatesigningrequests');
    const namespaces = servedAs('', 'v1', 'namespaces');
    for (const [served, part, body, expected] of [
      [requests, 'approval', { spec: {}, status: {} }, { l: '1' }],
      [namespaces, 'finalize', { spec: {} }, { l: '1' }],
      [deployments, 'scale', { spec: { replicas: 1 } }, undefined],
    ] as const) {
      const before = created(served, part === 'scale' ? { spec: workload } : {});
      const { labels } = updated(served, part, before, body, { labels: { l: '1' } }).metadata;
      assert.equal(labels?.['l'], expected?.l, part);
    }
  });

  it('counts the templates of daemon sets, whatever clients write there', () => {
    const KEY = 'deprecated.daemonset.template.generation';
    const count = ({ metadata }: ApiObject): string | undefined => metadata.annotations?.[KEY];
    const first = created(daemonSets, { spec: workload });
    assert.equal(count(first), '1');
    assert.equal(count(created(daemonSets, { spec: workload }, { annotations: { [KEY]: '7' } })), '7');
    for (const wrong of ['x', '0', '-1', '1e3', '']) {
      assert.equal(count(created(daemonSets, { spec: workload }, { annotations: { [KEY]: wrong } })), '1', wrong);
    }
    const said = { annotations: { [KEY]: '99', k: 'v' } };
    const same = updated(daemonSets, '', first, { spec: { ...workload, minReadySeconds: 3 } }, said);
    assert.deepEqual(same.metadata.annotations, { [KEY]: '1', k: 'v' });
    const another = { ...workload, template: { ...template, metadata: { labels: { a: 'b', c: 'd' } } } };
    const changed = updated(daemonSets, '', same, { spec: another });
    assert.equal(count(changed), '2');
    assert.equal(count(updated(daemonSets, 'status', changed, { spec: another, status: {} }, said)), '2');
    assert.equal(count(updated(daemonSets, 'status', changed, { spec: another, status: {} })), '2');
  });

  it('leaves the old topology of endpoints that are not changed', () => {
    const endpoint = { addresses: ['10.1.1.1'] };
    const before = created(oldSlices, { addressType: 'IPv4', endpoints: [{ ...endpoint, topology: { zone: 'a' } }] });
    const write = (addresses: readonly string[]): unknown =>
      updated(slices, '', before, { addressType: 'IPv4', endpoints: [{ addresses, deprecatedTopology: { zone: 'a' } }] })['endpoints']; // prettier-ignore
    assert.deepEqual(write(['10.1.1.1']), before['endpoints']);
    assert.ok(!JSON.stringify(write(['10.1.1.2'])).includes('zone'));
  });
});

describe('validateForUpdate()', () => {
  it('names fields that never change', () => {
    const before = created(deployments, { spec: workload });
    const selector = { matchLabels: { a: 'c' } };
    const next = updated(deployments, '', before, { spec: { ...workload, selector } });
    assert.throws(
      () => validateForUpdate(deployments, '', next, before),
      (err) => err instanceof StatusError && /spec\.selector: .*field is immutable/.test(err.message),
    );
  });
});
