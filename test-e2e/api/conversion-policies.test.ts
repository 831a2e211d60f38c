import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { ConvertedKind, shownOf } from './tools/converted-kind.js';
import type { VersionName } from './tools/converting-hook.js';
import { created, ok, refused } from './tools/objects.js';
import { Policies } from './tools/policies.js';
import { onServer } from './tools/server.js';

onServer('policies for custom resources that a webhook converts', { store: 'embedded' }, (server) => {
  const authority = new TestAuthority('converters');
  let kind: ConvertedKind;
  let policies: Policies;

  before(async () => {
    kind = await ConvertedKind.withHook(server, authority);
    policies = new Policies(server().client);
  });
  after(async () => {
    await kind.hook.service.close();
    authority.remove();
  });
  beforeEach(() => kind.hook.reset());
  afterEach(() => policies.removeAll());

  /** For objects in one version, and in others as that one shows them unless the match is to be exact. */
  const matching = (version: VersionName, matchPolicy = 'Equivalent'): object => ({
    matchConstraints: {
      matchPolicy,
      resourceRules: [
        { operations: ['CREATE', 'UPDATE'], apiGroups: [kind.group], apiVersions: [version], resources: ['widgets'] },
      ],
    },
  });
  const changing = (expression: string): object => ({
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  });

  it('see them in the version that they name, whatever version was written', async () => {
    const validations = [
      { expression: 'object.spec.hostPort != "bad:1"', messageExpression: 'object.apiVersion + " " + object.spec.hostPort' },
      { expression: 'oldObject == null || oldObject.spec.hostPort != "fixed:1"', message: 'it was fixed' },
    ]; // prettier-ignore
    await policies.add('Validating', kind.namespace, { ...matching('v1'), validations });
    const { client } = server();
    created(await client.post(kind.at('v2'), kind.body('v2', 'good', { host: 'good', port: 1 })));
    const bad = await client.post(kind.at('v3'), kind.body('v3', 'bad', { endpoint: { host: 'bad', port: 1 } }));
    refused(bad, 422, 'Invalid', new RegExp(`denied request: ${kind.group}/v1 bad:1$`));
    refused(await client.patch(kind.at('v2', 'good'), { spec: { host: 'bad' } }), 422, 'Invalid', /v1 bad:1$/);
    ok(await client.patch(kind.at('v2', 'good'), { spec: { host: 'fixed' } }));
    refused(await client.patch(kind.at('v3', 'good'), { spec: { count: 1 } }), 422, 'Invalid', /it was fixed$/);
  });

  it('are not asked about other versions when only theirs is meant', async () => {
    const validations = [{ expression: 'object.spec.hostPort == "one:1"' }];
    await policies.add('Validating', kind.namespace, { ...matching('v1', 'Exact'), validations });
    const { client } = server();
    created(await client.post(kind.at('v2'), kind.body('v2', 'exact', { host: 'other', port: 1 })));
    refused(await client.patch(kind.at('v1', 'exact'), { spec: { replicas: 2 } }), 422, 'Invalid');
  });

  it('change them in their version, one after the other, and the answer is in that of the request', async () => {
    await policies.add('Mutating', kind.namespace, {
      ...matching('v3'),
      ...changing('Object{spec: Object.spec{tier: "gold", endpoint: Object.spec.endpoint{host: object.spec.endpoint.host + "x"}}}'), // prettier-ignore
    });
    await policies.add('Mutating', kind.namespace, {
      ...matching('v1'),
      ...changing('Object{spec: Object.spec{replicas: size(object.spec.hostPort)}}'),
    });
    const made = await kind.create('v2', 'changed', { host: 'h', port: 1 });
    assert.deepEqual(shownOf(made), ['v2', { count: 4, host: 'hx', note: 'of v1', port: 1 }]);
    assert.deepEqual(shownOf(await kind.get('v1', 'changed')), ['v1', { hostPort: 'hx:1', note: 'of v1', replicas: 4 }]); // prettier-ignore
  });

  it('let nothing through while they cannot see it in their version', async () => {
    await policies.add('Validating', kind.namespace, { ...matching('v1'), validations: [{ expression: 'true' }] });
    kind.hook.handle = (_, res) => void res.writeHead(500).end();
    const reply = await server().client.post(kind.at('v2'), kind.body('v2', 'away', { host: 'h', port: 1 }));
    assert.ok(reply.code >= 400, String(reply.code));
    kind.hook.reset();
    assert.equal((await server().client.get(kind.at('v1', 'away'))).code, 404);
  });
});
