import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client, Reply } from './tools/client.js';
import { JSON_PATCH, MERGE } from './tools/client.js';
import type { Document } from './tools/document.js';
import { created, deployment, deploymentsIn, newNamespace, ok, pod, refused } from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';
import { SIGNING_REQUEST } from './tools/signing-request.js';

type Server = () => TestServer;

const words = vocabulary('platform');
const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const budgetsIn = (namespace: string): string => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

interface ScaleTable {
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Document }[];
}

function scales(server: Server): void {
  it('shows replicas wanted and seen, and the selector as text', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    const { metadata } = created(await client.post(path, deployment('d', { replicas: 2 })));
    ok(await client.patch(`${path}/d/status`, { status: { replicas: 1 } }));
    const scale = ok(await client.get(`${path}/d/scale`));
    assert.deepEqual([scale.kind, scale.apiVersion], ['Scale', 'autoscaling/v1']);
    assert.deepEqual([scale.spec, scale.status], [{ replicas: 2 }, { replicas: 1, selector: 'app=d' }]);
    assert.deepEqual([scale.metadata.name, scale.metadata.uid], ['d', metadata.uid]);
  });

  it('is shown as a row, and as metadata alone', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    const { metadata } = created(await client.post(path, deployment('d', { replicas: 2 })));
    const as = (view: string, query = ''): Promise<Reply> =>
      client.get(`${path}/d/scale${query}`, { accept: `application/json;as=${view};g=${words.metaGroup};v=v1` });
    const table = ok(await as('Table')) as unknown as ScaleTable;
    const columns = table.columnDefinitions.map(({ name, type }) => `${name} ${type}`);
    assert.deepEqual(columns, ['Name string', 'Desired integer', 'Available integer', 'Age string']);
    const [row] = table.rows;
    assert.deepEqual([table.rows.length, row?.cells.slice(0, 3)], [1, ['d', 2, 0]]);
    assert.deepEqual([row?.object.kind, row?.object.metadata.uid], ['PartialObjectMetadata', metadata.uid]);
    const whole = ok(await as('Table', '?includeObject=Object')) as unknown as ScaleTable;
    assert.equal(whole.rows[0]?.object.kind, 'Scale');
    refused(await as('Table', '?includeObject=All'), 400, 'BadRequest', /includeObject/);
    const partial = ok(await as('PartialObjectMetadata'));
    assert.deepEqual([partial.kind, partial.metadata.uid, partial.spec], ['PartialObjectMetadata', metadata.uid, undefined]); // prettier-ignore
    const patched = await client.request('PATCH', `${path}/d/scale`, {
      body: { spec: { replicas: 3 } },
      type: MERGE,
      headers: { accept: `application/json;as=Chart;g=${words.metaGroup};v=v1` },
    });
    refused(patched, 406, 'NotAcceptable');
    assert.deepEqual(ok(await client.get(`${path}/d/scale`)).spec, { replicas: 2 });
  });

  it('is written with PUT and every kind of patch, and moves the generation', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(path, deployment('d')));
    const scale = ok(await client.get(`${path}/d/scale`));
    const put = ok(await client.put(`${path}/d/scale`, { ...scale, spec: { replicas: 3 } }));
    assert.deepEqual(put.spec, { replicas: 3 });
    ok(await client.patch(`${path}/d/scale`, { spec: { replicas: 4 } }));
    const replace = [{ op: 'replace', path: '/spec/replicas', value: 5 }];
    ok(await client.patch(`${path}/d/scale`, replace, JSON_PATCH));
    const object = ok(await client.get(`${path}/d`));
    assert.deepEqual([object.spec['replicas'], object.metadata.generation], [5, 4]);
  });

  it('is applied: the replicas are owned through it, and contested', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(`${path}?fieldManager=creator`, deployment('d', { replicas: 2 })));
    const config = (spec: object): object => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec }); // prettier-ignore
    const apply = (spec: object, query = ''): Promise<Reply> =>
      client.patch(`${path}/d/scale?fieldManager=scaler${query}`, config(spec), 'application/apply-patch+yaml');
    refused(await apply({ replicas: 5 }), 409, 'Conflict', /creator.*spec\.replicas/s);
    assert.deepEqual(ok(await apply({ replicas: 5 }, '&force=true&dryRun=All')).spec, { replicas: 5 });
    assert.equal(ok(await client.get(`${path}/d`)).spec['replicas'], 2);
    const scaled = ok(await apply({ replicas: 5 }, '&force=true'));
    assert.deepEqual([scaled.kind, scaled.spec], ['Scale', { replicas: 5 }]);
    const { spec, metadata } = ok(await client.get(`${path}/d`));
    assert.equal(spec['replicas'], 5);
    const [entry] = (metadata['managedFields'] as readonly Record<string, unknown>[]).filter((e) => e['manager'] === 'scaler'); // prettier-ignore
    assert.deepEqual(
      [entry?.['operation'], entry?.['subresource'], entry?.['fieldsV1']],
      ['Apply', 'scale', { 'f:spec': { 'f:replicas': {} } }],
    );
    assert.deepEqual(ok(await apply({ replicas: 6 })).spec, { replicas: 6 });
    refused(await apply({ replicas: -1 }), 422, 'Invalid', /spec\.replicas/);
    refused(await apply({ replicas: 1, colour: 1 }), 400, 'BadRequest', /spec\.colour: field not declared in schema/);
    refused(await client.patch(`${path}/d/scale`, config({}), 'application/apply-patch+yaml'), 422, 'Invalid', /fieldManager/); // prettier-ignore
    refused(await client.patch(`${path}/nothing/scale?fieldManager=m`, { ...config({ replicas: 1 }), metadata: { name: 'nothing' } }, 'application/apply-patch+yaml'), 404, 'NotFound'); // prettier-ignore
  });

  it('refuses what is negative, old, for another, or no scale', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(path, deployment('d')));
    const scale = ok(await client.get(`${path}/d/scale`));
    refused(
      await client.put(`${path}/d/scale`, { ...scale, spec: { replicas: -1 } }),
      422,
      'Invalid',
      /spec\.replicas/,
    );
    ok(await client.put(`${path}/d/scale`, { ...scale, spec: { replicas: 2 } }));
    refused(await client.put(`${path}/d/scale`, { ...scale, spec: { replicas: 3 } }), 409, 'Conflict');
    const other = { ...scale, metadata: { ...scale.metadata, name: 'other' } };
    refused(await client.put(`${path}/d/scale`, other), 400, 'BadRequest');
    refused(await client.put(`${path}/d/scale`, { ...scale, kind: 'Deployment' }), 400, 'BadRequest');
    refused(await client.get(`${path}/nobody/scale`), 404, 'NotFound');
    assert.equal(ok(await client.get(`${path}/d`)).spec['replicas'], 2);
  });

  it('stays as it is in a dry run', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(path, deployment('d')));
    const shown = ok(await client.patch(`${path}/d/scale?dryRun=All`, { spec: { replicas: 9 } }));
    assert.deepEqual(shown.spec, { replicas: 9 });
    assert.equal(ok(await client.get(`${path}/d`)).spec['replicas'], 1);
  });

  it('of every kind that has replicas', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
    const kinds: readonly (readonly [string, string, string, object])[] = [
      ['/api/v1', 'replicationcontrollers', 'ReplicationController', { a: 'b' }],
      ['/apis/apps/v1', 'replicasets', 'ReplicaSet', { matchLabels: { a: 'b' } }],
      ['/apis/apps/v1', 'statefulsets', 'StatefulSet', { matchLabels: { a: 'b' } }],
    ];
    for (const [root, resource, kind, selector] of kinds) {
      const path = `${root}/namespaces/${namespace}/${resource}`;
      const spec = { replicas: 1, selector, template, ...(kind === 'StatefulSet' ? { serviceName: 's' } : {}) };
      created(
        await client.post(path, { kind, apiVersion: root.replace(/^\/apis?\//, ''), metadata: { name: 'x' }, spec }),
      );
      ok(await client.patch(`${path}/x/scale`, { spec: { replicas: 2 } }));
      const scale = ok(await client.get(`${path}/x/scale`));
      assert.deepEqual([scale.spec, scale.status], [{ replicas: 2 }, { replicas: 0, selector: 'a=b' }], kind);
    }
  });
}

function bindings(server: Server): void {
  const binding = (name: string, node: string, more: object = {}): object => ({
    kind: 'Binding',
    apiVersion: 'v1',
    metadata: { name, ...more },
    target: { kind: 'Node', name: node },
  });

  it('put a pod on a node, once', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    created(await client.post(path, pod('p')));
    const reply = await client.post(`${path}/p/binding`, binding('p', 'node-1', { annotations: { a: 'b' } }));
    assert.deepEqual([created(reply).kind, reply.body['status']], ['Status', 'Success']);
    const bound = ok(await client.get(`${path}/p`));
    assert.deepEqual([bound.spec['nodeName'], bound.metadata.annotations], ['node-1', { a: 'b' }]);
    const { conditions } = bound.status as { conditions: { type: string; status: string }[] };
    assert.deepEqual(conditions.map(({ type, status }) => [type, status]), [['PodScheduled', 'True']]); // prettier-ignore
    refused(await client.post(`${path}/p/binding`, binding('p', 'node-2')), 409, 'Conflict', /already assigned to node "node-1"/); // prettier-ignore
  });

  it('of the older form name the pod themselves', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    created(await client.post(podsIn(namespace), pod('p')));
    created(await client.post(`/api/v1/namespaces/${namespace}/bindings`, binding('p', 'node-1')));
    assert.equal(ok(await client.get(`${podsIn(namespace)}/p`)).spec['nodeName'], 'node-1');
  });

  it('without a node, to something else, or of nobody are refused', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    created(await client.post(path, pod('p')));
    const target = { ...binding('p', ''), target: { kind: 'Pod' } };
    refused(await client.post(`${path}/p/binding`, target), 422, 'Invalid', /target\.kind.*target\.name/s);
    refused(await client.post(`${path}/nobody/binding`, binding('nobody', 'n')), 404, 'NotFound');
    refused(await client.post(`${path}/p/binding`, binding('q', 'n')), 400, 'BadRequest');
  });

  it('of one pod by many at once: one wins', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    created(await client.post(path, pod('p')));
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => client.post(`${path}/p/binding`, binding('p', `node-${i}`))),
    );
    assert.deepEqual(replies.map((r) => r.code).sort(), [201, ...Array.from({ length: 9 }, () => 409)]);
    const winner = replies.findIndex((r) => r.code === 201);
    assert.equal(ok(await client.get(`${path}/p`)).spec['nodeName'], `node-${winner}`);
  });
}

/** A pod that runs and is ready, or not. */
async function runningPod(client: Client, path: string, name: string, ready = true): Promise<void> {
  created(await client.post(path, pod(name, {}, { labels: { app: 'x' } })));
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  ok(await client.patch(`${path}/${name}/status`, { status: { phase: 'Running', conditions } }));
}

async function budget(client: Client, path: string, status: object): Promise<void> {
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'x' } } };
  const made = await client.post(path, { kind: 'PodDisruptionBudget', apiVersion: 'policy/v1', metadata: { name: 'b' }, spec }); // prettier-ignore
  const { metadata } = created(made);
  const counts = { observedGeneration: metadata.generation, expectedPods: 2, currentHealthy: 2, desiredHealthy: 1 };
  ok(await client.patch(`${path}/b/status`, { status: { ...counts, ...status } }));
}

const statusOf = async (client: Client, path: string): Promise<Record<string, unknown>> =>
  ok(await client.get(`${path}/b`)).status as Record<string, unknown>;

function evictions(server: Server): void {
  const eviction = (name: string, more: object = {}, version = 'v1'): object => ({
    kind: 'Eviction',
    apiVersion: `policy/${version}`,
    metadata: { name },
    ...more,
  });

  it('delete a pod that no budget covers, in both versions', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    for (const version of ['v1', 'v1beta1']) {
      await runningPod(client, path, 'p');
      const reply = await client.post(`${path}/p/eviction`, eviction('p', {}, version));
      assert.deepEqual([created(reply).kind, reply.body['status']], ['Status', 'Success']);
      assert.equal((await client.get(`${path}/p`)).code, 404);
    }
  });

  it('take what a budget allows, and wait when it allows no more', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = podsIn(namespace);
    for (const name of ['p', 'q']) await runningPod(client, path, name);
    await budget(client, budgetsIn(namespace), { disruptionsAllowed: 1 });
    created(await client.post(`${path}/p/eviction`, eviction('p')));
    const status = await statusOf(client, budgetsIn(namespace));
    assert.equal(status['disruptionsAllowed'] ?? 0, 0);
    assert.deepEqual(Object.keys(status['disruptedPods'] as object), ['p']);
    const reply = await client.post(`${path}/q/eviction`, eviction('q'));
    const { details } = refused(reply, 429, 'TooManyRequests', /would violate the pod's disruption budget/) as unknown as { details: { causes: object[] } }; // prettier-ignore
    assert.deepEqual(details.causes, [
      { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 2 currently' },
    ]);
    ok(await client.get(`${path}/q`));
  });

  it('never take more than a budget allows, however many come at once', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = podsIn(namespace);
    const names = Array.from({ length: 8 }, (_, i) => `p${i}`);
    for (const name of names) await runningPod(client, path, name);
    await budget(client, budgetsIn(namespace), { disruptionsAllowed: 3 });
    const codes = await Promise.all(
      names.map(async (n) => (await client.post(`${path}/${n}/eviction`, eviction(n))).code),
    );
    assert.deepEqual(codes.sort(), [201, 201, 201, 429, 429, 429, 429, 429]);
    assert.equal(ok(await client.get(path)).items.length, 5);
  });

  it('wait for a budget that has not been counted since it changed', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = podsIn(namespace);
    await runningPod(client, path, 'p');
    await budget(client, budgetsIn(namespace), { disruptionsAllowed: 1, observedGeneration: 0 });
    const reply = await client.post(`${path}/p/eviction`, eviction('p'));
    refused(reply, 429, 'TooManyRequests');
    assert.equal(reply.headers['retry-after'], '10');
  });

  it('of what is not ready or over ask nobody, where enough others are ready', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = podsIn(namespace);
    await runningPod(client, path, 'sick', false);
    created(await client.post(path, pod('pending', {}, { labels: { app: 'x' } })));
    await budget(client, budgetsIn(namespace), { disruptionsAllowed: 0 });
    for (const name of ['sick', 'pending']) {
      created(await client.post(`${path}/${name}/eviction`, eviction(name)));
      assert.equal((await client.get(`${path}/${name}`)).code, 404);
    }
  });

  it('in a dry run take nothing', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = podsIn(namespace);
    await runningPod(client, path, 'p');
    await budget(client, budgetsIn(namespace), { disruptionsAllowed: 1 });
    created(await client.post(`${path}/p/eviction`, eviction('p', { deleteOptions: { dryRun: ['All'] } })));
    created(await client.post(`${path}/p/eviction?dryRun=All`, eviction('p')));
    ok(await client.get(`${path}/p`));
    assert.equal((await statusOf(client, budgetsIn(namespace)))['disruptionsAllowed'], 1);
  });

  it('obey the options of the deletion', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    await runningPod(client, path, 'p');
    const another = { preconditions: { uid: 'another' } };
    refused(await client.post(`${path}/p/eviction`, eviction('p', { deleteOptions: another })), 409, 'Conflict');
    refused(await client.post(`${path}/p/eviction`, eviction('q')), 400, 'BadRequest');
    refused(await client.post(`${path}/nobody/eviction`, eviction('nobody')), 404, 'NotFound');
    ok(await client.get(`${path}/p`));
  });

  it('under two budgets are refused: nobody knows which counts', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = podsIn(namespace);
    await runningPod(client, path, 'p');
    await budget(client, budgetsIn(namespace), { disruptionsAllowed: 1 });
    const spec = { selector: {} };
    created(await client.post(budgetsIn(namespace), { kind: 'PodDisruptionBudget', apiVersion: 'policy/v1', metadata: { name: 'c' }, spec })); // prettier-ignore
    refused(await client.post(`${path}/p/eviction`, eviction('p')), 500, 'InternalError', /more than one/);
  });
}

function approvals(server: Server): void {
  const path = `/apis/${words.groups.certificates}/v1/certificatesigningrequests`;
  const csr = (name: string): object => ({
    kind: 'CertificateSigningRequest',
    apiVersion: `${words.groups.certificates}/v1`,
    metadata: { name },
    spec: { request: SIGNING_REQUEST, signerName: 'example.com/signer', usages: ['client auth'] },
  });
  const approved = { type: 'Approved', status: 'True', reason: 'Because', message: 'I say so' };

  it('writes conditions and nothing else', async () => {
    const { client } = server();
    const name = `csr-${process.pid}-${Math.random().toString(36).slice(2)}`;
    const reply = await client.post(path, csr(name));
    created(reply);
    const object = ok(await client.get(`${path}/${name}/approval`));
    const status = { conditions: [approved], certificate: 'LS0tLS1CRUdJTi==' };
    const after = ok(await client.put(`${path}/${name}/approval`, { ...object, status }));
    const { conditions, certificate } = after.status as { conditions: Record<string, unknown>[]; certificate?: string };
    assert.equal(certificate, undefined);
    assert.deepEqual([conditions[0]?.['type'], conditions[0]?.['reason']], ['Approved', 'Because']);
  });
}

onBothStores('the scale', [], scales);
onBothStores('bindings', [], bindings);
onBothStores('evictions', [], evictions);
onBothStores('the approval', [], approvals);
