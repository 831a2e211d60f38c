import assert from 'node:assert/strict';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson } from '../../../client/testing/tls-service.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { servedAs } from '../../registry/testing/served.js';
import { AdmissionChain } from '../chain.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { requestFor, type TestedRequest } from '../testing/request.js';
import { createMetrics } from '../../metrics/metrics.js';
import { configMapRequest, patch, WebhookScene, type Say } from './testing/webhook-scene.js';

const set = (key: string, value: string): object => patch({ op: 'add', path: `/data/${key}`, value });
const dataOf = ({ object }: AdmissionRequest): unknown => object?.['data'];

describe('mutatingWebhooks()', () => {
  const authority = new TestAuthority('hooks');
  let scene: WebhookScene;
  beforeEach(async () => (scene = await WebhookScene.start(authority)));
  afterEach(() => scene.close());
  after(() => authority.remove());

  /** The whole phase, with the plugins of a test behind the webhooks. */
  const admit = async (request: AdmissionRequest, ...others: AdmissionPlugin[]): Promise<void> => {
    const plugins = [scene.mutating(), ...others].map((it, i): [string, AdmissionPlugin] => [String(i), it]);
    await new AdmissionChain(new Map(plugins), createMetrics().admission).mutate(request);
  };
  const refusal = async (request = configMapRequest()): Promise<StatusError> => {
    const err: unknown = await admit(request).catch((reason: unknown) => reason);
    assert.ok(err instanceof StatusError, String(err));
    return err;
  };

  it('asks nobody where no webhook is configured, and waits for nothing', () => {
    const phase = { isReinvocation: false, reinvoke: () => undefined };
    assert.equal(scene.mutating().mutate?.(configMapRequest(), phase), undefined);
  });

  it('calls webhooks one after the other; each sees what those before it have made', async () => {
    const seen: unknown[] = [];
    const say =
      (key: string): Say =>
      ({ request: { object } }) => {
        seen.push((object as ApiObject)['data']);
        return set(key, '1');
      };
    scene.say.set('w0', say('x')).set('w1', say('y'));
    scene.configure('a', {}, {});
    const request = configMapRequest({});
    await admit(request);
    assert.deepEqual(seen, [{}, { x: '1' }]);
    assert.deepEqual(dataOf(request), { x: '1', y: '1' });
  });

  it('follows a configuration that changes', async () => {
    const plugin = scene.mutating();
    const run = (): Promise<void> =>
      new AdmissionChain(new Map([['webhooks', plugin]]), createMetrics().admission).mutate(configMapRequest());
    await run();
    scene.configure('a', {});
    await run();
    scene.unconfigure();
    await run();
    assert.deepEqual(scene.called, ['w0']);
  });

  it('changes the object in place, and fills in defaults', async () => {
    const { declaration } = servedAs('', 'v1', 'services');
    scene.say.set('w0', () => patch({ op: 'add', path: '/spec/ports/-', value: { name: 'b', port: 81 } }));
    scene.configure('a', {});
    const object: ApiObject = { kind: 'Service', apiVersion: 'v1', metadata: { name: 'x', namespace: 'default' }, spec: { ports: [{ name: 'a', port: 80, protocol: 'TCP', targetPort: 80 }] } }; // prettier-ignore
    await admit(requestFor(declaration, object));
    const { ports } = object['spec'] as { ports: unknown[] };
    assert.deepEqual(ports[1], { name: 'b', port: 81, protocol: 'TCP', targetPort: 81 });
  });

  it('shows a webhook the version that it knows, and takes its patch in that', async () => {
    const scalers = servedAs('autoscaling', 'v2', 'horizontalpodautoscalers');
    const object = scalers.toStorage(
      scalers.decode({ metadata: { name: 'x', namespace: 'default' }, spec: { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'd' }, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }] } }), // prettier-ignore
    );
    scene.say.set('w0', () => patch({ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 70 }));
    scene.configure('a', {
      rules: [{ operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['*'] }],
    });
    await admit(requestFor(scalers.declaration, object));
    const [{ request } = assert.fail()] = scene.reviews;
    assert.equal(request.object?.apiVersion, 'autoscaling/v1');
    assert.deepEqual(request.kind, { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' });
    assert.deepEqual(request.requestKind, { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' });
    assert.deepEqual(request.requestResource, { ...request.resource, version: 'v2' });
    assert.match(JSON.stringify(object['spec']), /"averageUtilization":70|"targetCPUUtilizationPercentage":70/);
    assert.equal(object.apiVersion, `autoscaling/${scalers.stored.hub.version}`);
  });

  const APPLIED: readonly (readonly [string, object, RegExp | undefined])[] = [
    ['nothing', patch(), undefined],
    [
      'no list',
      { patchType: 'JSONPatch', patch: Buffer.from('{}').toString('base64') },
      /the patch is no list of operations/,
    ],
    ['no JSON', { patchType: 'JSONPatch', patch: Buffer.from('[').toString('base64') }, /json parse error/],
    ['a missing member', patch({ op: 'remove', path: '/data/none' }), /doc is missing path: "\/data\/none"/],
    ['a test that fails', patch({ op: 'test', path: '/data/a', value: '2' }), /testing value "\/data\/a" failed/],
    ['an unknown operation', patch({ op: 'merge', path: '/data' }), /has no known "op"/],
    ['another type of value', patch({ op: 'add', path: '/data', value: 7 }), /cannot unmarshal|map/],
    ['another kind', patch({ op: 'add', path: '/kind', value: 'Secret' }), /the kind in the data/],
    ['the name', patch({ op: 'add', path: '/metadata/name', value: 'y' }), /changes metadata.name/],
    ['the namespace', patch({ op: 'add', path: '/metadata/namespace', value: 'y' }), /changes metadata.namespace/],
    ['the uid', patch({ op: 'add', path: '/metadata/uid', value: 'y' }), /changes metadata.uid/],
    [
      'the beginning of a name',
      patch({ op: 'add', path: '/metadata/generateName', value: 'y' }),
      /changes metadata.generateName/,
    ],
    ['all of the object', patch({ op: 'replace', path: '', value: {} }), /changes metadata.name/],
    ['a label', patch({ op: 'add', path: '/metadata/labels', value: { a: 'b' } }), undefined],
  ];
  for (const [what, response, why] of APPLIED) {
    it(`${why === undefined ? 'takes' : 'refuses'} a patch of ${what}`, async () => {
      scene.say.set('w0', () => response);
      scene.configure('a', { failurePolicy: 'Ignore' });
      if (why === undefined) return admit(configMapRequest());
      const request = configMapRequest();
      const { code, message } = await refusal(request);
      assert.deepEqual([code, dataOf(request)], [500, { a: '1' }]);
      assert.match(message, /^Internal error occurred: /);
      assert.match(message, why);
      assert.deepEqual(
        scene.calls.map(({ rejected, code: told }) => [rejected, told]),
        [['apiserver_internal_error', 0]],
      );
    });
  }

  it('refuses a patch where there is no object', async () => {
    scene.say.set('w0', () => set('x', '1'));
    scene.configure('a', {});
    const request = configMapRequest(
      {},
      { operation: 'DELETE', object: undefined, oldObject: configMapRequest().object },
    );
    assert.match((await refusal(request)).message, /there is no object to patch/);
  });

  describe('in a second round', () => {
    const appended: Say = ({ request: { object } }) => {
      const { log = '' } = (object as ApiObject)['data'] as { log?: string };
      return set('log', `${log}+`);
    };
    const twice = { reinvocationPolicy: 'IfNeeded' };

    it('calls those again that want it and came before a change', async () => {
      scene.say.set('w2', appended);
      scene.configure('a', twice, {}, {}, twice);
      await admit(configMapRequest({}));
      assert.deepEqual(scene.called, ['w0', 'w1', 'w2', 'w3', 'w0']);
    });

    it('calls nobody again where nothing was changed', async () => {
      scene.configure('a', twice, twice);
      await admit(configMapRequest({}));
      assert.deepEqual(scene.called, ['w0', 'w1']);
    });

    it('does not call the only one that has changed the object again', async () => {
      scene.say.set('w0', appended);
      scene.configure('a', twice);
      const request = configMapRequest({});
      await admit(request);
      assert.deepEqual([scene.called, dataOf(request)], [['w0'], { log: '+' }]);
    });

    it('calls those again that another change of this round concerns, and never a third time', async () => {
      scene.say.set('w0', appended).set('w1', appended);
      scene.configure('a', twice, twice);
      const request = configMapRequest({});
      await admit(request);
      assert.deepEqual([scene.called, dataOf(request)], [['w0', 'w1', 'w0', 'w1'], { log: '++++' }]);
    });

    it('calls them again where a plugin has changed the object since', async () => {
      let rounds = 0;
      const plugin: AdmissionPlugin = {
        operations: ['CREATE'],
        mutate: ({ object }, phase) => {
          if (rounds++ > 0) return;
          (object as ApiObject)['data'] = { by: 'plugin' };
          phase.reinvoke();
        },
      };
      scene.configure('a', twice, {});
      await admit(configMapRequest({}), plugin);
      assert.deepEqual(scene.called, ['w0', 'w1', 'w0']);
    });

    it('tells the audit of both rounds', async () => {
      scene.say.set('w1', () => set('x', '1'));
      scene.configure('a', twice, {});
      const { annotations } = await annotated(configMapRequest({}));
      assert.deepEqual(
        annotations
          .filter(([key]) => key.startsWith('mutation.'))
          .map(([key, value]) => [key, JSON.parse(value) as unknown]),
        [
          [
            'mutation.webhook.admission.platform.io/round_0_index_0',
            { configuration: 'a', webhook: 'w0.example.com', mutated: false },
          ],
          [
            'mutation.webhook.admission.platform.io/round_0_index_1',
            { configuration: 'a', webhook: 'w1.example.com', mutated: true },
          ],
          [
            'mutation.webhook.admission.platform.io/round_1_index_0',
            { configuration: 'a', webhook: 'w0.example.com', mutated: false },
          ],
        ],
      );
    });
  });

  /** What a request tells the audit, with the level. */
  const annotated = async (request: TestedRequest): Promise<{ annotations: [string, string, string?][] }> => {
    const annotations: [string, string, string?][] = [];
    const told = { ...request, annotate: (...it: [string, string, string?]) => void annotations.push(it) };
    await admit(told as AdmissionRequest).catch(() => undefined);
    return { annotations };
  };

  it('tells the audit of a patch, at the level of requests', async () => {
    scene.say.set('w0', () => set('x', '1'));
    scene.configure('a', {});
    const { annotations } = await annotated(configMapRequest({}));
    const found = annotations.find(([key]) => key.startsWith('patch.'));
    assert.deepEqual([found?.[0], found?.[2]], ['patch.webhook.admission.platform.io/round_0_index_0', 'Request']);
    assert.deepEqual(JSON.parse(found?.[1] ?? ''), {
      configuration: 'a',
      webhook: 'w0.example.com',
      patch: [{ op: 'add', path: '/data/x', value: '1' }],
      patchType: 'JSONPatch',
    });
  });

  it('goes on past a webhook that fails and may, and tells so', async () => {
    scene.say.set('w0', (_, res) => answerJson(res, {}, 500)).set('w1', () => set('x', '1'));
    scene.configure('a', { failurePolicy: 'Ignore' }, {});
    const request = configMapRequest({});
    const { annotations } = await annotated(request);
    assert.deepEqual(dataOf(request), { x: '1' });
    const [key, webhook] = annotations.find(([it]) => it.startsWith('failed-open.')) ?? [];
    assert.deepEqual(
      [key, webhook],
      ['failed-open.mutation.webhook.admission.platform.io/round_0_index_0', 'w0.example.com'],
    );
    assert.deepEqual(
      scene.calls.map(({ code, rejected, failedOpen }) => [code, rejected, failedOpen]),
      [
        [500, undefined, true],
        [200, undefined, false],
      ],
    );
  });

  it('stops at the first that denies', async () => {
    scene.say.set('w0', () => ({ allowed: false, status: { code: 409, message: 'no' } }));
    scene.configure('a', {}, {});
    const { code, message } = await refusal();
    assert.deepEqual([code, message], [409, 'admission webhook "w0.example.com" denied the request: no']);
    assert.deepEqual(scene.called, ['w0']);
    assert.deepEqual(
      scene.calls.map(({ name, step, operation, code: told, rejected }) => [name, step, operation, told, rejected]),
      [['w0.example.com', 'admit', 'CREATE', 409, 'no_error']],
    );
  });
});
