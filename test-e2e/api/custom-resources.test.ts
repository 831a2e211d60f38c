import assert from 'node:assert/strict';
import type { Document } from './tools/document.js';
import { conditionOf, define, definition, DEFINITIONS, newGroup, schemaWith, widget } from './tools/definitions.js';
import { created, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, onServer, type TestServer } from './tools/server.js';

const X = 'x-platform-';
const specOf = (object: Document): Record<string, unknown> => object['spec'];
const APPLY = 'application/apply-patch+yaml';
const STRATEGIC = 'application/strategic-merge-patch+json';

const SPEC = {
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 9 },
    color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
    note: { type: 'string', nullable: true },
    name: { type: 'string', pattern: '^[a-z]+$' },
    share: { [`${X}int-or-string`]: true },
    free: { type: 'object', [`${X}preserve-unknown-fields`]: true },
    ports: {
      type: 'array',
      [`${X}list-type`]: 'map',
      [`${X}list-map-keys`]: ['port'],
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: { type: 'integer' }, name: { type: 'string' } },
      },
    },
    replicas: { type: 'integer' },
  },
};

const VERSION = {
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.ready',
      labelSelectorPath: '.status.selector',
    },
  },
  schema: schemaWith(SPEC, { ready: { type: 'integer' }, selector: { type: 'string' } }),
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ],
  selectableFields: [{ jsonPath: '.spec.color' }],
};

function customObjects(server: () => TestServer): void {
  let group: string;
  let path: (namespace: string) => string;
  let widgets: string;

  before(async () => {
    const { client } = server();
    group = newGroup();
    path = await define(client, group, { version: VERSION, names: { shortNames: ['wd'], categories: ['all'] } });
    widgets = path(await newNamespace(client));
  });
  const make = async (name: string, spec: object): Promise<Document> =>
    created(await server().client.post(widgets, widget(group, name, spec)));

  it('are stored as their schema knows them, with its defaults', async () => {
    const body = widget(group, 'a', {
      size: 1,
      colour: 'x',
      free: { any: [{ thing: null }] },
      note: null,
      color: null,
    });
    const reply = await server().client.post(widgets, body);
    assert.equal(reply.headers['warning'], '299 - "unknown field \\"spec.colour\\""');
    assert.deepEqual(specOf(created(reply)), { color: 'red', free: { any: [{ thing: null }] }, note: null, size: 1 });
    assert.equal(reply.body.metadata.generation, 1);
    const strict = await server().client.post(
      `${widgets}?fieldValidation=Strict`,
      widget(group, 'b', { size: 1, x: 1 }),
    );
    refused(strict, 400, 'BadRequest', /unknown field "spec.x"/);
  });

  it('are refused with every reason at once', async () => {
    const body = widget(group, 'bad', {
      size: 10,
      color: 'green',
      name: 'A',
      share: true,
      ports: [{ port: 1 }, { port: 1 }],
    });
    const { details } = refused(await server().client.post(widgets, body), 422, 'Invalid');
    assert.deepEqual(
      details.causes?.map(({ field }) => field),
      ['spec.color', 'spec.name', 'spec.share', 'spec.size', 'spec.ports[1]'],
    );
    refused(await server().client.post(widgets, widget(group, 'none')), 422, 'Invalid', /spec.size: Required value/);
  });

  it('are patched by every means but the strategic one', async () => {
    const { client } = server();
    await make('patched', { size: 1 });
    const at = `${widgets}/patched`;
    assert.equal(specOf(ok(await client.patch(at, { spec: { size: 2 } })))['size'], 2);
    const json = [{ op: 'replace', path: '/spec/size', value: 3 }];
    assert.equal(specOf(ok(await client.patch(at, json, 'application/json-patch+json')))['size'], 3);
    refused(await client.patch(at, {}, STRATEGIC), 415, 'UnsupportedMediaType');
    const old = ok(await client.get(at));
    const { resourceVersion, ...metadata } = old.metadata;
    refused(await client.put(at, { ...old, metadata }), 422, 'Invalid', /must be specified for an update/);
    const next = ok(await client.put(at, { ...old, spec: { size: 4 } }));
    assert.notEqual(next.metadata.resourceVersion, resourceVersion);
    assert.equal(next.metadata.generation, 4);
  });

  it('are applied by several, items of maps belonging to whoever applied them', async () => {
    const { client } = server();
    const apply = async (who: string, spec: object): Promise<Document> => {
      const body = JSON.stringify(widget(group, 'applied', spec));
      const reply = await client.patch(`${widgets}/applied?fieldManager=${who}`, body, APPLY);
      assert.ok(reply.code < 300, reply.text);
      return reply.body;
    };
    await apply('one', { size: 1, ports: [{ port: 1, name: 'a' }] });
    await apply('two', { ports: [{ port: 2 }] });
    assert.deepEqual(specOf(await apply('one', { size: 1 }))['ports'], [{ port: 2 }]);
    const body = JSON.stringify(widget(group, 'applied', { size: 2 }));
    refused(await client.patch(`${widgets}/applied?fieldManager=two`, body, APPLY), 409, 'Conflict', /one/);
  });

  it('have a status of their own, and a scale', async () => {
    const { client } = server();
    await make('parts', { size: 1, replicas: 2 });
    const at = `${widgets}/parts`;
    const status = { phase: 'Up', ready: 1, selector: 'a=b' };
    assert.equal(ok(await client.patch(at, { status }))['status'], undefined);
    const changed = ok(await client.patch(`${at}/status`, { status, spec: { size: 9 } }));
    assert.deepEqual([changed['status'], specOf(changed)['size'], changed.metadata.generation], [status, 1, 1]);
    const scale = ok(await client.get(`${at}/scale`));
    assert.deepEqual([scale['spec'], scale['status']], [{ replicas: 2 }, { replicas: 1, selector: 'a=b' }]);
    ok(await client.patch(`${at}/scale`, { spec: { replicas: 5 } }));
    const { metadata, ...rest } = ok(await client.get(at));
    assert.deepEqual([metadata.generation, (rest['spec'] as { replicas: number }).replicas], [2, 5]);
    refused(await client.patch(`${at}/scale`, { spec: { replicas: -1 } }), 422, 'Invalid');
  });

  it('are shown in the columns of their definition', async () => {
    await make('shown', { size: 7 });
    const table = ok(
      await server().client.get(`${widgets}?fieldSelector=metadata.name=shown`, {
        accept: 'application/json;as=Table;g=meta.platform.io;v=v1',
      }),
    ) as unknown as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] };
    assert.deepEqual(
      table.columnDefinitions.map(({ name }) => name),
      ['Name', 'Size', 'Phase'],
    );
    assert.deepEqual(
      table.rows.map(({ cells }) => cells),
      [['shown', 7, null]],
    );
  });

  it('are selected by the fields of their definition, and watched so', async () => {
    const { client } = server();
    const namespace = path(await newNamespace(client));
    const { metadata } = ok(await client.get(namespace));
    const watch = await client.watch(
      `${namespace}?watch=1&fieldSelector=spec.color%3Dblue&resourceVersion=${metadata.resourceVersion}`,
    );
    created(await client.post(namespace, widget(group, 'r', { size: 1 })));
    created(await client.post(namespace, widget(group, 'b', { size: 1, color: 'blue' })));
    ok(await client.patch(`${namespace}/b`, { spec: { color: 'red' } }));
    const events = await watch.take(2);
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata.name]),
      [
        ['ADDED', 'b'],
        ['DELETED', 'b'],
      ],
    );
    watch.close();
    const list = ok(await client.get(`${namespace}?fieldSelector=spec.color%3Dred`)) as unknown as { items: unknown[] };
    assert.equal(list.items.length, 2);
    refused(await client.get(`${namespace}?fieldSelector=spec.size%3D1`), 400, 'BadRequest');
  });

  it('are in discovery and in the schemas', async () => {
    const { client } = server();
    const { resources } = ok(await client.get(`/apis/${group}/v1`)) as unknown as {
      resources: { name: string; shortNames?: string[]; categories?: string[] }[];
    };
    assert.deepEqual(resources.map(({ name }) => name).sort(), ['widgets', 'widgets/scale', 'widgets/status']);
    assert.deepEqual(resources.find(({ name }) => name === 'widgets')?.shortNames, ['wd']);
    const model = `${group.split('.').reverse().join('.')}.v1.Widget`;
    const { components } = ok(await client.get(`/openapi/v3/apis/${group}/v1`)) as unknown as {
      components: { schemas: Record<string, { properties: { spec: { properties: object } } }> };
    };
    assert.deepEqual(
      Object.keys(components.schemas[model]?.properties.spec.properties ?? {}).sort(),
      Object.keys(SPEC.properties).sort(),
    );
  });
}

function definitions(server: () => TestServer): void {
  it('that want names of others are not established until those are free', async () => {
    const { client } = server();
    const group = newGroup();
    await define(client, group);
    const other = definition(group, { names: { plural: 'gadgets', kind: 'Widget', listKind: 'GadgetList' } });
    const name = created(await client.post(DEFINITIONS, other)).metadata.name;
    const condition = async (type: string) => conditionOf(ok(await client.get(`${DEFINITIONS}/${name}`)), type);
    const accepted = await eventually(() => condition('NamesAccepted'));
    assert.deepEqual([accepted.status, accepted.reason], ['False', 'KindConflict']);
    assert.equal((await condition('Established'))?.status, 'False');
    refused(await client.get(`/apis/${group}/v1/gadgets`), 404, 'NotFound');
    ok(await client.delete(`${DEFINITIONS}/widgets.${group}`));
    await eventually(async () => ((await condition('Established'))?.status === 'True' ? true : undefined));
    ok(await client.get(`/apis/${group}/v1/gadgets`));
  });

  it('that go take their objects with them, and take none any more meanwhile', async () => {
    const { client } = server();
    const group = newGroup();
    const widgets = (await define(client, group))(await newNamespace(client));
    created(await client.post(widgets, widget(group, 'plain')));
    created(
      await client.post(widgets, { ...widget(group, 'held'), metadata: { name: 'held', finalizers: ['a.b/c'] } }),
    );
    const at = `${DEFINITIONS}/widgets.${group}`;
    ok(await client.delete(at));
    await eventually(async () => ((await client.get(`${widgets}/plain`)).code === 404 ? true : undefined));
    const going = ok(await client.get(at));
    assert.deepEqual(going.metadata.finalizers, ['customresourcecleanup.apiextensions.platform.io']);
    assert.equal(conditionOf(going, 'Terminating')?.reason, 'InstanceDeletionInProgress');
    refused(await client.post(widgets, widget(group, 'late')), 405, 'MethodNotAllowed', /terminating/);
    ok(await client.patch(`${widgets}/held`, { metadata: { finalizers: null } }));
    await eventually(async () => ((await client.get(at)).code === 404 ? true : undefined));
    await eventually(async () => ((await client.get(widgets)).code === 404 ? true : undefined));
    const again = (await define(client, group))('');
    assert.deepEqual((ok(await client.get(again)) as unknown as { items: unknown[] }).items, []);
  });

  it('that change bring what is stored into their present form', async () => {
    const { client } = server();
    const group = newGroup();
    const widgets = (await define(client, group, { spec: { properties: { a: { type: 'string' } } } }))(
      await newNamespace(client),
    );
    created(await client.post(widgets, widget(group, 'old', { a: 'x' })));
    const at = `${DEFINITIONS}/widgets.${group}`;
    const { metadata } = ok(await client.get(at));
    const change = async (to: object): Promise<void> => {
      const { metadata: present } = ok(await client.get(at));
      ok(await client.put(at, { ...definition(group, { spec: to as never }), metadata: present }));
    };
    assert.equal(metadata.generation, 1);
    await change({ properties: { b: { type: 'integer', default: 3 } } });
    const seen = await eventually(async () => {
      const { code, body } = await client.get(`${widgets}/old`);
      return code === 200 && !('a' in specOf(body)) ? body : undefined;
    });
    assert.deepEqual(specOf(seen), { b: 3 });
    ok(await client.patch(`${widgets}/old`, { metadata: { labels: { now: 'stored' } } }));
    // What was invalid before and does not change stays.
    await change({ properties: { b: { type: 'integer', minimum: 5 } } });
    await eventually(async () =>
      (await client.post(widgets, widget(group, 'new', { b: 4 }))).code === 422 ? true : undefined,
    );
    ok(await client.patch(`${widgets}/old`, { spec: { b: 3 }, metadata: { labels: { a: 'b' } } }));
    refused(await client.patch(`${widgets}/old`, { spec: { b: 2 } }), 422, 'Invalid', /spec.b/);
  });

  it('with several versions show each what it knows of an object', async () => {
    const { client } = server();
    const group = newGroup();
    const version = (name: string, storage: boolean, properties: object): object => ({
      name,
      storage,
      served: true,
      schema: schemaWith({ properties }),
      additionalPrinterColumns: ['a', 'b'].map((it) => ({ name: it, type: 'string', jsonPath: `.spec.${it}` })),
    });
    const text = { type: 'string' };
    const path = await define(client, group, {
      versions: [
        version('v1', true, { a: text, both: text }) as never,
        {
          ...version('v2', false, { b: { ...text, default: 'd' }, both: text }),
          deprecated: true,
          deprecationWarning: 'use v1',
        },
      ],
    });
    const namespace = await newNamespace(client);
    created(await client.post(path(namespace), widget(group, 'x', { a: '1', both: '2' })));
    const shown = await client.get(`${path(namespace, 'v2')}/x`);
    assert.deepEqual([ok(shown)['apiVersion'], shown.body['spec']], [`${group}/v2`, { b: 'd', both: '2' }]);
    assert.equal(shown.headers['warning'], '299 - "use v1"');
    assert.deepEqual(specOf(ok(await client.get(`${path(namespace)}/x`))), { a: '1', both: '2' });
    const stored = ok(await client.get(`${DEFINITIONS}/widgets.${group}`))['status'] as { storedVersions: string[] };
    assert.deepEqual(stored.storedVersions, ['v1']);
    for (const version of ['v1', 'v2']) {
      const [item] = ok(await client.get(path(namespace, version))).items;
      assert.deepEqual([item?.['kind'], item?.['apiVersion']], ['Widget', `${group}/${version}`]);
    }
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    for (const [version, cells] of [
      ['v1', ['x', '1', null]],
      ['v2', ['x', null, 'd']],
    ] as const) {
      const table = ok(await client.get(path(namespace, version), { accept }));
      assert.deepEqual((table['rows'] as { cells: unknown[] }[])[0]?.cells, cells);
    }
  });
}

function rules(server: () => TestServer): void {
  it('hold for new states and for changes, and what broke them before may stay', async () => {
    const { client } = server();
    const group = newGroup();
    const properties = {
      min: { type: 'integer' },
      max: { type: 'integer' },
      id: { type: 'string', [`${X}validations`]: [{ rule: 'self == oldSelf', message: 'id never changes' }] },
    };
    const ordered = {
      rule: 'self.min <= self.max',
      messageExpression: '"%d is more than %d".format([self.min, self.max])',
      fieldPath: '.min',
    };
    const widgets = (await define(client, group, { spec: { properties, [`${X}validations`]: [ordered] } }))(
      await newNamespace(client),
    );
    refused(
      await client.post(widgets, widget(group, 'a', { min: 2, max: 1 })),
      422,
      'Invalid',
      /spec.min: Invalid value: "object": 2 is more than 1/,
    );
    created(await client.post(widgets, widget(group, 'a', { min: 1, max: 1, id: 'x' })));
    refused(
      await client.patch(`${widgets}/a`, { spec: { id: 'y' } }),
      422,
      'Invalid',
      /spec.id: Invalid value: "y": id never changes/,
    );
    ok(await client.patch(`${widgets}/a`, { spec: { max: 2 } }));
    const both = await client.post(widgets, widget(group, 'b', { min: 'x', max: 1 }));
    refused(both, 422, 'Invalid', /some validation rules were not checked/);
  });

  it('that cannot be asked are not taken', async () => {
    const { client } = server();
    const spec = { properties: { a: { type: 'string', [`${X}validations`]: [{ rule: 'self > 1' }] } } };
    const reply = await client.post(DEFINITIONS, definition(newGroup(), { spec }));
    refused(reply, 422, 'Invalid', /found no matching overload for '_>_' applied to '\(string, int\)'/);
  });
}

onBothStores('custom objects', [], customObjects);
onServer('rules of custom objects', { store: 'embedded' }, rules);
onBothStores('definitions of custom resources', [], definitions);
