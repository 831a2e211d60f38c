import assert from 'node:assert/strict';
import type { RuleWithOperations } from '../../../machinery/types/generated/admissionregistration.v1.js';
import { resources, servedAs, words } from '../../registry/testing/served.js';
import type { AdmissionOperation } from '../plugin.js';
import { compileWebhooks, type CompiledWebhook } from './compiled.js';
import { kindOf, matches, Matches } from './matching.js';
import { cached } from './testing/webhook-scene.js';

const pods = servedAs('', 'v1', 'pods').declaration;
const nodes = servedAs('', 'v1', 'nodes').declaration;
const namespaces = servedAs('', 'v1', 'namespaces').declaration;
const deployments = servedAs('apps', 'v1', 'deployments').declaration;
const scalers = servedAs('autoscaling', 'v2', 'horizontalpodautoscalers').declaration;
const oldScalers = servedAs('autoscaling', 'v1', 'horizontalpodautoscalers').declaration;
const coreEvents = servedAs('', 'v1', 'events').declaration;
const events = servedAs(words.groups.events, 'v1', 'events').declaration;
const ALL: RuleWithOperations = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };

describe('matches()', () => {
  const ROWS: readonly (readonly [string, RuleWithOperations, typeof pods, string, AdmissionOperation, boolean])[] = [
    ['everything', {}, pods, 'exec', 'CONNECT', true],
    ['an operation that is named', { operations: ['CREATE', 'DELETE'] }, pods, '', 'DELETE', true],
    ['no other operation', { operations: ['CREATE', 'DELETE'] }, pods, '', 'UPDATE', false],
    ['no operation without a list', { operations: [] }, pods, '', 'UPDATE', false],
    ['a group that is named', { apiGroups: ['', 'apps'] }, deployments, '', 'CREATE', true],
    ['no other group', { apiGroups: ['apps'] }, pods, '', 'CREATE', false],
    ['a version that is named', { apiVersions: ['v1'] }, oldScalers, '', 'CREATE', true],
    ['no other version', { apiVersions: ['v1'] }, scalers, '', 'CREATE', false],
    ['a resource that is named', { resources: ['nodes', 'pods'] }, pods, '', 'CREATE', true],
    ['no other resource', { resources: ['nodes'] }, pods, '', 'CREATE', false],
    ['no sub-resource of a resource that is named', { resources: ['pods'] }, pods, 'status', 'UPDATE', false],
    ['all resources by *', { resources: ['*'] }, pods, '', 'CREATE', true],
    ['no sub-resource by *', { resources: ['*'] }, pods, 'status', 'UPDATE', false],
    ['sub-resources by */*', { resources: ['*/*'] }, pods, 'status', 'UPDATE', true],
    ['resources by */*', { resources: ['*/*'] }, pods, '', 'UPDATE', true],
    ['any sub-resource by pods/*', { resources: ['pods/*'] }, pods, 'eviction', 'CREATE', true],
    ['the pods themselves by pods/*', { resources: ['pods/*'] }, pods, '', 'CREATE', true],
    ['no other resource by pods/*', { resources: ['pods/*'] }, nodes, 'status', 'UPDATE', false],
    ['one sub-resource of any by */status', { resources: ['*/status'] }, nodes, 'status', 'UPDATE', true],
    ['no resource itself by */status', { resources: ['*/status'] }, nodes, '', 'UPDATE', false],
    ['no other sub-resource by */status', { resources: ['*/status'] }, pods, 'exec', 'CONNECT', false],
    ['a sub-resource that is named', { resources: ['pods/exec'] }, pods, 'exec', 'CONNECT', true],
    ['objects of namespaces by their scope', { scope: 'Namespaced' }, pods, '', 'CREATE', true],
    ['no objects of the cluster by it', { scope: 'Namespaced' }, nodes, '', 'CREATE', false],
    ['no namespace by it', { scope: 'Namespaced' }, namespaces, '', 'CREATE', false],
    ['namespaces as objects of the cluster', { scope: 'Cluster' }, namespaces, '', 'CREATE', true],
    ['no objects of namespaces as those', { scope: 'Cluster' }, pods, '', 'CREATE', false],
    ['both scopes by *', { scope: '*' }, pods, '', 'CREATE', true],
  ];
  for (const [what, rule, resource, subresource, operation, expected] of ROWS) {
    it(`covers ${what}`, () =>
      assert.equal(matches({ ...ALL, ...rule }, { resource, subresource, operation }), expected));
  }
});

describe('Matches', () => {
  const webhooks = (...all: readonly object[]): readonly CompiledWebhook[] =>
    compileWebhooks([
      cached({ metadata: { name: 'c' }, webhooks: all.map((it, i) => ({ name: `w${i}`, rules: [ALL], ...it })) }),
    ]);
  const found = (asked: Parameters<Matches['of']>[0], ...all: readonly object[]): readonly string[] =>
    new Matches(webhooks(...all), { resources, vocabulary: words })
      .of(asked)
      .map(({ webhook, as }) => `${webhook.name} ${as.group}/${as.version}`);
  const create = (resource: typeof pods, subresource = ''): Parameters<Matches['of']>[0] => ({
    operation: 'CREATE',
    resource,
    subresource,
  });
  const only = (rule: RuleWithOperations, more: object = {}): object => ({ rules: [{ ...ALL, ...rule }], ...more });

  it('finds webhooks in their order, by any of their rules', () => {
    const either = {
      rules: [
        { ...ALL, resources: ['nodes'] },
        { ...ALL, resources: ['pods'] },
      ],
    };
    assert.deepEqual(found(create(pods), {}, only({ resources: ['nodes'] }), either), ['w0 /v1', 'w2 /v1']);
  });

  it('finds the same again, and others for another operation or sub-resource', () => {
    const all = new Matches(webhooks(only({ operations: ['CREATE'], resources: ['pods'] })), {
      resources,
      vocabulary: words,
    });
    assert.equal(all.of(create(pods)), all.of(create(pods)));
    assert.equal(all.of(create(pods)).length, 1);
    assert.deepEqual(all.of({ ...create(pods), operation: 'UPDATE' }), []);
    assert.deepEqual(all.of(create(pods, 'binding')), []);
    assert.deepEqual(all.of(create(nodes)), []);
  });

  it('shows an object in the version that the webhook knows', () => {
    const v1 = { apiGroups: ['autoscaling'], apiVersions: ['v1'] };
    assert.deepEqual(found(create(scalers), only(v1)), ['w0 autoscaling/v1']);
    assert.deepEqual(found(create(scalers), only(v1, { matchPolicy: 'Equivalent' })), ['w0 autoscaling/v1']);
    assert.deepEqual(found(create(scalers), only(v1, { matchPolicy: 'Exact' })), []);
    assert.deepEqual(found({ ...create(scalers, 'status'), operation: 'UPDATE' }, only(v1)), ['w0 autoscaling/v1']);
  });

  it('shows it as it was sent where the webhook knows that too', () => {
    assert.deepEqual(found(create(scalers), only({ apiVersions: ['v1', 'v2'] })), ['w0 autoscaling/v2']);
  });

  it('shows it in another group where that serves the same', () => {
    assert.deepEqual(found(create(coreEvents), only({ apiGroups: [words.groups.events] })), [
      `w0 ${words.groups.events}/v1`,
    ]);
    assert.deepEqual(found(create(events), only({ apiGroups: [''] })), ['w0 /v1']);
  });

  for (const resource of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    it(`lets no webhook see ${resource}`, () => {
      const { declaration } = servedAs(words.groups.admissionregistration, 'v1', resource);
      assert.deepEqual(found(create(declaration), {}), []);
    });
  }
});

describe('kindOf()', () => {
  it('tells the kind of a resource, and of a sub-resource with one of its own', () => {
    assert.deepEqual(kindOf(deployments, ''), { group: 'apps', version: 'v1', kind: 'Deployment' });
    assert.deepEqual(kindOf(deployments, 'status'), { group: 'apps', version: 'v1', kind: 'Deployment' });
    assert.deepEqual(kindOf(deployments, 'scale'), { group: 'autoscaling', version: 'v1', kind: 'Scale' });
    assert.deepEqual(kindOf(pods, 'exec'), { group: '', version: 'v1', kind: 'PodExecOptions' });
  });
});

describe('compileWebhooks()', () => {
  it('fills in what is not said, and keeps what is', () => {
    const [plain, full] = compileWebhooks([
      cached({ metadata: { name: 'a' }, webhooks: [{ name: 'x', clientConfig: {} }] }),
      cached({
        metadata: { name: 'b' },
        webhooks: [
          {
            name: 'y',
            clientConfig: { url: 'https://a' },
            timeoutSeconds: 3,
            failurePolicy: 'Ignore',
            matchPolicy: 'Exact',
            sideEffects: 'NoneOnDryRun',
            reinvocationPolicy: 'IfNeeded',
            admissionReviewVersions: ['v1'],
          },
        ],
      }),
    ]);
    assert.ok(plain && full);
    const told = ({ configuration, position, timeoutSeconds, failsOpen, isExact, hasNoSideEffects, isReinvoked, reviewVersions }: CompiledWebhook): unknown[] =>
      [configuration, position, timeoutSeconds, failsOpen, isExact, hasNoSideEffects, isReinvoked, reviewVersions]; // prettier-ignore
    assert.deepEqual(told(plain), ['a', 0, 10, false, false, false, false, []]);
    assert.deepEqual(told(full), ['b', 1, 3, true, true, true, true, ['v1']]);
    assert.ok(plain.objectSelector.empty && plain.namespaceSelector.empty);
  });

  it('counts positions over all configurations', () => {
    const two = { webhooks: [{ name: 'x' }, { name: 'y' }] };
    const all = compileWebhooks([
      cached({ metadata: { name: 'a' }, ...two }),
      cached({ metadata: { name: 'b' }, ...two }),
    ]);
    assert.deepEqual(
      all.map(({ configuration, name, position }) => `${configuration} ${name} ${position}`),
      ['a x 0', 'a y 1', 'b x 2', 'b y 3'],
    );
    assert.equal(new Set(all.map(({ id }) => id)).size, 4);
  });
});
