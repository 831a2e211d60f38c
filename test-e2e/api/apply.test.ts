import assert from 'node:assert/strict';
import type { Client, Reply } from './tools/client.js';
import { JSON_PATCH } from './tools/client.js';
import type { Document } from './tools/document.js';
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

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: string;
  readonly fieldsV1: Record<string, unknown>;
  readonly subresource?: string;
}

const APPLY = 'application/apply-patch+yaml';
const STRATEGIC = 'application/strategic-merge-patch+json';

const applyAs = (client: Client, manager: string, path: string, config: unknown, query = ''): Promise<Reply> =>
  client.patch(`${path}?fieldManager=${manager}${query}`, config, APPLY);

const entries = ({ metadata }: Document): readonly Entry[] => (metadata['managedFields'] ?? []) as readonly Entry[];

/** What one manager owns, or undefined. */
const ownedBy = (object: Document, manager: string, subresource?: string): Record<string, unknown> | undefined =>
  entries(object).find((e) => e.manager === manager && e.subresource === subresource)?.fieldsV1;

const owners = (object: Document): string[] => entries(object).map((e) => `${e.manager} ${e.operation}`);

function applying(server: Server): void {
  it('creates what is not there, and is the owner of what it said', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const object = created(await applyAs(client, 'one', path, configMap('a', { data: { x: '1' } })));
    assert.equal(entries(object).length, 1);
    const [entry] = entries(object);
    assert.deepEqual(
      [entry?.manager, entry?.operation, entry?.apiVersion, entry?.fieldsType],
      ['one', 'Apply', 'v1', 'FieldsV1'],
    );
    assert.deepEqual(entry?.fieldsV1, { 'f:data': { 'f:x': {} } });
  });

  it('takes YAML, and needs no name where the path has it', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const object = created(await applyAs(client, 'one', path, 'apiVersion: v1\nkind: ConfigMap\ndata:\n  x: "1"\n'));
    assert.deepEqual([object.metadata.name, object.data], ['a', { x: '1' }]);
  });

  it('that changes nothing writes nothing: no version, no event, no new time', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const config = configMap('a', { data: { x: '1' }, labels: { l: '1' } });
    const first = created(await applyAs(client, 'one', path, config));
    assert.deepEqual(ok(await applyAs(client, 'one', path, config)), first);
    assert.deepEqual(ok(await client.get(path)), first);
  });

  it('keeps its hands off defaults and normal forms: the same configuration is no change', async () => {
    const { client } = server();
    const path = `${deploymentsIn(await newNamespace(client))}/d`;
    const resources = { limits: { cpu: '1000m', memory: '1024Mi' } };
    const template = {
      metadata: { labels: { app: 'd' } },
      spec: { containers: [{ name: 'main', image: 'image:1', resources, ports: [{ containerPort: 80 }] }] },
    };
    const config = deployment('d', { template });
    const first = created(await applyAs(client, 'one', path, config));
    const again = ok(await applyAs(client, 'one', path, config));
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
  });

  it('goes by the path where the configuration does not say what it is', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const said = created(await applyAs(client, 'one', path, { metadata: { name: 'a' }, data: { x: '1' } }));
    assert.deepEqual([said['kind'], said['apiVersion'], said.data], ['ConfigMap', 'v1', { x: '1' }]);
    for (const other of [{ kind: 'Secret' }, { apiVersion: 'v2' }]) {
      refused(await applyAs(client, 'one', path, { ...other, metadata: { name: 'a' } }), 400, 'BadRequest');
    }
  });

  it('meets a conflict that names manager and field, and leaves the object alone', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const before = created(await applyAs(client, 'one', path, configMap('a', { data: { x: '1', y: '1' } })));
    const reply = await applyAs(client, 'two', path, configMap('a', { data: { x: '2', z: '2' } }));
    const { details } = refused(reply, 409, 'Conflict', /conflict with "one".*\.data\.x/s) as unknown as {
      details: { causes: { reason: string; message: string; field: string }[] };
    };
    assert.deepEqual(
      details.causes.map(({ reason, field }) => [reason, field]),
      [['FieldManagerConflict', '.data.x']],
    );
    assert.match(details.causes[0]?.message ?? '', /"one"/);
    assert.deepEqual(ok(await client.get(path)), before);
  });

  it('with force takes the field from everybody else', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    await applyAs(client, 'one', path, configMap('a', { data: { x: '1', y: '1' } }));
    const object = ok(await applyAs(client, 'two', path, configMap('a', { data: { x: '2' } }), '&force=true'));
    assert.equal(object.data['x'], '2');
    assert.deepEqual(ownedBy(object, 'one'), { 'f:data': { 'f:y': {} } });
    assert.deepEqual(ownedBy(object, 'two'), { 'f:data': { 'f:x': {} } });
  });

  it('shares what it agrees on, releases what it leaves out, and removes what nobody else owns', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    await applyAs(client, 'one', path, configMap('a', { data: { shared: '1', own: '1' } }));
    const both = ok(await applyAs(client, 'two', path, configMap('a', { data: { shared: '1' } })));
    assert.deepEqual(ownedBy(both, 'two'), { 'f:data': { 'f:shared': {} } });
    const released = ok(await applyAs(client, 'one', path, configMap('a', { data: { other: '1' } })));
    assert.deepEqual(released.data, { other: '1', shared: '1' });
    const gone = ok(await applyAs(client, 'two', path, configMap('a')));
    assert.deepEqual(gone.data, { other: '1' });
    assert.deepEqual(owners(gone), ['one Apply']);
  });

  it('owns the items of a list by their keys', async () => {
    const { client } = server();
    const path = `${deploymentsIn(await newNamespace(client))}/d`;
    created(await applyAs(client, 'one', path, deployment('d')));
    const sidecar = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } },
    };
    const both = ok(await applyAs(client, 'two', path, sidecar));
    const names = (object: Document): unknown =>
      (object.spec as { template: { spec: { containers: { name: string }[] } } }).template.spec.containers.map(
        (c) => c.name,
      );
    assert.deepEqual(names(both), ['main', 'side']);
    assert.deepEqual(ownedBy(both, 'two'), {
      'f:spec': {
        'f:template': {
          'f:spec': { 'f:containers': { 'k:{"name":"side"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
        },
      },
    });
    const less = ok(await applyAs(client, 'two', path, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }));
    assert.deepEqual(names(less), ['main']);
  });

  it('obeys uid and resourceVersion in the configuration', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const { metadata } = created(await applyAs(client, 'one', path, configMap('a', { data: { x: '1' } })));
    const { resourceVersion } = metadata;
    const config = (more: object): object => configMap('a', { data: { x: '2' }, metadata: { ...more } });
    refused(await applyAs(client, 'one', path, config({ uid: 'another' })), 409, 'Conflict');
    ok(await applyAs(client, 'one', path, config({ resourceVersion })));
    refused(await applyAs(client, 'one', path, config({ resourceVersion })), 409, 'Conflict');
  });

  it('does not write in a dry run, but shows what it would write', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    created(await applyAs(client, 'one', path, configMap('a', { data: { x: '1' } }), '&dryRun=All'));
    assert.equal((await client.get(path)).code, 404);
    const before = created(await applyAs(client, 'one', path, configMap('a', { data: { x: '1' } })));
    const shown = ok(await applyAs(client, 'one', path, configMap('a', { data: { x: '2' } }), '&dryRun=All'));
    assert.equal(shown.data['x'], '2');
    assert.deepEqual(ok(await client.get(path)), before);
  });

  it('races with others and with itself, and loses nothing', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        applyAs(client, `m${i}`, path, configMap('a', { data: { [`k${i}`]: '1' } })),
      ),
    );
    assert.deepEqual(replies.map((r) => r.code).sort(), [...Array.from({ length: 29 }, () => 200), 201]);
    const object = ok(await client.get(path));
    assert.equal(Object.keys(object.data).length, 30);
    assert.equal(entries(object).length, 30);
  });

  /** Query, body, and what comes of it. */
  const refusals: readonly (readonly [string, unknown, number, string, RegExp])[] = [
    ['', configMap('a'), 422, 'Invalid', /fieldManager: Required value/],
    ['fieldManager=', configMap('a'), 422, 'Invalid', /fieldManager: Required value/],
    [`fieldManager=${'m'.repeat(129)}`, configMap('a'), 422, 'Invalid', /fieldManager: Too long/],
    ['fieldManager=a%07b', configMap('a'), 422, 'Invalid', /printable/],
    ['fieldManager=m', '', 400, 'BadRequest', /no body/],
    ['fieldManager=m', 'a: [', 400, 'BadRequest', /yaml/],
    ['fieldManager=m', '- 1', 400, 'BadRequest', /must be an object/],
    ['fieldManager=m', { ...configMap('a'), apiVersion: 'v2' }, 400, 'BadRequest', /API version/],
    ['fieldManager=m', { ...configMap('a'), kind: 'Secret' }, 400, 'BadRequest', /kind/],
    ['fieldManager=m', configMap('b'), 400, 'BadRequest', /name/],
    ['fieldManager=m', configMap('a', { metadata: { managedFields: [{}] } }), 400, 'BadRequest', /managedFields/],
    ['fieldManager=m', { ...configMap('a'), data: { x: 1 } }, 400, 'BadRequest', /cannot unmarshal/],
    ['fieldManager=m&dryRun=Some', configMap('a'), 400, 'BadRequest', /dryRun/],
    ...['', '&fieldValidation=Ignore', '&fieldValidation=Warn', '&fieldValidation=Strict'].map(
      (how) =>
        [`fieldManager=m${how}`, { ...configMap('a'), colour: 1 }, 400, 'BadRequest', /typed patch object .*: \.colour: field not declared in schema/] as const, // prettier-ignore
    ),
  ];
  for (const [query, body, code, reason, message] of refusals) {
    it(`with ${query.slice(0, 40)} and ${JSON.stringify(body).slice(0, 80)} is ${reason}`, async () => {
      const { client } = server();
      const path = `${configMapsIn(await newNamespace(client))}/a`;
      refused(await client.patch(`${path}?${query}`, body, APPLY), code, reason, message);
      assert.equal((await client.get(path)).code, 404);
    });
  }

  it('refuses a list that names an item twice', async () => {
    const { client } = server();
    const path = `${deploymentsIn(await newNamespace(client))}/d`;
    const container = { name: 'main', image: 'image:1' };
    const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [container, container] } };
    refused(await applyAs(client, 'm', path, deployment('d', { template })), 400, 'BadRequest', /duplicate/i);
  });
}

function ownership(server: Server): void {
  it('of an update belongs to who made it, by name or by the first part of the user agent', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const headers = { 'user-agent': 'kubectl/v1.24.0 (linux/amd64)' };
    const body = configMap('a', { data: { x: '1' } });
    const object = created(await client.request('POST', configMapsIn(namespace), { body, headers }));
    assert.deepEqual(owners(object), ['kubectl Update']);
    const path = `${configMapsIn(namespace)}/a`;
    const patched = ok(await client.patch(`${path}?fieldManager=editor`, { data: { x: '2', y: '1' } }));
    assert.deepEqual(ownedBy(patched, 'editor'), { 'f:data': { 'f:x': {}, 'f:y': {} } });
    assert.deepEqual(ownedBy(patched, 'kubectl'), { 'f:data': {} });
  });

  it('moves with an update, without a conflict', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    await applyAs(client, 'one', path, configMap('a', { data: { x: '1', y: '1' } }));
    const object = ok(await client.patch(`${path}?fieldManager=two`, [{ op: 'replace', path: '/data/x', value: '2' }], JSON_PATCH)); // prettier-ignore
    assert.deepEqual(ownedBy(object, 'one'), { 'f:data': { 'f:y': {} } });
    assert.deepEqual(ownedBy(object, 'two'), { 'f:data': { 'f:x': {} } });
    refused(await applyAs(client, 'one', path, configMap('a', { data: { x: '1', y: '1' } })), 409, 'Conflict', /"two"/);
  });

  it('of the status is apart from that of the rest, which a write of the status does not touch', async () => {
    const { client } = server();
    const path = `${deploymentsIn(await newNamespace(client))}/d`;
    const before = created(await applyAs(client, 'one', path, deployment('d')));
    const body = { status: { replicas: 3 }, spec: { replicas: 9 }, metadata: { labels: { x: 'y' } } };
    const object = ok(await client.patch(`${path}/status?fieldManager=st`, body));
    assert.deepEqual(ownedBy(object, 'one'), ownedBy(before, 'one'));
    assert.deepEqual(ownedBy(object, 'st', 'status'), { 'f:status': { 'f:replicas': {} } });
    const main = ok(
      await client.patch(`${path}?fieldManager=other`, { status: { replicas: 7 }, spec: { paused: true } }),
    );
    assert.deepEqual(ownedBy(main, 'other'), { 'f:spec': { 'f:paused': {} } });
    assert.equal((main.status as { replicas: number }).replicas, 3);
  });

  it('of the number of replicas goes to who scales', async () => {
    const { client } = server();
    const path = `${deploymentsIn(await newNamespace(client))}/d`;
    created(await applyAs(client, 'one', path, deployment('d')));
    ok(await client.patch(`${path}/scale?fieldManager=scaler`, { spec: { replicas: 5 } }));
    const object = ok(await client.get(path));
    assert.deepEqual(ownedBy(object, 'scaler', 'scale'), { 'f:spec': { 'f:replicas': {} } });
    refused(await applyAs(client, 'one', path, deployment('d')), 409, 'Conflict', /\.spec\.replicas/);
  });

  it('is forgotten on request, and only then', async () => {
    const { client } = server();
    const path = `${configMapsIn(await newNamespace(client))}/a`;
    const before = created(await applyAs(client, 'one', path, configMap('a', { data: { x: '1' } })));
    const kept = ok(await client.patch(path, { metadata: { managedFields: [] } }));
    assert.deepEqual(entries(kept), entries(before));
    assert.equal(kept.metadata.resourceVersion, before.metadata.resourceVersion);
    const stripped = ok(await client.patch(path, { metadata: { managedFields: [{}] } }));
    assert.equal(stripped.metadata['managedFields'], undefined);
    ok(await applyAs(client, 'one', path, configMap('a', { data: { x: '1' } })));
    const changed = ok(
      await client.patch(
        `${path}?fieldManager=two`,
        [
          { op: 'replace', path: '/metadata/managedFields', value: [{}] },
          { op: 'add', path: '/data/y', value: '1' },
        ],
        JSON_PATCH,
      ),
    );
    assert.deepEqual(owners(changed), ['two Update']);
    assert.deepEqual(ownedBy(changed, 'two'), { 'f:data': { 'f:y': {} } });
  });

  it('is kept in the version that was written in, and compared across versions', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const at = (version: string): string => `/apis/policy/${version}/namespaces/${namespace}/poddisruptionbudgets/b`;
    const config = (version: string, minAvailable: number): object => ({
      apiVersion: `policy/${version}`,
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: { minAvailable, selector: { matchLabels: { app: 'x' } } },
    });
    created(await applyAs(client, 'old', at('v1beta1'), config('v1beta1', 1)));
    const conflict = await applyAs(client, 'new', at('v1'), config('v1', 2));
    refused(conflict, 409, 'Conflict', /conflict with "old": \.spec\.minAvailable/);
    const object = ok(await applyAs(client, 'new', at('v1'), config('v1', 1)));
    assert.deepEqual(
      entries(object)
        .map((e) => e.apiVersion)
        .sort(),
      ['policy/v1', 'policy/v1beta1'],
    );
  });

  it('of many updaters is merged into one when they are more than ten', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    await createConfigMap(client, namespace, 'a');
    const path = `${configMapsIn(namespace)}/a`;
    for (let i = 0; i < 14; i++) ok(await client.patch(`${path}?fieldManager=m${i}`, { data: { [`k${i}`]: '1' } }));
    const object = ok(await client.get(path));
    assert.ok(entries(object).length <= 11, String(entries(object).length));
    assert.ok(owners(object).includes('ancient-changes Update'), owners(object).join());
    assert.ok(owners(object).includes('m13 Update'));
  });

  it('is given up where an object would outgrow the store with it', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const data = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, i) => [`a-key-of-some-length-${i}-${'k'.repeat(75)}`, 'x'.repeat(10)]),
    );
    const object = created(await client.post(configMapsIn(namespace), configMap('large', { data })));
    assert.equal(object.metadata['managedFields'], undefined);
    const small = await createConfigMap(client, namespace, 'small', { data: { x: '1' } });
    assert.equal(entries(small).length, 1);
  });
}

function strategicPatches(server: Server): void {
  const image = (object: Document): unknown =>
    (object.spec as { template: { spec: { containers: object[] } } }).template.spec.containers;

  it('merge lists by their keys, and delete, replace and order items on request', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(path, deployment('d')));
    const patch = async (containers: readonly object[], more: object = {}): Promise<string[]> => {
      const body = { spec: { template: { spec: { containers, ...more } } } };
      const object = ok(await client.patch(`${path}/d`, body, STRATEGIC));
      return (image(object) as { name: string; image: string }[]).map((c) => `${c.name}=${c.image}`);
    };
    assert.deepEqual((await patch([{ name: 'b', image: 'b:1' }])).sort(), ['b=b:1', 'main=image:1']);
    assert.deepEqual(
      await patch([{ name: 'b', image: 'b:2' }], { '$setElementOrder/containers': [{ name: 'b' }, { name: 'main' }] }),
      ['b=b:2', 'main=image:1'],
    );
    assert.deepEqual(await patch([{ name: 'main', $patch: 'delete' }]), ['b=b:2']);
    assert.deepEqual(await patch([{ $patch: 'replace' }, { name: 'c', image: 'c:1' }]), ['c=c:1']);
  });

  it('belong to who sends them', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(path, deployment('d')));
    const body = { spec: { template: { spec: { containers: [{ name: 'main', image: 'image:2' }] } } } };
    const object = ok(await client.patch(`${path}/d?fieldManager=p`, body, STRATEGIC));
    assert.deepEqual(ownedBy(object, 'p'), {
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"main"}': { 'f:image': {} } } } } },
    });
  });

  it('that cannot be understood are refused', async () => {
    const { client } = server();
    const path = deploymentsIn(await newNamespace(client));
    created(await client.post(path, deployment('d')));
    const body = { spec: { template: { spec: { containers: [{ image: 'nameless' }] } } } };
    refused(await client.patch(`${path}/d`, body, STRATEGIC), 422, 'Invalid', /merge key/);
    refused(await client.patch(`${path}/d`, { spec: { $patch: 'explode' } }, STRATEGIC), 400, 'BadRequest');
    refused(await client.patch(`${path}/d?force=true`, {}, STRATEGIC), 422, 'Invalid', /force: Forbidden/);
  });
}

function fieldValidation(server: Server): void {
  const twice = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"},"colour":1}';

  it('warns of duplicate and unknown members unless told otherwise', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const reply = await client.post(configMapsIn(namespace), twice);
    assert.equal(created(reply).data['x'], '2');
    assert.equal(reply.headers['warning'], '299 - "duplicate field \\"data.x\\"", 299 - "unknown field \\"colour\\""');
  });

  it('refuses them all at once in the strict mode, in YAML and patches, too', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const strict = `${path}?fieldValidation=Strict`;
    refused(await client.post(strict, twice), 400, 'BadRequest', /duplicate field "data.x", unknown field "colour"/);
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: "1"\n  x: "2"\n';
    refused(
      await client.request('POST', strict, { body: yaml, type: 'application/yaml' }),
      400,
      'BadRequest',
      /data\.x/,
    );
    await createConfigMap(client, namespace, 'a');
    const patch = '{"data":{"x":"1","x":"2"}}';
    refused(
      await client.patch(`${path}/a?fieldValidation=Strict`, patch),
      400,
      'BadRequest',
      /duplicate field "data.x"/,
    );
    assert.equal(ok(await client.get(`${path}/a`)).data, undefined);
  });

  it('says nothing when it is not asked to', async () => {
    const { client } = server();
    const reply = await client.post(`${configMapsIn(await newNamespace(client))}?fieldValidation=Ignore`, twice);
    created(reply);
    assert.equal(reply.headers['warning'], undefined);
  });
}

onBothStores('an apply', [], applying);
onServer('ownership', { store: 'embedded' }, ownership);
onServer('strategic merge patches', { store: 'embedded' }, strategicPatches);
onServer('field validation', { store: 'embedded' }, fieldValidation);
