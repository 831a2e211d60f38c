import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { answerJson, type Handler } from '../../services/client/testing/tls-service.js';
import { ConvertedKind, shownOf } from './tools/converted-kind.js';
import { convertAll, ConvertingHook, reviewed, reviewOf, versionsWith, type Review, type VersionName } from './tools/converting-hook.js'; // prettier-ignore
import { DEFINITIONS, definition as definitionOf, newGroup } from './tools/definitions.js';
import { namesIn, type Document } from './tools/document.js';
import { Configurations, HookServer, patch } from './tools/hooks.js';
import { created, eventually, ok, refused } from './tools/objects.js';
import { onServer } from './tools/server.js';
import { ownAddress } from './tools/targets.js';

onServer('webhooks that convert custom resources', { store: 'embedded' }, (server) => {
  const authority = new TestAuthority('converters');
  let hook: ConvertingHook;

  before(async () => {
    hook = await ConvertingHook.start(authority, 'DNS:localhost,DNS:converter.default.svc', '0.0.0.0');
  });
  after(async () => {
    await hook.service.close();
    authority.remove();
  });
  beforeEach(() => hook.reset());

  /** Answers with what was asked for, but for some change. */
  const said =
    (response: (review: Review) => object, around: object = {}): Handler =>
    (received, res) => {
      const review = reviewOf(received);
      answerJson(res, {
        ...reviewed(review, { convertedObjects: convertAll(review), ...response(review) }),
        ...around,
      });
    };
  const each =
    (change: (object: { readonly metadata: object }) => object): ((review: Review) => object) =>
    (review) => ({ convertedObjects: convertAll(review).map((object) => ({ ...object, ...change(object) })) });

  describe('that fail', () => {
    let kind: ConvertedKind;
    before(async () => {
      kind = await ConvertedKind.make(server, hook);
      for (const name of ['a', 'b']) await kind.create('v1', name, { hostPort: `${name}:1` });
    });

    const FAILURES: readonly (readonly [what: string, handle: Handler, one: RegExp, many?: RegExp])[] = [
      ['cut the connection', (_, res) => void res.destroy(), /failed: Post "https:\/\/localhost:\d+\/convert\?timeout=30s": the connection was cut/], // prettier-ignore
      ['fail', (_, res) => void res.writeHead(500, { 'content-type': 'text/plain' }).end('boom'), /failed: an error on the server \(500\)/], // prettier-ignore
      ['say garbage', (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{'), /failed: Post ".*": the answer is no JSON/], // prettier-ignore
      ['answer 10 MB', (_, res) => answerJson(res, 'x'.repeat(10e6)), /failed: .*the answer is longer than \d+ bytes/],
      ['do not respond', (received, res) => answerJson(res, { ...reviewed(reviewOf(received), {}), response: null }), /failed: no response provided$/], // prettier-ignore
      ['answer another question', said(() => ({ uid: 'other' })), /failed: expected response.uid="[-\da-f]{36}", got "other"$/], // prettier-ignore
      ['answer with another kind', said(() => ({}), { kind: 'Pod' }), /failed: expected webhook response of apiextensions.platform.io\/v1, Kind=ConversionReview, got apiextensions.platform.io\/v1, Kind=Pod$/], // prettier-ignore
      ['say no', said(() => ({ result: { status: 'Failure', message: 'not today' } })), /failed: not today$/],
      ['do not say yes', said(() => ({ result: {} })), /failed: response.result.status was '', not 'Success'$/],
      ['answer with nothing', said(() => ({ convertedObjects: [] })), /returned 0 objects, expected 1$/, /returned 0 objects, expected 2$/], // prettier-ignore
      ['answer in another version', said(each(() => ({ apiVersion: 'x/v9' }))), /returned invalid object at index 0: invalid groupVersion \(expected .*\/v2, received x\/v9\)$/, /returned invalid converted object at index 0: invalid groupVersion/], // prettier-ignore
      ['change the kind', said(each(() => ({ kind: 'Gadget' }))), /returned invalid object at index 0: invalid kind \(expected Widget, received Gadget\)$/], // prettier-ignore
      ['change the name', said(each(({ metadata }) => ({ metadata: { ...metadata, name: 'z' } }))), /returned invalid object: must have the same name: a != z$/, /at index 0: must have the same name: a != z$/], // prettier-ignore
      ['change the uid', said(each(({ metadata }) => ({ metadata: { ...metadata, uid: 'z' } }))), /must have the same UID: [-\da-f]{36} != z$/], // prettier-ignore
      ['write wrong labels', said(each(({ metadata }) => ({ metadata: { ...metadata, labels: { 'a b': 'c' } } }))), /returned invalid metadata: metadata.labels: Invalid value: "a b": /, /returned invalid metadata in object at index 0: metadata.labels/], // prettier-ignore
      ['write labels that are none', said(each(({ metadata }) => ({ metadata: { ...metadata, labels: { a: 1 } } }))), /returned invalid metadata: metadata.labels\[a\] must be a string, but is number in converted object$/], // prettier-ignore
    ];
    for (const [what, handle, one, many = one] of FAILURES) {
      it(`fail what needs them, and nothing else, when they ${what}`, async () => {
        const { client } = server();
        hook.handle = handle;
        const begin = new RegExp(`^conversion webhook for ${kind.group}/v1, Kind=Widget `);
        for (const [path, why] of [
          [kind.at('v2', 'a'), one],
          [kind.at('v2'), what === 'change the kind' ? /returned invalid converted object at index 0: invalid kind/ : what === 'write labels that are none' ? /returned invalid metadata in object/ : many], // prettier-ignore
        ] as const) {
          const { message } = refused(await client.get(path), 500, 'InternalError', begin);
          assert.match(message, why);
        }
        assert.deepEqual(namesIn(ok(await client.get(kind.at('v1')))), ['a', 'b']);
      });
    }

    it('keep nobody from writing, deleting and watching what is stored', async () => {
      const { client } = server();
      hook.handle = said(() => ({ result: { status: 'Failure', message: 'out of order' } }));
      const refusal = await client.post(kind.at('v2'), kind.body('v2', 'c', {}));
      refused(refusal, 500, 'InternalError', /^conversion webhook for .*\/v2, Kind=Widget failed: out of order$/);
      refused(await client.patch(kind.at('v2', 'a'), { spec: { port: 9 } }), 500, 'InternalError');
      refused(await client.delete(kind.at('v2', 'a')), 500, 'InternalError');
      ok(await client.patch(kind.at('v1', 'a'), { spec: { hostPort: 'a:2' } }));
      await kind.create('v1', 'c', {});
      ok(await client.delete(kind.at('v1', 'c')));
      hook.handle = undefined;
      assert.deepEqual(shownOf(await kind.get('v2', 'a')), ['v2', { host: 'a', note: 'of v1', port: 2 }]);
      assert.ok((await server().metric('apiserver_conversion_webhook_request_total', { result: 'success' })) >= 1);
      const failures = { result: 'failure', failure_type: 'conversion_webhook_malformed_response_failure' };
      assert.ok((await server().metric('apiserver_conversion_webhook_request_total', failures)) >= 1);
    });
  });

  it('go on with objects of the version that was stored before', async () => {
    const { client } = server();
    const kind = await ConvertedKind.make(server, hook);
    for (const name of ['old', 'older']) await kind.create('v1', name, { hostPort: `${name}:1` });
    const store = async (stored: VersionName): Promise<Document> => {
      const path = `${DEFINITIONS}/widgets.${kind.group}`;
      const body = ok(await client.get(path));
      return ok(await client.put(path, { ...body, spec: { ...body.spec, versions: versionsWith(stored) } }));
    };
    const changed = await store('v2');
    assert.deepEqual((changed['status'] as { storedVersions: string[] }).storedVersions, ['v1', 'v2']);
    await kind.create('v3', 'new', { endpoint: { host: 'new', port: 1 } });
    hook.reset();
    for (const version of ['v1', 'v2', 'v3'] as const) {
      const { items } = ok(await client.get(kind.at(version)));
      const addresses = items.map(({ spec }) => spec['hostPort'] ?? spec['host'] ?? (spec['endpoint'] as { host: string }).host); // prettier-ignore
      const expected = version === 'v1' ? ['new:1', 'old:1', 'older:1'] : ['new', 'old', 'older'];
      assert.deepEqual(addresses, expected);
    }
    // The new one was in the answer to its creation.
    const sent = hook.reviews.map(({ request }) => [request.desiredAPIVersion.slice(-2), request.objects.map(({ apiVersion }) => apiVersion.slice(-2)).join(' ')]); // prettier-ignore
    assert.deepEqual(sent, [
      ['v1', 'v2'],
      ['v2', 'v1 v1'],
      ['v3', 'v1 v1'],
    ]);
    const path = `${DEFINITIONS}/widgets.${kind.group}`;
    const definition = ok(await client.get(path));
    const versions = versionsWith('v2').filter(({ name }) => name !== 'v1');
    const refusal = await client.put(path, { ...definition, spec: { ...definition.spec, versions } });
    refused(
      refusal,
      422,
      'Invalid',
      /status.storedVersions\[0\]: Invalid value: "v1": missing from spec.versions; v1 was/,
    );
    // What is stored in a version is shown in it without a question, and comes into the new one when it is written.
    hook.handle = (_, res) => void res.destroy();
    assert.deepEqual(shownOf(await kind.get('v1', 'old')), ['v1', { hostPort: 'old:1', note: 'of v1' }]);
    const marked = await client.delete(kind.at('v1', 'older'));
    assert.equal(marked.code, 200, marked.text);
    hook.reset();
    ok(await client.patch(kind.at('v1', 'old'), { spec: { replicas: 2 } }));
    await server().restart();
    hook.handle = (_, res) => void res.destroy();
    assert.deepEqual(shownOf(await kind.get('v2', 'old')), ['v2', { count: 2, host: 'old', note: 'of v1', port: 1 }]);
  });

  it('are found behind a service, and asked in the version of reviews that they know', async () => {
    const { client } = server();
    const service = { namespace: 'default', name: 'converter', path: '/by/service', port: 8443 };
    const clientConfig = { service, caBundle: hook.caBundle };
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v9', 'v1beta1'] } };
    const kind = await ConvertedKind.make(server, hook, conversion);
    await kind.create('v1', 'a', { hostPort: 'h:1' });
    const away = await client.get(kind.at('v2', 'a'));
    refused(away, 500, 'InternalError', /Post "https:\/\/converter.default.svc:8443\/by\/service\?timeout=30s": service "converter" not found$/); // prettier-ignore
    const spec = { ports: [{ port: 8443 }] };
    created(await client.post('/api/v1/namespaces/default/services', { metadata: { name: 'converter' }, spec }));
    const subsets = [{ addresses: [{ ip: ownAddress() }], ports: [{ port: hook.service.port }] }];
    created(await client.post('/api/v1/namespaces/default/endpoints', { metadata: { name: 'converter' }, subsets }));
    hook.handle = said(() => ({ uid: '' }), { apiVersion: '', kind: '' });
    const shown = await eventually(async () => {
      const reply = await client.get(kind.at('v2', 'a'));
      return reply.code === 200 ? shownOf(reply.body) : undefined;
    });
    assert.deepEqual(shown, ['v2', { host: 'h', note: 'of v1', port: 1 }]);
    const [{ path } = assert.fail()] = hook.service.received;
    assert.deepEqual([path, hook.reviews[0]?.apiVersion], ['/by/service?timeout=30s', 'apiextensions.platform.io/v1beta1']); // prettier-ignore
  });

  it('are asked for what webhooks of admission see in the version that they know', async () => {
    const { client } = server();
    const kind = await ConvertedKind.make(server, hook);
    const admission = await HookServer.start(authority);
    const configurations = new Configurations(client);
    try {
      const seen: unknown[] = [];
      admission.say.set('m', ({ request }) => {
        seen.push((request.object as { spec?: unknown } | null)?.spec, (request.oldObject as { spec?: unknown } | null)?.spec); // prettier-ignore
        return request.operation === 'DELETE' ? {} : patch({ op: 'add', path: '/spec/port', value: 7 });
      });
      const rule = { operations: ['*'], apiGroups: [kind.group], apiVersions: ['v2'], resources: ['widgets'] };
      const webhook = { name: 'm.example.com', clientConfig: admission.clientConfig('m'), rules: [rule] };
      await configurations.add('Mutating', `m-${kind.namespace}`, kind.namespace, webhook);
      const after = { ...webhook, name: 'v.example.com', clientConfig: admission.clientConfig('v'), rules: [{ ...rule, operations: ['CREATE'], apiVersions: ['v3'] }] }; // prettier-ignore
      await configurations.add('Validating', `v-${kind.namespace}`, kind.namespace, after);
      const made = await kind.create('v3', 'a', { endpoint: { host: 'h', port: 1 } });
      assert.deepEqual(shownOf(made), ['v3', { endpoint: { host: 'h', port: 7 }, note: 'of v1', tier: 'usual' }]);
      const [{ request } = assert.fail()] = admission.reviews('v');
      assert.deepEqual((request.object as { spec?: unknown }).spec, {
        endpoint: { host: 'h', port: 7 },
        tier: 'usual',
      });
      ok(await client.patch(kind.at('v1', 'a'), { spec: { hostPort: 'i:2' } }));
      ok(await client.delete(kind.at('v1', 'a')));
      const [h1, h7, i2, i7] = [{ host: 'h', port: 1 }, { host: 'h', note: 'of v1', port: 7 }, { host: 'i', note: 'of v1', port: 2 }, { host: 'i', note: 'of v1', port: 7 }]; // prettier-ignore
      assert.deepEqual(seen, [h1, undefined, i2, h7, undefined, i7]);
    } finally {
      await configurations.removeAll();
      await admission.service.close();
    }
  });

  it('are named in definitions that can be used', async () => {
    const { client } = server();
    const conversionWith = (clientConfig: object, conversionReviewVersions = ['v1']): object => ({
      strategy: 'Webhook',
      webhook: { clientConfig, conversionReviewVersions },
    });
    const TABLE: readonly (readonly [object, RegExp])[] = [
      [{ strategy: 'Webhook' }, /spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook/], // prettier-ignore
      [conversionWith({ url: 'http://a' }), /webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https:\/\/host\[\/path\]/], // prettier-ignore
      [conversionWith({ url: 'https://a/?b=c' }), /query parameters are not permitted in the URL/],
      [conversionWith({ service: { namespace: '', name: 'a' } }), /webhookClientConfig.service.namespace: Required value/], // prettier-ignore
      [conversionWith({ service: { namespace: 'a', name: 'a', path: 'b' } }), /webhookClientConfig.service.path: Invalid value: "b": must start with a '\/'/], // prettier-ignore
      [conversionWith({ service: { namespace: 'a', name: 'a', port: 70000 } }), /webhookClientConfig.service.port: Invalid value: 70000: port is not valid/], // prettier-ignore
      [conversionWith({ url: 'https://a' }, ['v9']), /must include at least one of v1, v1beta1/],
    ];
    for (const [conversion, why] of TABLE) {
      const body = definitionOf(newGroup(), { versions: versionsWith('v1'), conversion: conversion as never });
      refused(await client.post(DEFINITIONS, body), 422, 'Invalid', why);
    }
  });
});
