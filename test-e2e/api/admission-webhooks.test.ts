import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { answerJson, type Handler } from '../../services/client/testing/tls-service.js';
import { Configurations, HookServer, patch, reviewed, reviewOf, type HookType } from './tools/hooks.js';
import { configMap, configMapsIn, created, newNamespace, ok, refused } from './tools/objects.js';
import { eventsIn, flagsFor, place, until } from './tools/audit.js';
import { onServer } from './tools/server.js';

const audit = place({
  apiVersion: 'audit.platform.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Request', resources: [{ group: '', resources: ['configmaps'] }] }, { level: 'Metadata' }],
});

onServer('admission webhooks', { store: 'embedded', flags: flagsFor(audit) }, (server) => {
  const authority = new TestAuthority('hooks');
  const stranger = new TestAuthority('stranger');
  let hooks: HookServer;
  let foreign: HookServer;
  let configurations: Configurations;
  let namespace: string;
  let maps: string;

  before(async () => {
    hooks = await HookServer.start(authority);
    foreign = await HookServer.start(stranger);
    configurations = new Configurations(server().client);
  });
  after(async () => {
    await hooks.service.close();
    await foreign.service.close();
    authority.remove();
    stranger.remove();
  });
  beforeEach(async () => {
    namespace = await newNamespace(server().client);
    maps = configMapsIn(namespace);
  });
  afterEach(async () => {
    await configurations.removeAll();
    hooks.reset();
  });

  const webhook = (path: string, more: object = {}): object => ({
    name: `${path}.example.com`,
    clientConfig: hooks.clientConfig(path),
    ...more,
  });
  const add = (type: HookType, ...webhooks: readonly object[]): Promise<string> =>
    configurations.add(type, `${type.toLowerCase()}-${namespace}`, namespace, ...webhooks);

  it('change what is created, and what they say reaches the client', async () => {
    hooks.say.set('m', () => ({ ...patch({ op: 'add', path: '/data/by', value: 'hook' }), warnings: ['careful'] }));
    await add('Mutating', webhook('m'));
    const reply = await server().client.post(maps, configMap('x', { data: { a: '1' } }));
    assert.deepEqual(created(reply)['data'], { a: '1', by: 'hook' });
    assert.match(String(reply.headers['warning']), /299 - "careful"/);
    const [{ fieldsV1 } = assert.fail()] = reply.body.metadata['managedFields'] as { fieldsV1: object }[];
    assert.deepEqual(fieldsV1, { 'f:data': { '.': {}, 'f:a': {} } });
  });

  it('leave what they change to nobody, also in updates, patches and applies', async () => {
    const { client } = server();
    created(await client.post(`${maps}?fieldManager=one`, configMap('x', { data: { a: '1' } })));
    hooks.say.set('m', () => patch({ op: 'add', path: '/data/by', value: String(Math.random()) }));
    await add('Mutating', webhook('m'));
    const writes = [
      () => client.put(`${maps}/x?fieldManager=two`, configMap('x', { data: { a: '2' } })),
      () => client.patch(`${maps}/x?fieldManager=three`, { data: { b: '1' } }),
      () => client.patch(`${maps}/x?fieldManager=four`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { c: '1' } }, 'application/apply-patch+yaml'), // prettier-ignore
    ];
    for (const write of writes) {
      const managers = ok(await write()).metadata['managedFields'] as { fieldsV1: object }[];
      assert.doesNotMatch(JSON.stringify(managers), /f:by/);
    }
    const managers = ok(await client.get(`${maps}/x`)).metadata['managedFields'] as {
      manager: string;
      fieldsV1: object;
    }[];
    assert.deepEqual(
      new Map(managers.map(({ manager, fieldsV1 }) => [manager, fieldsV1])),
      new Map<string, object>([
        ['one', { 'f:data': {} }],
        ['two', { 'f:data': { 'f:a': {} } }],
        ['three', { 'f:data': { 'f:b': {} } }],
        ['four', { 'f:data': { 'f:c': {} } }],
      ]),
    );
  });

  const raw =
    (status: number, type: string, text: string): Handler =>
    (_, res) =>
      void res.writeHead(status, { 'content-type': type }).end(text);
  const said =
    (response: object): Handler =>
    (received, res) =>
      answerJson(res, reviewed(reviewOf(received), response));
  const FAILURES: readonly (readonly [string, Handler | 'foreign', RegExp])[] = [
    ['are silent', () => undefined, /Post "https:.*\?timeout=1s": context deadline exceeded$/],
    ['stop in the middle', (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).write('{'), /context deadline exceeded$/], // prettier-ignore
    ['cut the connection', (_, res) => void res.destroy(), /the connection was cut/],
    ['have a certificate of a stranger', 'foreign', /signed by no authority that is trusted/],
    ['answer another question', said({ uid: 'other' }), /expected response.uid=".*", got "other"$/],
    ['fail', raw(500, 'text/plain', 'boom'), /an error on the server \(500\)/],
    ['say why they fail', raw(500, 'application/json', '{"kind":"Status","message":"no disk"}'), /no disk$/],
    ['are not there', raw(404, 'text/plain', ''), /could not find the requested resource$/],
    ['answer 10 MB', (received, res) => said({ warnings: ['x'.repeat(10e6)] })(received, res), /the answer is longer than \d+ bytes/], // prettier-ignore
    ['answer with a page', raw(200, 'text/html', '<p/>'), /the answer is no JSON that can be read/],
    ['answer with no review', raw(200, 'application/json', '{}'), /expected webhook response of/],
    ['answer with another kind', raw(200, 'application/json', '{"kind":"Pod","apiVersion":"v1"}'), /Kind=Pod$/],
  ];
  for (const [what, handle, why] of FAILURES) {
    it(`are ignored when they ${what} and may, and refuse else`, async () => {
      if (handle !== 'foreign') hooks.handle.set('f', handle);
      const broken = { timeoutSeconds: 1, ...(handle === 'foreign' ? { clientConfig: { ...hooks.clientConfig('f'), url: `${foreign.service.url}/f` } } : {}) }; // prettier-ignore
      await add('Validating', webhook('f', { ...broken, failurePolicy: 'Ignore' }));
      created(await server().client.post(maps, configMap('x')));
      await add('Mutating', webhook('f', broken));
      const { message } = refused(await server().client.post(maps, configMap('y')), 500, 'InternalError');
      assert.match(message, /^Internal error occurred: failed calling webhook "f.example.com": /);
      assert.match(message, why);
    });
  }

  it('cannot make of an object what it cannot be', async () => {
    const { client } = server();
    const TABLE: readonly (readonly [object, number, string, RegExp])[] = [
      [
        { op: 'add', path: '/metadata/labels', value: { 'a b': 'c' } },
        422,
        'Invalid',
        /metadata.labels: Invalid value/,
      ],
      [{ op: 'replace', path: '/metadata/name', value: 'z' }, 500, 'InternalError', /metadata.name/],
      [{ op: 'add', path: '/data', value: [] }, 500, 'InternalError', /ConfigMap/],
      [{ op: 'remove', path: '/nothing' }, 500, 'InternalError', /missing/],
    ];
    await add('Mutating', webhook('m', { failurePolicy: 'Ignore' }));
    for (const [operation, code, reason, why] of TABLE) {
      hooks.say.set('m', () => patch(operation));
      refused(await client.post(maps, configMap('x')), code, reason, why);
    }
  });

  it('may write the same object meanwhile', async () => {
    const { client } = server();
    created(await client.post(maps, configMap('x')));
    const sent: (string | undefined)[] = [];
    hooks.say.set('m', async ({ request: { object } }) => {
      const { by } = object?.metadata?.labels ?? {};
      sent.push(by);
      if (sent.length === 1) ok(await client.patch(`${maps}/x`, { metadata: { labels: { by: 'hook' } } }));
      return {};
    });
    await add('Mutating', webhook('m', { rules: [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] })); // prettier-ignore
    const reply = await client.patch(`${maps}/x`, { data: { a: '1' } });
    assert.deepEqual([ok(reply)['data'], reply.body.metadata.labels], [{ a: '1' }, { by: 'hook' }]);
    assert.deepEqual(sent, [undefined, 'hook', 'hook'], 'the first attempt, the write in between, the second attempt');
  });

  it('are called again when others change the object later, which the audit tells', async () => {
    hooks.say.set('second', ({ request: { object } }) => {
      const isThere = (object as { data?: { x?: string } }).data?.x !== undefined;
      return isThere ? {} : patch({ op: 'add', path: '/data/x', value: '1' });
    });
    const first = webhook('first', { reinvocationPolicy: 'IfNeeded' });
    await add('Mutating', first, webhook('second'), webhook('third'));
    created(await server().client.post(maps, configMap('x', { data: { a: '1' } })));
    assert.deepEqual(hooks.called, ['first', 'second', 'third', 'first']);
    const event = await eventOf('x');
    const annotations = new Map(Object.entries(event.annotations ?? {}));
    const rounds = [...annotations].filter(([key]) => key.startsWith('mutation.webhook.'));
    const configuration = `mutating-${namespace}`;
    assert.deepEqual(new Map(rounds.map(([key, value]) => [key, JSON.parse(value) as unknown])), new Map([
      ['mutation.webhook.admission.platform.io/round_0_index_0', { configuration, webhook: 'first.example.com', mutated: false }],
      ['mutation.webhook.admission.platform.io/round_0_index_1', { configuration, webhook: 'second.example.com', mutated: true }],
      ['mutation.webhook.admission.platform.io/round_0_index_2', { configuration, webhook: 'third.example.com', mutated: false }],
      ['mutation.webhook.admission.platform.io/round_1_index_0', { configuration, webhook: 'first.example.com', mutated: false }],
    ])); // prettier-ignore
    const { patch: operations } = JSON.parse(annotations.get('patch.webhook.admission.platform.io/round_0_index_1') ?? '{}') as { patch?: unknown }; // prettier-ignore
    assert.deepEqual(operations, [{ op: 'add', path: '/data/x', value: '1' }]);
  });

  it('tell the audit what they want to, and that they failed', async () => {
    hooks.say.set('v', () => ({ auditAnnotations: { why: 'because' } }));
    hooks.handle.set('f', raw(500, 'text/plain', ''));
    await add('Validating', webhook('v'), webhook('f', { failurePolicy: 'Ignore' }));
    created(await server().client.post(maps, configMap('x')));
    const { annotations = {} } = await eventOf('x');
    assert.equal(annotations['v.example.com/why'], 'because');
    assert.equal(annotations['failed-open.validating.webhook.admission.platform.io/round_0_index_1'], 'f.example.com');
  });

  const eventOf = async (name: string): Promise<ReturnType<typeof eventsIn>[number]> => {
    const found = (): ReturnType<typeof eventsIn> =>
      eventsIn(audit.log).filter(
        ({ objectRef }) => objectRef?.['namespace'] === namespace && objectRef['name'] === name,
      );
    await until(() => found().length > 0);
    return found()[0] ?? assert.fail();
  };

  it('deny in their own words, and are counted', async () => {
    hooks.say.set('v', () => ({ allowed: false, status: { code: 418, message: 'no', reason: 'Teapot' } }));
    await add('Validating', webhook('v'));
    const labels = {
      name: 'v.example.com',
      type: 'validating',
      operation: 'CREATE',
      error_type: 'no_error',
      rejection_code: '418',
    };
    const before = await server().metric('apiserver_admission_webhook_rejection_count', labels);
    refused(await server().client.post(maps, configMap('x')), 418, 'Teapot', /^admission webhook "v.example.com" denied the request: no$/); // prettier-ignore
    assert.equal(await server().metric('apiserver_admission_webhook_rejection_count', labels), before + 1);
    assert.ok(
      (await server().metric('apiserver_admission_step_admission_duration_seconds_count', { rejected: 'true' })) > 0,
    );
    const plugin = { name: 'ValidatingAdmissionWebhook', rejected: 'true' };
    assert.ok((await server().metric('apiserver_admission_controller_admission_duration_seconds_count', plugin)) > 0);
  });

  it('speak the older version of reviews where they know no other', async () => {
    hooks.handle.set('old', (received, res) => answerJson(res, { response: { allowed: false, status: { message: reviewOf(received).apiVersion } } })); // prettier-ignore
    await add('Validating', webhook('old', { admissionReviewVersions: ['v1beta1', 'v1'] }));
    refused(await server().client.post(maps, configMap('x')), 400, undefined as never, /denied the request: admission.platform.io\/v1beta1$/); // prettier-ignore
  });

  it('are left alone when they fail too often, and refuse or not as they do then', async () => {
    const { client } = server();
    hooks.handle.set('f', raw(500, 'text/plain', ''));
    const post = (): Promise<number> => client.post(`${maps}?dryRun=All`, configMap('x')).then(({ code }) => code);
    for (const [type, failurePolicy, code] of [
      ['Validating', 'Ignore', 201],
      ['Mutating', 'Fail', 500],
    ] as const) {
      // prettier-ignore
      await add(type, webhook('f', { failurePolicy }));
      for (let i = 0; i < 12; i++) assert.equal(await post(), code);
      const calls = hooks.called.length;
      assert.ok(calls < 12, String(calls));
      assert.equal(await post(), code);
      assert.equal(hooks.called.length, calls);
      hooks.service.received.splice(0);
    }
    assert.match((await client.post(maps, configMap('x'))).body.message, /is not asked for a while/);
  });

  describe('with match conditions', () => {
    const fails = { name: 'fails', expression: 'object.nothing == 1' };
    const error = "expression 'object.nothing == 1' resulted in error: no such key: nothing";

    it('are asked about what meets all of them', async () => {
      const { client } = server();
      const matchConditions = [
        { name: 'kind', expression: 'request.kind.kind == "ConfigMap" && request.operation == "CREATE"' },
        { name: 'marked', expression: 'object.data.marked == "yes" && oldObject == null' },
        { name: 'mine', expression: 'authorizer.requestResource.check("delete").allowed()' },
      ];
      hooks.say.set('v', () => ({ allowed: false }));
      await add('Validating', webhook('v', { matchConditions }));
      const labels = { name: 'v.example.com', kind: 'webhook', type: 'validating', operation: 'CREATE' };
      const excluded = (): Promise<number> =>
        server().metric('apiserver_admission_match_condition_exclusions_total', labels);
      const before = await excluded();
      created(await client.post(maps, configMap('x', { data: { marked: 'no' } })));
      assert.deepEqual([hooks.called, await excluded()], [[], before + 1]);
      refused(await client.post(maps, configMap('y', { data: { marked: 'yes' } })), 400, undefined as never);
      ok(await client.patch(`${maps}/x`, { data: { marked: 'yes' } }));
      assert.deepEqual(hooks.called, ['v']);
    });

    it('refuse what they cannot tell, or leave it, and leave what another condition keeps out', async () => {
      const { client } = server();
      await add('Mutating', webhook('m', { matchConditions: [fails], failurePolicy: 'Ignore' }));
      created(await client.post(maps, configMap('x')));
      await configurations.removeAll();
      const keeps = { name: 'keeps', expression: 'object.metadata.name != "kept"' };
      await add('Validating', webhook('v', { matchConditions: [fails, keeps] }));
      created(await client.post(maps, configMap('kept')));
      const { message } = refused(await client.post(maps, configMap('y')), 403, 'Forbidden');
      assert.equal(message, `configmaps "y" is forbidden: ${error}`);
      assert.deepEqual(hooks.called, []);
    });

    it('see what others have changed', async () => {
      hooks.say.set('a', () => patch({ op: 'add', path: '/data/by', value: 'a' }));
      await add(
        'Mutating',
        webhook('a', { matchConditions: [{ name: 'one', expression: 'size(object.data) == 1' }] }),
        webhook('b', { matchConditions: [{ name: 'by-a', expression: 'object.data.by == "a"' }] }),
      );
      created(await server().client.post(maps, configMap('x', { data: { z: '' } })));
      assert.deepEqual(hooks.called, ['a', 'b']);
    });

    it('have to be in form', async () => {
      const { client } = server();
      const post = (matchConditions: readonly object[]): Promise<string> =>
        client
          .post('/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations', {
            metadata: { name: 'bad' },
            webhooks: [{ ...webhook('v', { matchConditions }), admissionReviewVersions: ['v1'], sideEffects: 'None' }],
          })
          .then((reply) => refused(reply, 422, 'Invalid').message);
      assert.match(await post([{ name: 'a', expression: 'object.a' }]), /webhooks\[0\].matchConditions\[0\].expression: Invalid value: "object.a": must evaluate to bool/); // prettier-ignore
      assert.match(await post([{ name: 'a', expression: 'params.a == 1' }]), /undeclared reference to 'params'/);
      assert.match(
        await post([{ name: 'a b', expression: 'true' }]),
        /matchConditions\[0\].name: Invalid value: "a b"/,
      );
      const many = Array.from({ length: 65 }, (_, i) => ({ name: `a${i}`, expression: 'true' }));
      assert.match(await post(many), /webhooks\[0\].matchConditions: Too many: 65: must have at most 64 items/);
    });
  });

  it('do not see their own configurations', async () => {
    const { client } = server();
    hooks.say.set('v', () => ({ allowed: false }));
    const path = await add('Validating', webhook('v', { namespaceSelector: {} }));
    refused(await client.post(maps, configMap('x')), 400, undefined as never);
    ok(await client.patch(path, { metadata: { labels: { a: 'b' } } }));
    ok(await client.delete(path));
    await client.get(path);
    created(await client.post(maps, configMap('x')));
  });
});
