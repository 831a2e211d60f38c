import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { JSON_PATCH, MERGE, type Client, type Reply } from './tools/client.js';
import { namesIn, type Document } from './tools/document.js';
import {
  configMap,
  configMapsIn,
  createConfigMap,
  created,
  deployment,
  deploymentsIn,
  eventually,
  newNamespace,
  ok,
  pod,
  refused,
} from './tools/objects.js';
import { onBothStores, onServer, type TestServer } from './tools/server.js';
import { SIGNING_REQUEST } from './tools/signing-request.js';

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

const mark = (reply: Reply): Document => {
  const object = ok(reply);
  assert.match(object.metadata.deletionTimestamp ?? '', SECONDS);
  return object;
};

function deletions(server: Server): void {
  it('answers a Status with what was deleted, and the name is free again', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const { uid } = (await createConfigMap(client, namespace, 'a')).metadata;
    const { kind, status, details } = ok(await client.delete(path));
    assert.deepEqual([kind, status, details], ['Status', 'Success', { name: 'a', kind: 'configmaps', uid }]);
    refused(await client.delete(path), 404, 'NotFound');
    assert.notEqual((await createConfigMap(client, namespace, 'a')).metadata.uid, uid);
  });

  it('goes in two phases while there are finalizers', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a', { metadata: { finalizers: ['example.com/x', 'example.com/y'] } });
    const marked = mark(await client.delete(path));
    assert.deepEqual(ok(await client.get(path)), marked);
    assert.deepEqual(mark(await client.delete(path)), marked, 'a second deletion changes nothing');
    refused(await client.post(configMapsIn(namespace), configMap('a')), 409, 'AlreadyExists');
    const more = { metadata: { finalizers: ['example.com/x', 'example.com/z'] } };
    refused(await client.patch(path, more), 422, 'Invalid', /no new finalizers can be added/);
    const one = mark(await client.patch(path, { metadata: { finalizers: ['example.com/y'] } }));
    assert.equal(one.metadata.deletionTimestamp, marked.metadata.deletionTimestamp);
    const last = mark(await client.patch(path, { metadata: { finalizers: null }, data: { last: 'word' } }));
    assert.deepEqual([last.metadata.finalizers, last.data], [undefined, { last: 'word' }]);
    refused(await client.get(path), 404, 'NotFound');
  });

  it('asks for preconditions to hold', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    const { uid, resourceVersion } = (await createConfigMap(client, namespace, 'a')).metadata;
    const options = (preconditions: object): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions });
    refused(await client.delete(path, options({ uid: NO_UID })), 409, 'Conflict', /UID in precondition/);
    refused(
      await client.delete(path, options({ resourceVersion: '1' })),
      409,
      'Conflict',
      /ResourceVersion in precond/,
    );
    ok(await client.get(path));
    ok(await client.delete(path, options({ uid, resourceVersion })));
    refused(await client.get(path), 404, 'NotFound');
  });

  it('leaves dependents to the collector as propagationPolicy says', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const collection = deploymentsIn(namespace);
    const policies: readonly (readonly [string, string[] | undefined])[] = [
      ['propagationPolicy=Foreground', ['foregroundDeletion']],
      ['propagationPolicy=Orphan', ['orphan']],
      ['orphanDependents=true', ['orphan']],
      ['propagationPolicy=Background', undefined],
      ['orphanDependents=false', undefined],
    ];
    for (const [query, finalizers] of policies) {
      created(await client.post(collection, deployment('d')));
      const reply = await client.delete(`${collection}/d?${query}`);
      if (finalizers === undefined) {
        ok(reply);
      } else {
        assert.deepEqual(mark(reply).metadata.finalizers, finalizers);
        ok(await client.patch(`${collection}/d`, { metadata: { finalizers: null } }));
      }
      refused(await client.get(`${collection}/d`), 404, 'NotFound');
    }
    created(await client.post(collection, deployment('d')));
    const wrong = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Sideways' };
    refused(await client.delete(`${collection}/d`, wrong), 422, 'Invalid', /Sideways/);
    refused(await client.delete(`${collection}/d`, { kind: 'Pod', apiVersion: 'v1' }), 400, 'BadRequest');
  });

  it('gives a pod that runs its grace period, and ends it when nobody winds it down', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    for (const [name, query, grace] of [
      ['default', '', 30],
      ['asked', '?gracePeriodSeconds=7', 7],
    ] as const) {
      created(await client.post(path, pod(name, { nodeName: 'n1' })));
      const { metadata: m } = mark(await client.delete(`${path}/${name}${query}`));
      assert.equal(m.deletionGracePeriodSeconds, grace);
      assert.ok(Math.abs(Date.parse(m.deletionTimestamp ?? '') - Date.now() - grace * 1000) < 20_000);
      const sooner = mark(await client.delete(`${path}/${name}?gracePeriodSeconds=2`));
      assert.equal(sooner.metadata.deletionGracePeriodSeconds, 2);
      const later = mark(await client.delete(`${path}/${name}?gracePeriodSeconds=20`));
      assert.equal(later.metadata.deletionGracePeriodSeconds, 2, 'never longer again');
      ok(await client.delete(`${path}/${name}?gracePeriodSeconds=0`));
      refused(await client.get(`${path}/${name}`), 404, 'NotFound');
    }
    created(await client.post(path, pod('unplaced')));
    assert.equal(ok(await client.delete(`${path}/unplaced`)).kind, 'Pod');
    refused(await client.get(`${path}/unplaced`), 404, 'NotFound');
  });
}

function collections(server: Server): void {
  it('deletes what the selectors choose, finalizers respected', async () => {
    const { client } = server();
    const [namespace, other] = [await newNamespace(client), await newNamespace(client)];
    const path = configMapsIn(namespace);
    for (let i = 0; i < 20; i++) await createConfigMap(client, namespace, `go-${i}`, { labels: { go: 'yes' } });
    await createConfigMap(client, namespace, 'held', { labels: { go: 'yes' }, metadata: { labels: { go: 'yes' }, finalizers: ['example.com/x'] } }); // prettier-ignore
    await createConfigMap(client, namespace, 'stays', { labels: { go: 'no' } });
    await createConfigMap(client, other, 'go-1', { labels: { go: 'yes' } });
    refused(await client.delete(`${path}?labelSelector=go%3D(`), 400, 'BadRequest');
    ok(await client.delete(`${path}?labelSelector=go%3Dyes&dryRun=All`));
    assert.equal(ok(await client.get(path)).items.length, 22);
    const reply = ok(await client.delete(`${path}?labelSelector=go%3Dyes`));
    assert.ok(reply.kind === 'Status' || reply.kind === 'ConfigMapList', reply.kind);
    const left = ok(await client.get(path));
    assert.deepEqual(namesIn(left), ['held', 'stays']);
    assert.match(left.items[0]?.metadata.deletionTimestamp ?? '', SECONDS);
    ok(await client.delete(`${path}?fieldSelector=metadata.name%3Dstays`));
    assert.deepEqual(namesIn(ok(await client.get(path))), ['held']);
    assert.deepEqual(namesIn(ok(await client.get(configMapsIn(other)))), ['go-1']);
    refused(await client.delete('/api/v1/configmaps'), 405, 'MethodNotAllowed');
  });
}

function patches(server: Server): void {
  it('merge patch sets, replaces and removes', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a', { data: { a: '1', b: '2' }, labels: { x: 'y' } });
    const patched = ok(await client.patch(path, { data: { a: null, c: '3' }, metadata: { labels: null } }));
    assert.deepEqual([patched.data, patched.metadata.labels], [{ b: '2', c: '3' }, undefined]);
  });

  it('JSON patch does its six operations, all or none of them', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a', {
      data: { a: '1', b: '2' },
      metadata: { annotations: { 'example.com/slash': '3' } },
    });
    const patched = ok(
      await client.patch(
        path,
        [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'replace', path: '/data/a', value: '9' },
          { op: 'move', from: '/data/b', path: '/data/moved' },
          { op: 'copy', from: '/data/a', path: '/data/copied' },
          { op: 'remove', path: '/metadata/annotations/example.com~1slash' },
          { op: 'add', path: '/data/added', value: 'q' },
        ],
        JSON_PATCH,
      ),
    );
    assert.deepEqual(patched.data, { a: '9', added: 'q', copied: '9', moved: '2' });
    assert.equal(patched.metadata.annotations, undefined);
    const half = [
      { op: 'replace', path: '/data/a', value: 'half' },
      { op: 'test', path: '/data/moved', value: 'no' },
    ];
    refused(await client.patch(path, half, JSON_PATCH), 422, 'Invalid');
    assert.deepEqual(ok(await client.get(path)), patched);
  });

  /** Content type, body, and what comes of it. */
  const refusals: readonly (readonly [string, unknown, number, string])[] = [
    [JSON_PATCH, { not: 'a list' }, 400, 'BadRequest'],
    [JSON_PATCH, [{ op: 'explode', path: '/data' }], 400, 'BadRequest'],
    [JSON_PATCH, [{ op: 'add', path: 'data', value: 1 }], 400, 'BadRequest'],
    [JSON_PATCH, [{ op: 'remove', path: '/data/nothing' }], 422, 'Invalid'],
    [JSON_PATCH, '[{', 400, 'BadRequest'],
    [JSON_PATCH, '', 400, 'BadRequest'],
    [JSON_PATCH, Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/x' })), 413, 'RequestEntityTooLarge'],
    [MERGE, [], 400, 'BadRequest'],
    [MERGE, 'null', 400, 'BadRequest'],
    [MERGE, '{', 400, 'BadRequest'],
    [MERGE, { data: 'text' }, 400, 'BadRequest'],
    [MERGE, { data: { a: 1 } }, 400, 'BadRequest'],
    [MERGE, { metadata: { name: 'other' } }, 400, 'BadRequest'],
    [MERGE, { metadata: { namespace: 'other' } }, 400, 'BadRequest'],
    [MERGE, { kind: 'Secret' }, 400, 'BadRequest'],
    [MERGE, { apiVersion: 'v2' }, 400, 'BadRequest'],
    [MERGE, { metadata: { labels: { a: 'not a value' } } }, 422, 'Invalid'],
    ['application/what+json', {}, 415, 'UnsupportedMediaType'],
    ['application/json', {}, 415, 'UnsupportedMediaType'],
  ];
  for (const [type, body, code, reason] of refusals) {
    const shown = typeof body === 'string' ? body : JSON.stringify(body);
    it(`${type} ${shown.slice(0, 60)} is a ${code}`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const before = await createConfigMap(client, namespace, 'a', { data: { a: '1' } });
      refused(await client.patch(`${configMapsIn(namespace)}/a`, body, type), code, reason);
      assert.deepEqual(ok(await client.get(`${configMapsIn(namespace)}/a`)), before);
    });
  }

  it('50 at the same time all land', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `${configMapsIn(namespace)}/a`;
    await createConfigMap(client, namespace, 'a');
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => client.patch(path, { data: { [`k${i}`]: String(i) } })),
    );
    for (const reply of replies) ok(reply);
    assert.equal(Object.keys(ok(await client.get(path)).data).length, 50);
  });
}

function dryRuns(server: Server): void {
  it('shows what would be stored, and stores nothing', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const shown = created(await client.post(`${path}?dryRun=All`, configMap('dry', { data: { a: '1' } })));
    assert.deepEqual([shown.metadata.name, shown.data], ['dry', { a: '1' }]);
    assert.match(shown.metadata.uid, UID);
    refused(await client.get(`${path}/dry`), 404, 'NotFound');
    const stored = await createConfigMap(client, namespace, 'real');
    assert.deepEqual(ok(await client.put(`${path}/real?dryRun=All`, configMap('real', { data: { b: '2' } }))).data, { b: '2' }); // prettier-ignore
    assert.deepEqual(ok(await client.patch(`${path}/real?dryRun=All`, { data: { c: '3' } })).data, { c: '3' });
    ok(await client.delete(`${path}/real?dryRun=All`));
    ok(await client.delete(`${path}/real`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }));
    assert.deepEqual(ok(await client.get(`${path}/real`)), stored);
  });

  it('fails as the real request would', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    await createConfigMap(client, namespace, 'a', { immutable: true });
    refused(await client.post(`${path}?dryRun=All`, configMap('Bad_Name')), 422, 'Invalid');
    refused(await client.put(`${path}/a?dryRun=All`, configMap('a', { data: { x: '1' } })), 422, 'Invalid');
    refused(await client.post(`${configMapsIn('nowhere')}?dryRun=All`, configMap('a')), 404, 'NotFound');
    refused(await client.post(`${path}?dryRun=Some`, configMap('b')), 400, 'BadRequest', /dryRun/);
    created(await client.post(`${path}?dryRun=`, configMap('b')));
    ok(await client.get(`${path}/b`));
  });
}

/** Objects with these labels, and what each selector finds of them. */
const LABELLED = { a: { app: 'x', tier: 'front', n: '5' }, b: { app: 'y', n: '10' }, c: { tier: 'back' }, d: {} };
const LABEL_SELECTORS: readonly (readonly [string, string])[] = [
  ['app=x', 'a'],
  ['app==x', 'a'],
  ['app!=x', 'bcd'],
  ['app in (x,y)', 'ab'],
  ['app in (z)', ''],
  ['app notin (x)', 'bcd'],
  ['app', 'ab'],
  ['!app', 'cd'],
  ['app,tier', 'a'],
  ['app=x,tier=front', 'a'],
  ['app=x,tier=back', ''],
  ['!app,!tier', 'd'],
  ['n>5', 'b'],
  ['n<10', 'a'],
  ['app=', ''],
  ['app in (x,),tier', 'a'],
  [' app = x ', 'a'],
  ['', 'abcd'],
];

function labelSelectors(server: Server): void {
  let namespace = '';
  before(async () => {
    namespace = await newNamespace(server().client);
    for (const [name, labels] of Object.entries(LABELLED))
      await createConfigMap(server().client, namespace, name, { labels });
  });
  for (const [selector, names] of LABEL_SELECTORS) {
    it(`"${selector}" finds ${names === '' ? 'nothing' : names}`, async () => {
      const path = `${configMapsIn(namespace)}?labelSelector=${encodeURIComponent(selector)}`;
      assert.equal(namesIn(ok(await server().client.get(path))).join(''), names);
    });
  }
}

/** Collection, body, field selectors that find it, and those that do not. */
const FIELD_SELECTORS: readonly (readonly [string, object, readonly string[], readonly string[]])[] = [
  [
    '/api/v1/namespaces/NS/pods',
    pod('x', { nodeName: 'n1', restartPolicy: 'Never', schedulerName: 's', serviceAccountName: 'sa' }),
    [
      'metadata.name=x',
      'metadata.namespace=NS',
      'spec.nodeName=n1',
      'spec.host=n1',
      'spec.restartPolicy==Never',
      'spec.schedulerName=s,spec.serviceAccountName=sa',
      'status.phase=Pending',
      'status.phase!=Running',
      'status.podIP=',
      'status.nominatedNodeName=',
    ],
    [
      'metadata.name=y',
      'spec.nodeName!=n1',
      'status.phase=Running',
      'status.podIP=1.2.3.4',
      'metadata.namespace=other',
    ],
  ],
  [
    '/api/v1/nodes',
    { metadata: { name: 'NS' } },
    ['spec.unschedulable=false,metadata.name=NS'],
    ['spec.unschedulable=true'],
  ],
  ['/api/v1/namespaces/NS/secrets', { metadata: { name: 'x' } }, ['type=Opaque'], ['type=other']],
  [
    '/api/v1/namespaces/NS/replicationcontrollers',
    { metadata: { name: 'x' }, spec: { replicas: 1, selector: { a: 'b' }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, // prettier-ignore
    ['status.replicas=0'],
    ['status.replicas=1'],
  ],
  [
    '/api/v1/namespaces/NS/events',
    { metadata: { name: 'x' }, reason: 'R', type: 'Normal', source: { component: 'k' }, involvedObject: { kind: 'Pod', name: 'p', namespace: 'NS', uid: 'u' } }, // prettier-ignore
    ['involvedObject.kind=Pod,involvedObject.name=p', 'involvedObject.uid=u', 'reason=R,type=Normal', 'source=k'],
    ['involvedObject.kind=Node', 'reason=S', 'type!=Normal'],
  ],
  ['/apis/batch/v1/namespaces/NS/jobs', { metadata: { name: 'x' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } }, ['status.successful=0'], ['status.successful=1']], // prettier-ignore
  [
    `/apis/${words.translate('certificates.platform.io')}/v1/certificatesigningrequests`,
    {
      metadata: { name: 'NS' },
      spec: { signerName: 'example.com/s', request: SIGNING_REQUEST, usages: ['client auth'] },
    },
    ['spec.signerName=example.com/s,metadata.name=NS'],
    ['spec.signerName=example.com/other'],
  ],
];

function fieldSelectors(server: Server): void {
  for (const [collection, body, found, notFound] of FIELD_SELECTORS) {
    it(`select ${collection} by ${found.concat(notFound).length} selectors`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const here = (text: string): string => text.replaceAll('NS', namespace);
      const path = here(collection);
      const { name } = created(await client.post(path, here(JSON.stringify(body)))).metadata;
      const select = async (selector: string): Promise<string[]> =>
        namesIn(ok(await client.get(`${path}?fieldSelector=${encodeURIComponent(here(selector))}`)));
      for (const selector of found) assert.deepEqual(await select(selector), [name], selector);
      for (const selector of notFound) assert.ok(!(await select(selector)).includes(name), selector);
      refused(await client.get(`${path}?fieldSelector=spec.nonsense%3Dx`), 400, 'BadRequest', /spec\.nonsense/);
    });
  }
}

function versions(server: Server): void {
  it('an event is one object in the core group and in its own', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const group = `/apis/${words.translate('events.platform.io')}/v1/namespaces/${namespace}/events`;
    const core = `/api/v1/namespaces/${namespace}/events`;
    created(
      await client.post(core, {
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', name: 'p', namespace },
        reason: 'R',
        message: 'what happened',
        type: 'Normal',
        source: { component: 'c', host: 'h' },
        count: 3,
      }),
    );
    const seen = ok(await client.get(`${group}/e`));
    const { regarding, note, deprecatedSource, deprecatedCount } = seen;
    assert.equal(seen.apiVersion, `${words.translate('events.platform.io')}/v1`);
    assert.deepEqual(
      [regarding, note, deprecatedSource, deprecatedCount],
      [{ kind: 'Pod', name: 'p', namespace }, 'what happened', { component: 'c', host: 'h' }, 3],
    );
    assert.equal(seen['involvedObject'], undefined);
    assert.equal(ok(await client.get(`${core}/e`)).metadata.resourceVersion, seen.metadata.resourceVersion);
    ok(await client.delete(`${group}/e`));
    refused(await client.get(`${core}/e`), 404, 'NotFound');
  });

  it('an endpoint slice has its older and its newer form', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const group = words.translate('discovery.platform.io');
    const at = (version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/endpointslices`;
    const endpoint = { addresses: ['10.0.0.1'], nodeName: 'n1', zone: 'z1' };
    const body = { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [endpoint], ports: [] };
    created(await client.post(at('v1'), body));
    const older = ok(await client.get(`${at('v1beta1')}/s`));
    assert.equal(older.apiVersion, `${group}/v1beta1`);
    const [shown] = older['endpoints'] as { topology?: Record<string, string>; nodeName?: string; zone?: string }[];
    assert.equal(shown?.zone, undefined);
    assert.ok(Object.values(shown?.topology ?? {}).includes('z1'), JSON.stringify(shown));
    ok(await client.put(`${at('v1beta1')}/s`, { ...older, metadata: { ...older.metadata, labels: { x: 'y' } } }));
    const newer = ok(await client.get(`${at('v1')}/s`));
    const [again] = newer['endpoints'] as { zone?: string; nodeName?: string }[];
    assert.deepEqual([again?.zone, again?.nodeName, newer.metadata.labels], ['z1', 'n1', { x: 'y' }]);
  });

  it('an autoscaler keeps what the older version cannot say', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`; // prettier-ignore
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    ];
    const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
    created(
      await client.post(at('v2'), { metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 3, metrics } }),
    );
    const one = ok(await client.get(`${at('v1')}/h`));
    assert.deepEqual([one.apiVersion, one.spec['targetCPUUtilizationPercentage']], ['autoscaling/v1', 60]);
    ok(await client.put(`${at('v1')}/h`, { ...one, spec: { ...one.spec, maxReplicas: 4 } }));
    const two = ok(await client.get(`${at('v2')}/h`));
    const byName = (list: unknown): string[] => (list as { resource: { name: string } }[]).map((m) => m.resource.name).sort(); // prettier-ignore
    assert.deepEqual([two.spec['maxReplicas'], byName(two.spec['metrics'])], [4, ['cpu', 'memory']]);
    assert.deepEqual(ok(await client.patch(`${at('v2beta2')}/h`, { spec: { minReplicas: 2 } })).spec['minReplicas'], 2);
    assert.equal(namesIn(ok(await client.get(at('v2beta1')))).join(), 'h');
  });
}

const MISSING = 'no-such-namespace';

async function makeFirstNamespaces(client: Client): Promise<void> {
  const { system, public: publicOne, nodeLease } = words.namespaces;
  const expected = ['default', nodeLease, publicOne, system].sort();
  const names = namesIn(ok(await client.get('/api/v1/namespaces')));
  for (const name of expected) assert.ok(names.includes(name), name);
}

function namespaces(server: Server): void {
  it('the first ones are there and some of them stay', async () => {
    const { client } = server();
    await makeFirstNamespaces(client);
    for (const name of ['default', words.namespaces.system, words.namespaces.public]) {
      refused(await client.delete(`/api/v1/namespaces/${name}`), 403, 'Forbidden', /may not be deleted/);
      const { status, spec, metadata: m } = ok(await client.get(`/api/v1/namespaces/${name}`));
      assert.deepEqual([status, m.deletionTimestamp], [{ phase: 'Active' }, undefined]);
      assert.deepEqual(spec['finalizers'], [words.namespaceFinalizer]);
      assert.equal(m.labels?.[words.namespaceNameLabel], name);
    }
  });

  it('nothing is created in one that is not there', async () => {
    const { client } = server();
    const reply = await client.post(configMapsIn(MISSING), configMap('a'));
    const { details } = refused(reply, 404, 'NotFound', /^namespaces "no-such-namespace" not found$/);
    assert.deepEqual(details, { name: MISSING, kind: 'namespaces' });
    assert.deepEqual(ok(await client.get(configMapsIn(MISSING))).items, []);
  });

  it('one that is just made can be used at once', async () => {
    const { client } = server();
    for (let i = 0; i < 20; i++) await createConfigMap(client, await newNamespace(client), 'a');
  });

  it('deletion marks it, it takes nothing new, and it goes when its finalizers have gone', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}`;
    await createConfigMap(client, namespace, 'old');
    const marked = mark(await client.delete(path));
    assert.equal((marked.status as { phase: string }).phase, 'Terminating');
    const reply = await client.post(configMapsIn(namespace), configMap('new'));
    const { details } = refused(reply, 403, 'Forbidden', /is being terminated/);
    assert.equal(details.causes?.[0]?.reason, 'NamespaceTerminating');
    ok(await client.patch(`${configMapsIn(namespace)}/old`, { data: { a: 'still' } }));
    ok(await client.delete(`${configMapsIn(namespace)}/old`));
    const main = ok(await client.put(path, { ...marked, spec: { finalizers: [] } }));
    assert.deepEqual(main.spec['finalizers'], [words.namespaceFinalizer], 'only /finalize takes them off');
    ok(await client.put(`${path}/finalize`, { ...main, spec: { finalizers: [] } }));
    refused(await client.get(path), 404, 'NotFound');
    created(await client.post('/api/v1/namespaces', { metadata: { name: namespace } }));
    await createConfigMap(client, namespace, 'new');
  });

  it('with finalizers of its own stays until those have gone as well', async () => {
    const { client } = server();
    const name = `held-${process.pid}`;
    created(await client.post('/api/v1/namespaces', { metadata: { name, finalizers: ['example.com/x'] } }));
    const path = `/api/v1/namespaces/${name}`;
    const marked = mark(await client.delete(path));
    ok(await client.put(`${path}/finalize`, { ...marked, spec: { finalizers: [] } }));
    ok(await client.get(path));
    ok(await client.patch(path, { metadata: { finalizers: null } }));
    refused(await client.get(path), 404, 'NotFound');
  });

  it('events go when their time is over', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = `/api/v1/namespaces/${namespace}/events`;
    const watch = await client.watch(`${path}?watch=1`);
    created(await client.post(path, { metadata: { name: 'e' }, involvedObject: { namespace } }));
    assert.deepEqual((await watch.take(2)).map(({ type }) => type), ['ADDED', 'DELETED']); // prettier-ignore
    watch.close();
    await eventually(async () => ((await client.get(`${path}/e`)).code === 404 ? true : undefined));
  });
}

onBothStores('writes', ['--event-ttl=3s'], (server) => {
  describe('metadata', () => metadata(server));
  describe('conflicts', () => conflicts(server));
  describe('parts', () => parts(server));
  describe('immutable parts', () => immutables(server));
  describe('deletion', () => deletions(server));
  describe('deletion of collections', () => collections(server));
  describe('patches', () => patches(server));
  describe('dry runs', () => dryRuns(server));
  describe('label selectors', () => labelSelectors(server));
  describe('field selectors', () => fieldSelectors(server));
  describe('versions of one object', () => versions(server));
  describe('namespaces', () => namespaces(server));
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
