import assert from 'node:assert/strict';
import { eventsIn, flagsFor, place, until } from './tools/audit.js';
import type { Reply } from './tools/client.js';
import { define, newGroup, schemaWith, widget } from './tools/definitions.js';
import {
  configMap,
  configMapsIn,
  created,
  deployment,
  deploymentsIn,
  eventually,
  newNamespace,
  ok,
  refused,
} from './tools/objects.js';
import { bindingsOf, policiesOf, Policies, policy } from './tools/policies.js';
import { onServer } from './tools/server.js';

const audit = place({
  apiVersion: 'audit.platform.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});
interface TypeCheckingStatus {
  readonly observedGeneration?: number;
  readonly typeChecking: { readonly expressionWarnings?: readonly { fieldRef: string; warning: string }[] };
}

const FAILURE = 'validation.policy.admission.platform.io/validation_failure';

onServer('validating admission policies', { store: 'embedded', flags: flagsFor(audit) }, (server) => {
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
    policies.add('Validating', namespace, spec, bindingSpec);
  const send = (name: string, parts: Parameters<typeof configMap>[1] = {}): Promise<Reply> =>
    server().client.post(maps, configMap(name, parts));
  const denied = (reply: Reply, name: string, message: string): void => {
    const why = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${message}`;
    const { message: text, details } = refused(reply, 422, 'Invalid');
    assert.match(text, / is forbidden: /);
    assert.ok(text.endsWith(why), text);
    assert.deepEqual((details as { causes: object[] }).causes, [{ message: why }]);
  };

  it('refuse what does not meet them, in the words that they have for it', async () => {
    const name = await add({
      variables: [
        { name: 'size', expression: 'has(object.data) ? size(object.data) : 0' },
        { name: 'small', expression: 'variables.size < 3' },
        { name: 'broken', expression: 'object.data.nothing == "x"' },
      ],
      validations: [
        {
          expression: 'variables.small || variables.broken',
          messageExpression: '"too many: " + string(variables.size)',
          message: 'too many',
        },
        { expression: 'object.metadata.name != "bad"', message: 'bad is no name' },
        { expression: 'object.metadata.name != "worse"' },
        {
          expression: 'object.metadata.name != "fallback"',
          messageExpression: 'string(object.nothing)',
          message: 'plain',
        },
      ],
    });
    created(await send('x', { data: { a: '1' } }));
    denied(await send('y', { data: { a: '', b: '', c: '' } }), name, `expression 'variables.small || variables.broken' resulted in error: composited variable "broken" fails to evaluate: no such key: nothing`); // prettier-ignore
    denied(await send('z', { data: { a: '', b: '', nothing: 'y' } }), name, 'too many: 3');
    created(await send('w', { data: { a: '', b: '', nothing: 'x' } }));
    denied(await send('bad'), name, 'bad is no name');
    denied(await send('worse'), name, `failed expression: object.metadata.name != "worse"`);
    denied(await send('fallback'), name, 'plain');
    denied(await server().client.put(`${maps}/x`, configMap('x', { data: { a: '', b: '', nothing: '' } })), name, 'too many: 3'); // prettier-ignore
    assert.equal((await server().client.get(`${maps}/bad`)).code, 404);
  });

  it('refuse with the reasons that they may have', async () => {
    await add({ validations: [
      { expression: 'object.metadata.name != "a"', reason: 'Forbidden' },
      { expression: 'object.metadata.name != "b"', reason: 'RequestEntityTooLarge' },
    ] }); // prettier-ignore
    refused(await send('a'), 403, 'Forbidden');
    refused(await send('b'), 413, 'RequestEntityTooLarge');
  });

  it('warn, and tell the audit, when their bindings say so', async () => {
    const validations = [{ expression: 'true' }, { expression: 'false', message: 'never' }];
    const name = await add({ validations }, { validationActions: ['Warn', 'Audit'] });
    const reply = await send('warned');
    created(reply);
    const warning = `299 - "Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': never"`;
    assert.equal(reply.headers['warning'], warning);
    const told = {
      message: 'never',
      policy: name,
      binding: name,
      expressionIndex: 1,
      validationActions: ['Warn', 'Audit'],
    };
    await until(() => eventsIn(audit.log).some((it) => it.objectRef?.['name'] === 'warned'));
    const event = eventsIn(audit.log).find((it) => it.objectRef?.['name'] === 'warned');
    assert.deepEqual(JSON.parse(event?.annotations?.[FAILURE] ?? ''), [told]);
    const labels = { policy: name, policy_binding: name };
    for (const action of ['warn', 'audit']) {
      const check = { ...labels, enforcement_action: action, error_type: 'invalid_error' };
      assert.equal(await server().metric('apiserver_validating_admission_policy_check_total', check), 1);
    }
  });

  it('write annotations into the audit', async () => {
    const name = await add({
      auditAnnotations: [
        { key: 'high', valueExpression: `has(object.data) ? "size " + string(size(object.data)) : ""` },
        { key: 'empty', valueExpression: 'null' },
      ],
    });
    created(await send('annotated', { data: { a: '' } }));
    created(await send('silent'));
    await until(() => eventsIn(audit.log).some((it) => it.objectRef?.['name'] === 'silent'));
    const annotations = (object: string): Readonly<Record<string, string>> =>
      eventsIn(audit.log).find((it) => it.objectRef?.['name'] === object)?.annotations ?? {};
    assert.equal(annotations('annotated')[`${name}/high`], 'size 1');
    assert.ok(!(`${name}/empty` in annotations('annotated')) && !(`${name}/high` in annotations('silent')));
  });

  it('are about what their rules and selectors say', async () => {
    const { client } = server();
    const name = await add(
      {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'platform.io/metadata.name': namespace } },
          objectSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] },
          resourceRules: [{ operations: ['CREATE', 'DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          excludeResourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], resourceNames: ['spared'] }],
        },
        matchConditions: [{ name: 'not-exempt', expression: 'object == null || object.metadata.name != "exempt"' }],
        validations: [{ expression: 'false', message: 'no' }],
      },
      { matchResources: { objectSelector: { matchExpressions: [{ key: 'unbound', operator: 'DoesNotExist' }] } } },
    ); // prettier-ignore
    denied(await send('x'), name, 'no');
    created(await send('free', { labels: { free: '' } }));
    created(await send('unbound', { labels: { unbound: '' } }));
    created(await send('spared'));
    created(await send('exempt'));
    created(await client.post(deploymentsIn(namespace), deployment('x')));
    created(await client.post(configMapsIn(await newNamespace(client)), configMap('x')));
    ok(await client.put(`${maps}/exempt`, configMap('exempt', { data: { a: '1' } })));
    denied(await client.delete(`${maps}/exempt`), name, 'no');
    ok(await client.delete(`${maps}/spared`));
  });

  it('see objects in the version that they know', async () => {
    const { client } = server();
    const rules = [{ operations: ['CREATE'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }]; // prettier-ignore
    const constraints = (matchPolicy: string): object => ({
      matchPolicy,
      resourceRules: rules,
      namespaceSelector: { matchLabels: { 'platform.io/metadata.name': namespace } },
    });
    const validations = [{ expression: 'object.spec.targetCPUUtilizationPercentage < 50 && request.kind.version == "v1" && request.requestKind.version == "v2"', message: 'too much' }]; // prettier-ignore
    const autoscaler = (name: string, averageUtilization: number): object => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' },
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
      },
    });
    const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    await add({ matchConstraints: constraints('Exact'), validations: [{ expression: 'false' }] });
    created(await client.post(path, autoscaler('exact', 90)));
    const name = await add({ matchConstraints: constraints('Equivalent'), validations });
    created(await client.post(path, autoscaler('few', 40)));
    denied(await client.post(path, autoscaler('many', 90)), name, 'too much');
  });

  it('know the request, the namespace and the state before', async () => {
    const { client } = server();
    const name = await add({
      validations: [
        { expression: 'request.operation == "CREATE" || oldObject.data.a != object.data.a', message: 'the same' },
        { expression: `request.namespace == "${namespace}" && request.resource.resource == "configmaps"` },
        { expression: `namespaceObject.metadata.name == "${namespace}" && namespaceObject.status.phase == "Active"` },
        { expression: 'request.userInfo.username == "tester" && "system:masters" in request.userInfo.groups' },
        { expression: 'request.operation != "CREATE" || oldObject == null' },
        { expression: 'request.dryRun == (object.metadata.name == "dry")', message: 'wet' },
      ],
    });
    created(await send('x', { data: { a: '1' } }));
    denied(await client.put(`${maps}/x`, configMap('x', { data: { a: '1' } })), name, 'the same');
    created(await client.post(`${maps}?dryRun=All`, configMap('dry', { data: { a: '1' } })));
    assert.equal((await client.get(`${maps}/dry`)).code, 404);
    denied(await client.post(`${maps}?dryRun=All`, configMap('y', { data: { a: '1' } })), name, 'wet');
  });

  it('ask who may do what', async () => {
    const { client } = server();
    const mine = 'authorizer.requestResource.check("boast").allowed()';
    const name = await add({
      validations: [
        { expression: `${mine} || object.metadata.name != "boast"`, message: 'no boasting' },
        { expression: '!authorizer.serviceAccount("default", "x").group("").resource("secrets").namespace("default").check("get").allowed()' }, // prettier-ignore
      ],
    });
    created(await send('boast'));
    const role = {
      metadata: { name: namespace },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
    };
    const rbac = `/apis/rbac.authorization.platform.io/v1/namespaces/${namespace}`;
    created(await client.post(`${rbac}/roles`, role));
    const roleRef = { kind: 'Role', name: namespace, apiGroup: 'rbac.authorization.platform.io' };
    created(await client.post(`${rbac}/rolebindings`, { metadata: { name: namespace }, roleRef, subjects: [{ kind: 'User', name: 'eve' }] })); // prettier-ignore
    const asEve = (of: string): Promise<Reply> =>
      client.request('POST', maps, { body: configMap(of), headers: { 'impersonate-user': 'eve' } });
    created(await asEve('modest'));
    await client.delete(`${maps}/boast`);
    denied(await asEve('boast'), name, 'no boasting');
  });

  describe('with parameters', () => {
    const validations = [{ expression: 'params == null || int(params.data.most) > 5', messageExpression: '"got " + params.metadata.name' }]; // prettier-ignore
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const limit = async (name: string, most: number, labels: Readonly<Record<string, string>> = {}): Promise<void> => {
      created(await server().client.post(limits, configMap(name, { data: { most: String(most) }, labels })));
    };
    let limits: string;
    let elsewhere: string;
    beforeEach(async () => {
      elsewhere = await newNamespace(server().client);
      limits = configMapsIn(elsewhere);
    });

    it('take one by its name, and do what is said where there is none', async () => {
      const paramRef = { name: 'limit', namespace: elsewhere, parameterNotFoundAction: 'Deny' };
      const name = await add({ paramKind, validations }, { paramRef });
      denied(await send('x'), name, 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'); // prettier-ignore
      await limit('limit', 3);
      denied(await send('x'), name, 'got limit');
      ok(await server().client.patch(`${limits}/limit`, { data: { most: '9' } }));
      created(await send('x'));
      await policies.removeAll();
      const allowed = { ...paramRef, name: 'nothing', parameterNotFoundAction: 'Allow' };
      await add({ paramKind, validations: [{ expression: 'false' }] }, { paramRef: allowed });
      created(await send('y'));
    });

    it('take all with certain labels, and one in the namespace of each request', async () => {
      const selector = { matchLabels: { limit: 'yes' } };
      const paramRef = { selector, namespace: elsewhere, parameterNotFoundAction: 'Deny' };
      await limit('a', 9, { limit: 'yes' });
      await limit('b', 3, { limit: 'no' });
      const name = await add({ paramKind, validations }, { paramRef });
      created(await send('x'));
      await limit('c', 3, { limit: 'yes' });
      denied(await send('y'), name, 'got c');
      await policies.removeAll();
      created(await send('own', { data: { most: '1' } }));
      const own = await add(
        { paramKind, validations },
        { paramRef: { name: 'own', parameterNotFoundAction: 'Allow' } },
      );
      denied(await send('z'), own, 'got own');
    });

    it('take custom resources, and fail where their kind is not served', async () => {
      const { client } = server();
      const group = newGroup();
      const kind = { apiVersion: `${group}/v1`, kind: 'Widget' };
      const custom = [{ expression: 'params.spec.size > 5 && params.kind == "Widget"', message: 'small' }];
      const paramRef = { name: 'limit', namespace: elsewhere, parameterNotFoundAction: 'Deny' };
      const name = await add({ paramKind: kind, validations: custom }, { paramRef });
      const missing = `ValidatingAdmissionPolicy '${name}' denied request: failed to configure policy: failed to find resource referenced by paramKind: '${group}/v1, Kind=Widget'`; // prettier-ignore
      assert.ok(refused(await send('x'), 422, 'Invalid').message.endsWith(missing));
      const path = await define(client, group, {
        version: { schema: schemaWith({ properties: { size: { type: 'integer' } } }) },
      });
      created(await client.post(path(elsewhere), widget(group, 'limit', { size: 3 })));
      denied(await send('x'), name, 'small');
      ok(await client.patch(`${path(elsewhere)}/limit`, { spec: { size: 8 } }));
      created(await send('x'));
    });
  });

  it('fail as their failure policy says', async () => {
    const broken = [{ expression: 'object.nothing == 1' }];
    const dear = `[${'1,'.repeat(40)}1]`;
    const loops = `${dear}.all(a, ${dear}.all(b, ${dear}.all(c, ${dear}.all(d, a == b || c == d || true))))`;
    await add({ failurePolicy: 'Ignore', validations: broken });
    await add({ failurePolicy: 'Ignore', paramKind: { apiVersion: 'x/v1', kind: 'X' }, validations: broken });
    await add({ failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: 'object.nothing' + ' == 1' }], validations: [{ expression: 'false' }] }); // prettier-ignore
    await add({ failurePolicy: 'Ignore', validations: [{ expression: loops }] });
    created(await send('x'));
    const name = await add({ validations: [{ expression: loops }] });
    denied(
      await send('y'),
      name,
      `expression '${loops}' resulted in error: operation cancelled: actual cost limit exceeded`,
    );
    await policies.removeAll();
    const conditional = await add({ matchConditions: [{ name: 'c', expression: 'object.nothing == 1' }], validations: [{ expression: 'false' }] }); // prettier-ignore
    denied(await send('y'), conditional, `expression 'object.nothing == 1' resulted in error: no such key: nothing`);
  });

  it('are about no policies, and no webhooks', async () => {
    const { client } = server();
    const everything = { resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }], objectSelector: { matchLabels: { caught: 'yes' } } }; // prettier-ignore
    await add({ matchConstraints: everything, validations: [{ expression: 'false' }] });
    refused(await send('x', { labels: { caught: 'yes' } }), 422, 'Invalid');
    const metadata = { name: `caught-${namespace}`, labels: { caught: 'yes' } };
    const caught = { ...policy('Validating', '', namespace, { validations: [{ expression: 'true' }] }), metadata };
    await policies.make(policiesOf('Validating'), caught);
    await policies.make(bindingsOf('Validating'), { metadata, spec: { policyName: 'x', validationActions: ['Deny'] } });
    await policies.make('/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations', { metadata });
    const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
    created(await client.post('/apis/authorization.platform.io/v1/selfsubjectaccessreviews', review));
  });

  it('are held against the types that they are about, and told in their status', async () => {
    const { client } = server();
    const rule = { operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
    const name = await add({
      matchConstraints: { resourceRules: [rule] },
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'copies', expression: 'object.spec.replicas' }],
      validations: [
        { expression: 'object.spec.replicas > 1 && object.metadata.namespace == "x" && params.data.x == "y"' },
        { expression: 'object.spec.replica > 1', messageExpression: '"x" + string(oldObject.spec.size)' },
        { expression: 'variables.copies == "x"' },
        { expression: 'params.spec.x == 1' },
      ],
    });
    const path = `${policiesOf('Validating')}/${name}`;
    const told = async (generation: number): Promise<readonly { fieldRef: string; warning: string }[]> => {
      const status = await eventually(async () => {
        const { status: said } = (await client.get(path)).body as unknown as { status: TypeCheckingStatus };
        return said.observedGeneration === generation ? said : undefined;
      });
      return status.typeChecking.expressionWarnings ?? [];
    };
    const warnings = await told(1);
    assert.deepEqual(
      warnings.map(({ fieldRef }) => fieldRef),
      ['[1].expression', '[1].messageExpression', '[2].expression', '[3].expression'].map(
        (it) => `spec.validations${it}`,
      ),
    );
    assert.equal(
      warnings[0]?.warning,
      "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica > 1\n | ...........^\n",
    );
    ok(await client.patch(path, { spec: { validations: [{ expression: 'object.spec.replicas > 1' }] } }));
    assert.deepEqual(await told(2), []);
    ok(await client.patch(path, { metadata: { labels: { a: 'b' } }, status: { observedGeneration: 7 } }));
    assert.deepEqual(await told(2), []);
  });

  it('show their parameters to nobody who may not read them', async () => {
    const { client } = server();
    const rbac = '/apis/rbac.authorization.platform.io/v1';
    const name = `writes-policies-${namespace}`;
    const rule = { apiGroups: ['admissionregistration.platform.io'], resources: ['*'], verbs: ['*'] };
    const roleRef = { kind: 'ClusterRole', name, apiGroup: 'rbac.authorization.platform.io' };
    const subjects = [{ kind: 'User', name: 'eve' }];
    created(await client.post(`${rbac}/clusterroles`, { metadata: { name }, rules: [rule] }));
    created(await client.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }));
    const asEve = (path: string, body: object): Promise<Reply> =>
      client.request('POST', `${path}?dryRun=All`, { body, headers: { 'impersonate-user': 'eve' } });
    const validations = [{ expression: 'true' }];
    const paramKind = { apiVersion: 'v1', kind: 'Secret' };
    const spied = policy('Validating', 'spied', namespace, { paramKind, validations });
    refused(await asEve(policiesOf('Validating'), spied), 422, 'Invalid', /spec.paramKind: Forbidden: user "eve" must have "get" permission on all objects of the referenced paramKind \(kind=Secret, apiVersion=v1\)$/); // prettier-ignore
    created(await asEve(policiesOf('Validating'), policy('Validating', 'plain', namespace, { validations })));
    const paramRef = { name: 'x', namespace, parameterNotFoundAction: 'Deny' };
    const bound = await add(
      { paramKind, validations },
      { paramRef: { ...paramRef, parameterNotFoundAction: 'Allow' } },
    );
    const spec = { policyName: bound, validationActions: ['Deny'] };
    const spying = { metadata: { name: 'spying' }, spec: { ...spec, paramRef } };
    refused(await asEve(bindingsOf('Validating'), spying), 422, 'Invalid', /spec.paramRef: Forbidden: user "eve" does not have "get" permission on the object referenced by paramRef$/); // prettier-ignore
    created(await asEve(bindingsOf('Validating'), { metadata: { name: 'plain' }, spec }));
    const secrets = {
      metadata: { name: 'reads' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    };
    const inNamespace = `${rbac}/namespaces/${namespace}`;
    created(await client.post(`${inNamespace}/roles`, secrets));
    created(await client.post(`${inNamespace}/rolebindings`, { metadata: { name: 'reads' }, roleRef: { ...roleRef, kind: 'Role', name: 'reads' }, subjects })); // prettier-ignore
    created(await asEve(bindingsOf('Validating'), spying));
  });

  it('have to compile, and to be in form', async () => {
    const { client } = server();
    const bad = policy('Validating', 'bad', namespace, {
      validations: [{ expression: 'object.x', reason: 'Other' }, { expression: '1 +' }],
      matchConditions: [{ name: 'a b', expression: '1' }],
    });
    const { message } = refused(await client.post(policiesOf('Validating'), bad), 422, 'Invalid');
    assert.match(
      message,
      /spec.validations\[0\].expression: Invalid value: "object.x": must evaluate to bool but got dyn/,
    );
    assert.match(message, /spec.validations\[0\].reason: Unsupported value: "Other"/);
    assert.match(message, /spec.validations\[1\].expression: Invalid value: "1 \+": compilation failed: .*1:4: /);
    assert.match(message, /spec.matchConditions\[0\].name: Invalid value: "a b"/);
    const binding = {
      metadata: { name: 'bad' },
      spec: { policyName: 'x', validationActions: ['Deny', 'Warn'], paramRef: {} },
    };
    const reply = refused(await client.post(bindingsOf('Validating'), binding), 422, 'Invalid');
    assert.match(reply.message, /must not contain both Deny and Warn/);
    assert.match(reply.message, /spec.paramRef: Required value: one of name or selector must be specified/);
  });
});
