import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { JSON_PATCH, type Reply } from './tools/client.js';
import { define, newGroup, schemaWith, widget } from './tools/definitions.js';
import type { Document } from './tools/document.js';
import { Configurations, HookServer, patch } from './tools/hooks.js';
import {
  configMap,
  configMapsIn,
  created,
  deployment,
  deploymentsIn,
  newNamespace,
  ok,
  refused,
} from './tools/objects.js';
import { policiesOf, Policies, policy, RULES } from './tools/policies.js';
import { onServer } from './tools/server.js';

const applied = (expression: string): object => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const operations = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const data = (object: Document): unknown => object['data'];

onServer('mutating admission policies', { store: 'embedded' }, (server) => {
  let policies: Policies;
  let namespace: string;
  let maps: string;

  before(() => (policies = new Policies(server().client)));
  beforeEach(async () => {
    namespace = await newNamespace(server().client);
    maps = configMapsIn(namespace);
  });
  afterEach(() => policies.removeAll());

  const add = (spec: object, bindingSpec: object = {}): Promise<string> =>
    policies.add('Mutating', namespace, spec, bindingSpec);
  const send = (name: string, parts: Parameters<typeof configMap>[1] = {}): Promise<Reply> =>
    server().client.post(maps, configMap(name, parts));
  const denied = (reply: Reply, name: string, message: string, reason = 'Invalid'): void => {
    const why = `policy '${name}' with binding '${name}' denied request: ${message}`;
    const body = refused(reply, 403, reason);
    assert.equal(body.message, why);
    assert.deepEqual((body['details'] as { causes: object[] }).causes, [{ message: why }]);
  };

  it('lay objects over others, as an apply does', async () => {
    const { client } = server();
    const deployments = deploymentsIn(namespace);
    await add({
      mutations: [
        applied(`Object{
          metadata: Object.metadata{labels: {"by": "policy"}},
          spec: Object.spec{
            replicas: object.spec.replicas + 2,
            template: Object.spec.template{
              spec: Object.spec.template.spec{
                containers: [
                  Object.spec.template.spec.containers{name: "main", imagePullPolicy: "Always"},
                  Object.spec.template.spec.containers{name: "side", image: "side:1"}
                ]
              }
            }
          }
        }`),
        applied('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}'),
      ],
    }); // prettier-ignore
    const made = created(await client.post(deployments, deployment('x')));
    assert.deepEqual(made.metadata.labels, { by: 'policy' });
    const { replicas, template } = made['spec'] as { replicas: number; template: { spec: { containers: Document[] } } };
    assert.equal(replicas, 4);
    assert.deepEqual(
      template.spec.containers.map(({ name, image, imagePullPolicy }) => [name, image, imagePullPolicy]),
      [
        ['main', 'image:1', 'Always'],
        ['side', 'side:1', 'IfNotPresent'],
      ],
    );
    const [entry] = made.metadata['managedFields'] as { fieldsV1: object }[];
    assert.doesNotMatch(JSON.stringify(entry?.fieldsV1), /f:by|side/);
  });

  it('patch objects', async () => {
    const { client } = server();
    await add({
      mutations: [
        operations(`has(object.data) ? [] : [JSONPatch{op: "add", path: "/data", value: {"z": "0"}}]`),
        operations(`[
          JSONPatch{op: "test", path: "/metadata/name", value: "x"},
          JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a"), value: "1"},
          JSONPatch{op: "copy", from: "/data/a", path: "/data/b"}
        ]`),
        operations('[JSONPatch{op: "add", path: "/metadata/labels", value: Object.metadata.labels{keys: string(size(object.data))}}]'), // prettier-ignore
      ],
    });
    const x = created(await send('x'));
    assert.deepEqual([data(x), x.metadata.labels], [{ a: '1', b: '1', z: '0' }, { keys: '3' }]);
    assert.deepEqual(data(created(await send('y', { data: { c: '3' } }))), { c: '3' });
    const updated = ok(await client.patch(`${maps}/y`, [{ op: 'add', path: '/data/d', value: '4' }], JSON_PATCH));
    assert.deepEqual(updated.metadata.labels, { keys: '2' });
    ok(await client.delete(`${maps}/y`));
  });

  it('take parameters and variables, and are about what their conditions say', async () => {
    created(await send('settings', { data: { color: 'red' } }));
    await add(
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        variables: [{ name: 'color', expression: 'params.data.color + namespaceObject.metadata.name' }],
        matchConditions: [{ name: 'plain', expression: 'object.metadata.name != "spared"' }],
        mutations: [applied('Object{data: {"color": variables.color}}')],
      },
      { paramRef: { name: 'settings', parameterNotFoundAction: 'Deny' } },
    );
    assert.deepEqual(data(created(await send('x', { data: { a: '1' } }))), { a: '1', color: `red${namespace}` });
    assert.equal(data(created(await send('spared'))), undefined);
  });

  it('change custom resources, also those that are asked for in a dry run', async () => {
    const { client } = server();
    const group = newGroup();
    const ports = { type: 'array', 'x-platform-list-type': 'map', 'x-platform-list-map-keys': ['port'], items: { type: 'object', required: ['port'], properties: { port: { type: 'integer' }, name: { type: 'string' } } } }; // prettier-ignore
    const tags = { type: 'array', items: { type: 'string' } };
    const path = await define(client, group, { version: { schema: schemaWith({ properties: { size: { type: 'integer' }, ports, tags } }) } }); // prettier-ignore
    const matchConstraints = {
      resourceRules: [{ ...RULES[0], resources: ['widgets'] }],
      namespaceSelector: { matchLabels: { 'platform.io/metadata.name': namespace } },
    };
    const ofPorts = 'Object.spec.ports{port: 80, name: "web"}, Object.spec.ports{port: 443}';
    await add({ matchConstraints, mutations: [applied(`Object{spec: Object.spec{size: 5, ports: [${ofPorts}]}}`)] });
    const spec = { ports: [{ port: 80, name: 'old' }, { port: 1 }] };
    const dry = created(await client.post(`${path(namespace)}?dryRun=All`, widget(group, 'x', spec)));
    assert.deepEqual(dry['spec'], { size: 5, ports: [{ port: 80, name: 'web' }, { port: 1 }, { port: 443 }] });
    assert.equal((await client.get(`${path(namespace)}/x`)).code, 404);
    await policies.removeAll();
    const name = await add({ matchConstraints, mutations: [applied('Object{spec: Object.spec{tags: ["a"]}}')] });
    denied(await client.post(path(namespace), widget(group, 'x', spec)), name, 'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tags'); // prettier-ignore
  });

  const WRONG: readonly (readonly [what: string, mutation: object, why: string])[] = [
    [
      'sets what there is not',
      applied('Object{spec: Object.spec{size: 1}}'),
      'error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema',
    ],
    [
      'calls a part what it is not',
      applied('Object{metadata: Object.spec{name: "x"}}'),
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type',
    ],
    ['fails', applied('Object{data: {"a": object.nothing}}'), "expression 'Object{data: {\"a\": object.nothing}}' resulted in error: no such key: nothing"], // prettier-ignore
    ['patches what is not there', operations('[JSONPatch{op: "remove", path: "/data/nothing"}]'), 'JSON Patch: doc is missing path: "/data/nothing"'], // prettier-ignore
  ];
  for (const [what, mutation, why] of WRONG) {
    it(`refuse when one ${what}, unless that is to be ignored`, async () => {
      const spec = { mutations: [applied('Object{metadata: Object.metadata{labels: {"by": "me"}}}'), mutation] };
      const name = await add(spec);
      denied(await send('x'), name, why);
      await policies.removeAll();
      await add({ ...spec, failurePolicy: 'Ignore' });
      assert.deepEqual(created(await send('y')).metadata.labels, { by: 'me' });
    });
  }

  it('cannot make of an object what it cannot be', async () => {
    await add({ mutations: [operations('[JSONPatch{op: "add", path: "/nothing", value: 1}]')] });
    refused(await send('x'), 500, 'InternalError', /strict decoding error: unknown field "nothing"/);
    await policies.removeAll();
    await add({ mutations: [operations('[JSONPatch{op: "replace", path: "/metadata/name", value: "z"}]')] });
    refused(await send('x'), 500, 'InternalError', /metadata.name/);
    await policies.removeAll();
    await add({ mutations: [applied('Object{metadata: Object.metadata{labels: {"a b": "c"}}}')] });
    refused(await send('x'), 422, 'Invalid', /metadata.labels: Invalid value/);
  });

  it('see objects again that others have changed, when they want to', async () => {
    const authority = new TestAuthority('hooks');
    const hooks = await HookServer.start(authority);
    const configurations = new Configurations(server().client);
    try {
      const count = (key: string): object =>
        operations(`[JSONPatch{op: "add", path: "/data/${key}", value: has(object.data.${key}) ? object.data.${key} + "+" : "1"}]`); // prettier-ignore
      await add({ reinvocationPolicy: 'IfNeeded', mutations: [count('wants')] });
      await add({ reinvocationPolicy: 'Never', mutations: [count('not')] });
      assert.deepEqual(data(created(await send('alone', { data: { a: '' } }))), { a: '', wants: '1+', not: '1' });
      await policies.removeAll();
      await add({ reinvocationPolicy: 'IfNeeded', mutations: [count('wants')] });
      assert.deepEqual(data(created(await send('single', { data: { a: '' } }))), { a: '', wants: '1' });
      hooks.say.set('m', () => patch({ op: 'add', path: '/data/hook', value: 'yes' }));
      await configurations.add('Mutating', `m-${namespace}`, namespace, { name: 'm.example.com', clientConfig: hooks.clientConfig('m') }); // prettier-ignore
      assert.deepEqual(data(created(await send('hooked', { data: { a: '' } }))), { a: '', wants: '1+', hook: 'yes' });
    } finally {
      await configurations.removeAll();
      await hooks.service.close();
      authority.remove();
    }
  });

  it('come before policies that validate, and are about none of them', async () => {
    await add({ mutations: [applied('Object{data: {"by": "mutating"}}')] });
    await policies.add('Validating', namespace, { validations: [{ expression: 'object.data.by == "mutating"' }] });
    created(await send('x'));
    const everything = {
      resourceRules: [{ ...RULES[0], resources: ['*'] }],
      objectSelector: { matchLabels: { caught: 'yes' } },
    };
    await add({ matchConstraints: everything, mutations: [operations('[JSONPatch{op: "remove", path: "/nothing"}]')] });
    refused(await send('y', { labels: { caught: 'yes' } }), 403, 'Invalid');
    const metadata = { name: `caught-${namespace}`, labels: { caught: 'yes' } };
    const caught = { ...policy('Mutating', '', namespace, { mutations: [operations('[]')] }), metadata };
    await policies.make(policiesOf('Mutating'), caught);
  });
});
