import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson, type Handler } from '../../../client/testing/tls-service.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { servedAs } from '../../registry/testing/served.js';
import type { AdmissionRequest } from '../plugin.js';
import { requestFor } from '../testing/request.js';
import { configMapRequest, reviewed, WebhookScene, type SentReview } from './testing/webhook-scene.js';

describe('validatingWebhooks()', () => {
  const authority = new TestAuthority('hooks');
  let scene: WebhookScene;
  beforeEach(async () => (scene = await WebhookScene.start(authority)));
  afterEach(() => scene.close());
  after(() => authority.remove());

  const admit = async (request: AdmissionRequest = configMapRequest()): Promise<void> =>
    scene.validating().validate?.(request);
  const refusal = async (request?: AdmissionRequest): Promise<StatusError> => {
    const err: unknown = await admit(request).catch((reason: unknown) => reason);
    assert.ok(err instanceof StatusError, String(err));
    return err;
  };

  it('waits for nothing where nobody is asked', () => {
    assert.equal(scene.validating().validate?.(configMapRequest()), undefined);
  });

  it('asks all at once', async () => {
    const waiting: [SentReview, ServerResponse][] = [];
    const together: Handler = ({ body }, res) => {
      waiting.push([JSON.parse(body) as SentReview, res]);
      if (waiting.length === 3) for (const [review, later] of waiting) answerJson(later, reviewed(review, {}));
    };
    for (const path of ['w0', 'w1', 'w2']) scene.say.set(path, together);
    scene.configure('a', {}, {}, {});
    await admit();
    assert.equal(waiting.length, 3);
  });

  it('waits no longer when one refuses', async () => {
    const cut = new Promise<void>((resolve) => {
      scene.say.set('w0', (_: unknown, res: ServerResponse) => void res.on('close', resolve));
    });
    scene.say.set('w1', () => ({ allowed: false }));
    scene.configure('a', {}, {});
    assert.equal(
      (await refusal()).message,
      'admission webhook "w1.example.com" denied the request without explanation',
    );
    await cut;
    assert.deepEqual(
      scene.calls.map(({ name }) => name),
      ['w1.example.com'],
    );
  });

  it('takes no patch', async () => {
    scene.say.set('w0', () => ({ patch: 'W10=', patchType: 'JSONPatch' }));
    scene.configure('a', {});
    const { code, message } = await refusal();
    assert.equal(code, 500);
    assert.match(
      message,
      /failed calling webhook "w0.example.com": .*validating webhook may not return response.patch$/,
    );
    assert.deepEqual(
      scene.calls.map(({ step, rejected, code: told }) => [step, rejected, told]),
      [['validating', 'calling_webhook_error', 503]],
    );
  });

  it('tells the client and the audit what webhooks say, also with a denial', async () => {
    scene.say.set('w0', () => ({ allowed: false, warnings: ['a', ''], auditAnnotations: { k: 'v' } }));
    scene.configure('a', {});
    const request = configMapRequest();
    await refusal(request);
    assert.deepEqual([request.warnings, [...request.annotations]], [['a'], [['w0.example.com/k', 'v']]]);
  });

  it('goes on past one that fails and may', async () => {
    scene.say.set('w1', (_, res) => answerJson(res, {}, 500));
    scene.configure('a', {}, { failurePolicy: 'Ignore' });
    const request = configMapRequest();
    await admit(request);
    assert.deepEqual(
      [...request.annotations],
      [['failed-open.validating.webhook.admission.platform.io/round_0_index_1', 'w1.example.com']],
    );
  });

  it('ends with the request, whatever the failure policy', async () => {
    const reason = new Error('gone');
    const controller = new AbortController();
    scene.say.set('w0', (_: unknown, __: ServerResponse) => controller.abort(reason));
    scene.configure('a', { failurePolicy: 'Ignore' });
    await assert.rejects(admit(configMapRequest({}, { signal: controller.signal })), reason);
    assert.deepEqual(scene.calls, []);
  });

  describe('of a dry run', () => {
    for (const [sideEffects, isAsked] of [
      ['None', true],
      ['NoneOnDryRun', true],
      ['Some', false],
      ['Unknown', false],
      [null, false],
    ] as const) {
      it(`${isAsked ? 'asks' : 'does not ask'} a webhook with side effects ${sideEffects}`, async () => {
        scene.configure('a', { sideEffects, failurePolicy: 'Ignore' });
        const request = configMapRequest({}, { dryRun: true });
        if (isAsked) await admit(request);
        else {
          const { code, message } = await refusal(request);
          assert.deepEqual([code, message], [400, 'admission webhook "w0.example.com" does not support dry run']);
        }
        assert.deepEqual(scene.called, isAsked ? ['w0'] : []);
        await admit(); // what is no dry run is asked about
      });
    }
  });

  describe('of review versions', () => {
    for (const [versions, expected] of [
      [['v1', 'v1beta1'], 'v1'],
      [['v1beta1', 'v1'], 'v1beta1'],
      [['v2', 'v1'], 'v1'],
    ] as const) {
      it(`sends ${expected} where ${versions.join()} are known`, async () => {
        scene.configure('a', { admissionReviewVersions: versions });
        await admit();
        assert.deepEqual(
          scene.reviews.map(({ apiVersion }) => apiVersion),
          [`admission.platform.io/${expected}`],
        );
      });
    }

    it('fails where none is known, by the failure policy', async () => {
      scene.configure('a', { admissionReviewVersions: ['v2'] });
      const { code, message } = await refusal();
      assert.equal(code, 500);
      assert.equal(
        message,
        'Internal error occurred: failed calling webhook "w0.example.com": could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      );
      scene.unconfigure();
      scene.configure('a', { admissionReviewVersions: ['v2'], failurePolicy: 'Ignore' });
      await admit();
      assert.deepEqual(scene.called, []);
    });
  });

  describe('sends', () => {
    const sent = async (request: AdmissionRequest): Promise<SentReview['request']> => {
      scene.configure('a', {});
      await admit(request);
      const [{ kind, apiVersion, request: about } = assert.fail()] = scene.reviews;
      assert.deepEqual([kind, apiVersion], ['AdmissionReview', 'admission.platform.io/v1']);
      return about;
    };

    it('all of a request', async () => {
      const user = { name: 'jane', uid: 'u1', groups: ['g'], extra: { k: ['v'] } };
      const options = { kind: 'CreateOptions', fieldManager: 'm' };
      const { uid, ...about } = await sent(configMapRequest({ a: '1' }, { user, options }));
      assert.match(uid, /^[0-9a-f-]{36}$/);
      const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
      const resource = { group: '', version: 'v1', resource: 'configmaps' };
      assert.deepEqual(about, {
        kind,
        resource,
        requestKind: kind,
        requestResource: resource,
        name: 'x',
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'jane', uid: 'u1', groups: ['g'], extra: { k: ['v'] } },
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { name: 'x', namespace: 'default' },
          data: { a: '1' },
        },
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.platform.io/v1', fieldManager: 'm' },
      });
    });

    it('the old object of a deletion', async () => {
      const { object } = configMapRequest();
      const about = await sent(
        configMapRequest({}, { operation: 'DELETE', object: undefined, oldObject: object, name: 'x' }),
      );
      assert.deepEqual([about.object, about.oldObject, about.operation], [null, object, 'DELETE']);
    });

    it('both objects of an update', async () => {
      const { object } = configMapRequest({ a: '0' });
      const about = await sent(configMapRequest({ a: '1' }, { operation: 'UPDATE', oldObject: object }));
      assert.deepEqual([about.object?.['data'], about.oldObject?.['data']], [{ a: '1' }, { a: '0' }]);
    });

    it('the options of a connection as its object', async () => {
      const pods = servedAs('', 'v1', 'pods').declaration;
      const object = { kind: 'PodExecOptions', apiVersion: 'v1', metadata: {}, command: ['ls'] };
      const kind = { group: '', version: 'v1', kind: 'PodExecOptions' };
      const about = await sent(
        requestFor(pods, object, { operation: 'CONNECT', subresource: 'exec', kind, name: 'p', namespace: 'n' }),
      );
      assert.deepEqual(about.object, { kind: 'PodExecOptions', apiVersion: 'v1', command: ['ls'] });
      assert.deepEqual([about.kind, about.requestKind, about.subResource, about.options], [kind, kind, 'exec', null]);
      assert.equal((about as { requestSubResource?: string }).requestSubResource, 'exec');
    });

    it('a namespace as one in itself', async () => {
      const { declaration } = servedAs('', 'v1', 'namespaces');
      const about = await sent(
        requestFor(declaration, { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' } }),
      );
      assert.deepEqual([about.name, about.namespace], ['n', 'n']);
    });

    it('a review of its own to each, of another uid', async () => {
      scene.configure('b', { path: 'other' });
      await sent(configMapRequest());
      assert.equal(new Set(scene.reviews.map(({ request: { uid } }) => uid)).size, 2);
    });

    it('the time that it waits, and who asks', async () => {
      scene.configure('b', { timeoutSeconds: 7 });
      await admit();
      const [{ path, headers } = assert.fail()] = scene.service.received;
      assert.equal(path, '/w0?timeout=7s');
      assert.deepEqual(
        [headers['content-type'], headers['user-agent']],
        ['application/json', 'platform-apiserver-admission'],
      );
    });
  });

  describe('selects', () => {
    const only = (labels: object): object => ({ matchLabels: labels });
    const pods = servedAs('', 'v1', 'pods').declaration;
    const nodes = servedAs('', 'v1', 'nodes').declaration;
    const namespaces = servedAs('', 'v1', 'namespaces').declaration;
    const labelled = (labels?: Record<string, string>): NonNullable<AdmissionRequest['object']> => ({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'x', namespace: 'default', ...(labels === undefined ? {} : { labels }) },
    });
    const inNamespace = (metadata: object): NonNullable<AdmissionRequest['object']> => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n', ...metadata } }); // prettier-ignore
    const ROWS: readonly (readonly [string, object, AdmissionRequest, boolean])[] = [
      ['an object by its labels', { objectSelector: only({ a: 'b' }) }, requestFor(pods, labelled({ a: 'b' })), true],
      ['no object without them', { objectSelector: only({ a: 'b' }) }, requestFor(pods, labelled()), false],
      ['an object that had them', { objectSelector: only({ a: 'b' }) }, requestFor(pods, labelled(), { operation: 'UPDATE', oldObject: labelled({ a: 'b' }) }), true],
      ['an object that goes', { objectSelector: only({ a: 'b' }) }, requestFor(pods, undefined, { operation: 'DELETE', oldObject: labelled({ a: 'b' }) }), true],
      ['no connection', { objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } }, requestFor(pods, labelled(), { operation: 'CONNECT' }), false],
      ['a connection where it asks for nothing', { objectSelector: {} }, requestFor(pods, labelled(), { operation: 'CONNECT' }), true],
      ['an object by the labels of its namespace', { namespaceSelector: only({ n: '1' }) }, requestFor(pods, labelled()), true],
      ['no object of another namespace', { namespaceSelector: only({ n: '2' }) }, requestFor(pods, labelled()), false],
      ['an object of the cluster', { namespaceSelector: only({ n: '2' }) }, requestFor(nodes, { kind: 'Node', apiVersion: 'v1', metadata: { name: 'x' } }), true],
      ['a namespace by the labels that it will have', { namespaceSelector: only({ n: '2' }) }, requestFor(namespaces, inNamespace({ labels: { n: '2' } }), { operation: 'UPDATE', oldObject: inNamespace({}) }), true],
      ['no namespace by those that it had', { namespaceSelector: only({ n: '2' }) }, requestFor(namespaces, inNamespace({}), { operation: 'UPDATE', oldObject: inNamespace({ labels: { n: '2' } }) }), false],
      ['a namespace that goes', { namespaceSelector: only({ n: '2' }) }, requestFor(namespaces, undefined, { operation: 'DELETE', oldObject: inNamespace({ labels: { n: '2' } }) }), true],
      ['its status by those that it has', { namespaceSelector: only({ n: '2' }) }, requestFor(namespaces, inNamespace({}), { operation: 'UPDATE', subresource: 'status', oldObject: inNamespace({ labels: { n: '2' } }) }), true],
    ]; // prettier-ignore
    for (const [what, selectors, request, isAsked] of ROWS) {
      it(what, async () => {
        scene.present.set('namespaces//default', { metadata: { name: 'default', labels: { n: '1' } } });
        scene.configure('a', selectors);
        await admit(request);
        assert.deepEqual(scene.called, isAsked ? ['w0'] : []);
      });
    }

    it('nothing in a namespace that is not there', async () => {
      scene.configure('a', { namespaceSelector: only({ n: '1' }) });
      const { code, message } = await refusal();
      assert.deepEqual([code, message], [404, 'namespaces "default" not found']);
    });
  });
});
