import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { JSON_PATCH, type Reply } from './tools/client.js';
import {
  configMap,
  configMapsIn,
  createConfigMap,
  created,
  deployment,
  deploymentsIn,
  newNamespace,
  ok,
  refused,
} from './tools/objects.js';
import { onBothStores, onServer, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const words = vocabulary('platform');
const NO_UID = '00000000-0000-0000-0000-000000000000';
const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const leasesIn = (namespace: string): string =>
  `/apis/${words.translate('coordination.platform.io')}/v1/namespaces/${namespace}/leases`;
const lease = (name: string, metadata: object = {}): object => ({ metadata: { name, ...metadata }, spec: { holderIdentity: 'me' } }); // prettier-ignore

function metadata(server: Server): void {
  it('is set by the server: uid, time and version; what a client says about them is dropped', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const before = Date.now();
    const said = {
      uid: NO_UID,
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      generation: 7,
      selfLink: '/x',
    };
    const { metadata: m, kind, apiVersion, data } = await createConfigMap(client, namespace, 'a', { metadata: said, data: { x: '1' } }); // prettier-ignore
    assert.deepEqual([kind, apiVersion, data, m.name, m.namespace], ['ConfigMap', 'v1', { x: '1' }, 'a', namespace]);
    assert.match(m.uid, UID);
    assert.notEqual(m.uid, NO_UID);
    assert.match(m.resourceVersion, /^[1-9]\d*$/);
    assert.match(m.creationTimestamp ?? '', SECONDS);
    assert.ok(Math.abs(Date.parse(m.creationTimestamp ?? '') - before) < 5_000);
    for (const key of ['deletionTimestamp', 'generation', 'selfLink']) assert.equal(m[key], undefined, key);
  });

  it('of an object cannot be changed where the server owns it', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const { metadata: before } = await createConfigMap(client, namespace, 'a');
    const said = {
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      generation: 7,
    };
    const put = ok(await client.put(path, configMap('a', { metadata: said, data: { x: '1' } })));
    const patched = ok(await client.patch(path, { metadata: { ...said, creationTimestamp: null }, data: { x: '2' } }));
    for (const { metadata: m } of [put, patched]) {
      const { uid, creationTimestamp, deletionTimestamp, generation } = m;
      assert.deepEqual([uid, creationTimestamp], [before.uid, before.creationTimestamp]);
      assert.deepEqual([deletionTimestamp, generation], [undefined, undefined]);
    }
  });

  it('generateName makes a name that nobody has', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } };
    const made = await Promise.all(Array.from({ length: 100 }, () => client.post(configMapsIn(namespace), body)));
    const names = made.map((reply) => created(reply).metadata.name);
    for (const name of names) assert.match(name, /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(new Set(names).size, 100);
    assert.equal(made[0]?.body.metadata.generateName, 'made-');
    const long = created(await client.post(configMapsIn(namespace), { metadata: { generateName: 'x'.repeat(253) } }));
    assert.match(long.metadata.name, /^x{248}[a-z0-9]{5}$|^x{58}[a-z0-9]{5}$/);
  });

  it('without a name or with a bad one is a 422 that says which field', async () => {
    const { client } = server();
    const path = configMapsIn('default');
    const causes = async (m: object): Promise<unknown> =>
      refused(await client.post(path, { metadata: m }), 422, 'Invalid').details.causes?.map((c) => [c.field, c.reason]);
    assert.deepEqual(await causes({}), [['metadata.name', 'FieldValueRequired']]);
    assert.deepEqual(await causes({ name: 'Bad_Name' }), [['metadata.name', 'FieldValueInvalid']]);
    assert.deepEqual(await causes({ name: 'a', labels: { '-': 'x y' } }), [
      ['metadata.labels', 'FieldValueInvalid'],
      ['metadata.labels', 'FieldValueInvalid'],
    ]);
    assert.deepEqual(await causes({ name: 'a', annotations: { 'no/such/key': '' } }), [
      ['metadata.annotations', 'FieldValueInvalid'],
    ]);
    assert.deepEqual(await causes({ name: 'a', annotations: { big: 'x'.repeat(262_145) } }), [
      ['metadata.annotations', 'FieldValueTooLong'],
    ]);
    assert.deepEqual(await causes({ name: 'a', finalizers: ['bare'] }), [
      ['metadata.finalizers[0]', 'FieldValueInvalid'],
    ]);
  });

  it('generation counts changes of spec, not of labels or status', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${deploymentsIn(namespace)}/d`;
    const generation = (reply: Reply): number | undefined => ok(reply).metadata.generation;
    assert.equal(created(await client.post(deploymentsIn(namespace), deployment('d'))).metadata.generation, 1);
    assert.equal(generation(await client.patch(path, { metadata: { labels: { x: 'y' } } })), 1);
    assert.equal(generation(await client.patch(`${path}/status`, { status: { replicas: 2 } })), 1);
    assert.equal(generation(await client.patch(path, { spec: { replicas: 2 } })), 2);
    assert.equal(generation(await client.patch(path, { spec: { replicas: 2 } })), 2);
    assert.equal(generation(await client.patch(path, { metadata: { generation: 9 }, spec: { paused: true } })), 3);
  });
}

function conflicts(server: Server): void {
  it('refuses to create a name twice', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'a', { data: { first: '1' } });
    const reply = await client.post(configMapsIn(namespace), configMap('a', { data: { second: '2' } }));
    const { details } = refused(reply, 409, 'AlreadyExists', /^configmaps "a" already exists$/);
    assert.deepEqual(details, { name: 'a', kind: 'configmaps' });
    assert.deepEqual(ok(await client.get(`${configMapsIn(namespace)}/a`)).data, { first: '1' });
  });

  it('lets one of many creators win', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        client.post(configMapsIn(namespace), configMap('a', { data: { i: String(i) } })),
      ),
    );
    const won = replies.filter(({ code }) => code === 201);
    assert.deepEqual([won.length, replies.filter(({ code }) => code === 409).length], [1, 29]);
    assert.deepEqual(ok(await client.get(`${configMapsIn(namespace)}/a`)), won[0]?.body);
  });

  it('refuses an old version and a foreign uid, in PUT and in PATCH', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const old = await createConfigMap(client, namespace, 'a');
    const now = ok(await client.put(path, { ...old, data: { x: '1' } }));
    assert.ok(Number(now.metadata.resourceVersion) > Number(old.metadata.resourceVersion));
    const stale = /^Operation cannot be fulfilled on configmaps "a": the object has been modified/;
    refused(await client.put(path, { ...old, data: { x: '2' } }), 409, 'Conflict', stale);
    refused(await client.patch(path, { metadata: { resourceVersion: '1' }, data: { x: '2' } }), 409, 'Conflict', stale);
    refused(await client.put(path, configMap('a', { metadata: { uid: NO_UID } })), 409, 'Conflict', /UID/);
    refused(await client.patch(path, { metadata: { uid: NO_UID } }), 409, 'Conflict', /UID/);
    assert.deepEqual(ok(await client.get(path)), now);
  });

  it('lets one of many updates from the same version win', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const old = await createConfigMap(client, namespace, 'a');
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) => client.put(path, { ...old, data: { i: String(i) } })),
    );
    const won = replies.filter(({ code }) => code === 200);
    assert.deepEqual([won.length, replies.filter(({ code }) => code === 409).length], [1, 29]);
    assert.deepEqual(ok(await client.get(path)), won[0]?.body);
  });

  it('takes a PUT without a version as it is, except of kinds that insist on one', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'a', { data: { x: '1' } });
    const put = ok(await client.put(`${configMapsIn(namespace)}/a`, configMap('a', { data: { y: '2' } })));
    assert.deepEqual(put.data, { y: '2' });
    const { metadata: m } = created(await client.post(leasesIn(namespace), lease('l')));
    const path = `${leasesIn(namespace)}/l`;
    const { details } = refused(await client.put(path, lease('l')), 422, 'Invalid', /must be specified for an update/);
    assert.deepEqual(details.causes?.[0]?.field, 'metadata.resourceVersion');
    ok(await client.put(path, lease('l', { resourceVersion: m.resourceVersion, labels: { x: 'y' } })));
  });

  it('keeps the version when a write changes nothing', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const stored = await createConfigMap(client, namespace, 'a', { data: { x: '1', y: '2' } });
    const reordered = configMap('a', { data: { y: '2', x: '1' } });
    for (const reply of [
      await client.put(path, stored),
      await client.put(path, configMap('a', { data: stored.data })),
      await client.put(path, reordered),
      await client.patch(path, { data: { x: '1' } }),
      await client.patch(path, [], JSON_PATCH),
    ]) {
      assert.equal(ok(reply).metadata.resourceVersion, stored.metadata.resourceVersion);
    }
  });

  it('answers 404 to a PUT and a PATCH of what is not there, except of kinds that a PUT may create', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const missing = `${configMapsIn(namespace)}/a`;
    refused(await client.put(missing, configMap('a')), 404, 'NotFound', /^configmaps "a" not found$/);
    refused(await client.patch(missing, { data: {} }), 404, 'NotFound');
    const path = `${leasesIn(namespace)}/l`;
    refused(await client.patch(path, {}), 404, 'NotFound');
    refused(await client.put(path, lease('l', { uid: NO_UID })), 409, 'Conflict', /UID/);
    refused(await client.put(path, lease('l', { resourceVersion: '5' })), 409, 'Conflict');
    assert.match(created(await client.put(`${path}?dryRun=All`, lease('l'))).metadata.uid, UID);
    refused(await client.get(path), 404, 'NotFound');
    const made = created(await client.put(path, lease('l')));
    assert.deepEqual([made.kind, made.metadata.name, made.metadata.namespace], ['Lease', 'l', namespace]);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => client.put(`${leasesIn(namespace)}/m`, lease('m'))),
    );
    assert.equal(replies.filter(({ code }) => code === 201).length, 1);
  });
}

function parts(server: Server): void {
  it('status is written through /status only, and nothing else there', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${deploymentsIn(namespace)}/d`;
    const body = { ...deployment('d'), status: { replicas: 9 } };
    assert.deepEqual(created(await client.post(deploymentsIn(namespace), body)).status ?? {}, {});
    assert.deepEqual(ok(await client.put(path, body)).status ?? {}, {});
    assert.deepEqual(ok(await client.patch(path, { status: { replicas: 9 } })).status ?? {}, {});
    const after = ok(
      await client.patch(`${path}/status`, {
        status: { replicas: 3 },
        spec: { replicas: 9 },
      }),
    );
    assert.deepEqual([after.status, after.spec['replicas']], [{ replicas: 3 }, 1]);
    const put = ok(await client.put(`${path}/status`, { ...after, spec: { replicas: 8 }, status: { replicas: 4 } }));
    assert.deepEqual([put.status, put.spec], [{ replicas: 4 }, after.spec]);
    assert.deepEqual(ok(await client.put(path, deployment('d'))).status, { replicas: 4 }, 'kept by a PUT of the rest');
    assert.deepEqual(ok(await client.get(`${path}/status`)), ok(await client.get(path)));
  });

  it('a sub-resource that is not there is a 404, one that cannot be created a 405', async () => {
    const { client } = server();
    await createConfigMap(client, 'default', `parts-${process.pid}`);
    const path = `${configMapsIn('default')}/parts-${process.pid}`;
    refused(await client.get(`${path}/status`), 404, 'NotFound');
    refused(await client.put(`${path}/nonsense`, {}), 404, 'NotFound');
    refused(await client.post(`${deploymentsIn('default')}/d/status`, {}), 405, 'MethodNotAllowed');
  });
}

/** A kind with a part that never changes: a body, a change of it that is refused, the field, and one that is fine. */
const IMMUTABLES: readonly {
  readonly title: string;
  readonly path: string;
  readonly body: object;
  readonly refuse: object;
  readonly field: string;
  readonly allow?: object;
}[] = [
  {
    title: "a deployment's selector",
    path: '/apis/apps/v1/namespaces/NS/deployments',
    body: deployment('x'),
    refuse: { spec: { selector: { matchLabels: { other: 'y' } }, template: { metadata: { labels: { other: 'y' } } } } },
    field: 'spec.selector',
    allow: { spec: { replicas: 5 } },
  },
  {
    title: "a secret's type",
    path: '/api/v1/namespaces/NS/secrets',
    body: { metadata: { name: 'x' }, type: 'example.com/a' },
    refuse: { type: 'example.com/b' },
    field: 'type',
    allow: { data: { a: 'Yg==' } },
  },
  {
    title: 'data of an immutable secret',
    path: '/api/v1/namespaces/NS/secrets',
    body: { metadata: { name: 'x' }, immutable: true, data: { a: 'Yg==' } },
    refuse: { data: { a: 'Yw==' } },
    field: 'data',
    allow: { metadata: { labels: { a: 'b' } } },
  },
  {
    title: 'an immutable secret through stringData',
    path: '/api/v1/namespaces/NS/secrets',
    body: { metadata: { name: 'x' }, immutable: true, data: { a: 'Yg==' } },
    refuse: { stringData: { a: 'other' } },
    field: 'data',
  },
  {
    title: 'binaryData of an immutable config map',
    path: '/api/v1/namespaces/NS/configmaps',
    body: configMap('x', { immutable: true, data: { a: '1' } }),
    refuse: { binaryData: { b: 'Yg==' } },
    field: 'binaryData',
    allow: { metadata: { annotations: { a: 'b' } } },
  },
  {
    title: 'that a config map is immutable',
    path: '/api/v1/namespaces/NS/configmaps',
    body: configMap('x', { immutable: true }),
    refuse: { immutable: null },
    field: 'immutable',
  },
  {
    title: 'the role of a binding',
    path: `/apis/${words.translate('rbac.authorization.platform.io')}/v1/namespaces/NS/rolebindings`,
    body: { metadata: { name: 'x' }, roleRef: { apiGroup: words.translate('rbac.authorization.platform.io'), kind: 'Role', name: 'a' } }, // prettier-ignore
    refuse: { roleRef: { name: 'b' } },
    field: 'roleRef',
    allow: { subjects: [{ kind: 'User', name: 'bob', apiGroup: words.translate('rbac.authorization.platform.io') }] },
  },
];

function immutables(server: Server): void {
  for (const { title, path, body, refuse, field, allow } of IMMUTABLES) {
    it(`${title} never changes`, async () => {
      const { client } = server();
      const collection = path.replace('NS', await newNamespace(client));
      const before = created(await client.post(collection, body));
      const { details } = refused(await client.patch(`${collection}/x`, refuse), 422, 'Invalid');
      assert.ok(
        details.causes?.some((cause) => cause.field === field),
        JSON.stringify(details),
      );
      assert.deepEqual(ok(await client.get(`${collection}/x`)), before);
      if (allow !== undefined) ok(await client.patch(`${collection}/x`, allow));
    });
  }
}

onBothStores('writes', [], (server) => {
  describe('metadata', () => metadata(server));
  describe('conflicts', () => conflicts(server));
  describe('parts', () => parts(server));
  describe('immutable parts', () => immutables(server));
});

onServer('writes in the other words', { store: 'embedded', flags: ['--vocabulary=kubernetes'] }, (server) => {
  const other = vocabulary('kubernetes');

  it('uses them for namespaces, groups, labels and finalizers', async () => {
    const { client } = server();
    const { metadata: m, spec } = ok(await client.get(`/api/v1/namespaces/${other.namespaces.system}`));
    assert.deepEqual(spec['finalizers'], [other.namespaceFinalizer]);
    assert.deepEqual(m.labels, { [other.namespaceNameLabel]: other.namespaces.system });
    const group = other.translate('coordination.platform.io');
    const path = `/apis/${group}/v1/namespaces/${other.namespaces.nodeLease}/leases`;
    const made = created(await client.put(`${path}/l`, lease('l')));
    assert.deepEqual([made.kind, made.apiVersion], ['Lease', `${group}/v1`]);
    refused(await client.get(leasesIn('default')), 404, 'NotFound');
    refused(await client.delete(`/api/v1/namespaces/${other.namespaces.system}`), 403, 'Forbidden');
  });

  it('marks the end of initial events with its own annotation', async () => {
    const { client } = server();
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await client.watch(`${configMapsIn('default')}?${query}`);
    const { object } = await watch.next();
    assert.deepEqual(object.metadata.annotations, { [other.initialEventsEndAnnotation]: 'true' });
    watch.close();
  });
});
