import assert from 'node:assert/strict';
import { UNOBSERVED } from '../../../../machinery/breaker/breaker.js';
import { TestAuthority } from '../../../../client/testing/certificates.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { Hook } from '../../../webhook-reviews/testing/hook.js';
import type { PluginDocument } from '../../configuration.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { ask, pod, type Outcome } from '../../testing/pods.js';
import { openImagePolicyWebhook } from './open.js';
import { imagePolicyWebhook, type ImagePolicyDeps } from './plugin.js';

const words = vocabulary('platform');
const REVIEW = { kind: 'ImageReview', apiVersion: 'imagepolicy.platform.io/v1alpha1' };
const FAILED_OPEN = 'alpha.image-policy.platform.io/failed-open';
const AUDIT = 'imagepolicywebhook.image-policy.platform.io/';

describe('ImagePolicyWebhook', () => {
  let authority: TestAuthority;
  let hook: Hook;
  let now: number;
  before(() => (authority = new TestAuthority('hooks')));
  after(() => authority.remove());
  beforeEach(async () => {
    hook = await Hook.start(authority);
    now = 0;
  });
  afterEach(() => hook.close());

  const open = (more: Partial<ImagePolicyDeps> = {}): AdmissionPlugin =>
    imagePolicyWebhook({
      service: hook.open(REVIEW),
      vocabulary: words,
      log: { warn: () => undefined },
      allowTtlMs: 1000,
      denyTtlMs: 100,
      defaultAllow: false,
      nowMs: () => now,
      ...more,
    });
  const images = (...names: readonly string[]): object => ({
    containers: names.map((image) => ({ name: image, image })),
  });
  const admit = (plugin = open(), object: ApiObject = pod(images('a')), said: Partial<AdmissionRequest> = {}): Promise<Outcome> =>
    ask(plugin, object, { namespace: 'ns', ...said }); // prettier-ignore
  const specs = (): unknown[] => hook.sent.map(({ spec }) => spec);

  it('asks about all images, with the annotations that are for it', async () => {
    hook.says({ allowed: true });
    const annotations = { 'x.image-policy.platform.io/ticket': '1', 'image-policy.platform.io/y': '2', other: '3' };
    const object = pod({ ...images('a', 'b'), initContainers: [{ name: 'i', image: 'init' }] }, { annotations });
    assert.equal((await admit(open(), object)).why, '');
    assert.deepEqual(hook.sent, [
      {
        ...REVIEW,
        spec: {
          containers: [{ image: 'a' }, { image: 'b' }, { image: 'init' }],
          annotations: { 'x.image-policy.platform.io/ticket': '1' },
          namespace: 'ns',
        },
      },
    ]);
  });

  for (const [status, why] of [
    [{ allowed: false, reason: 'old' }, 'image policy webhook backend denied one or more images: old'],
    [{ allowed: false }, 'one or more images rejected by webhook backend'],
    [{}, 'one or more images rejected by webhook backend'],
  ] as const) {
    it(`refuses after ${JSON.stringify(status)}`, async () => {
      hook.says(status);
      const { error } = await admit();
      assert.equal(error?.message, `pods "p" is forbidden: ${why}`);
      assert.deepEqual([error.code, error.details], [403, { name: 'p', kind: 'pods' }]);
    });
  }

  it('tells the audit what the service says', async () => {
    hook.says({ allowed: true, auditAnnotations: { 'checked-by': 'scanner' } });
    const { request } = await admit();
    assert.deepEqual([...request.annotations], [[`${AUDIT}checked-by`, 'scanner']]);
  });

  it('remembers what is allowed and what is not, each for its time', async () => {
    for (const [allowed, ttl] of [
      [true, 1000],
      [false, 100],
    ] as const) {
      const before = specs().length;
      hook.says({ allowed });
      const plugin = open();
      for (const [at, questions] of [
        [0, 1],
        [ttl - 1, 1],
        [ttl, 2],
      ] as const) {
        now = at;
        assert.equal((await admit(plugin)).why === '', allowed);
        assert.equal(specs().length - before, questions, `at ${at}`);
      }
      await admit(plugin, pod(images('other')));
      await admit(plugin, pod(images('other')), { namespace: 'elsewhere' });
      assert.equal(specs().length - before, 4);
    }
  });

  it('remembers nothing where it shall not', async () => {
    hook.says({ allowed: true });
    const plugin = open({ allowTtlMs: 0 });
    await admit(plugin);
    await admit(plugin);
    assert.equal(specs().length, 2);
  });

  describe('without an answer', () => {
    beforeEach(() => (hook.service.answer = (_, res): void => void res.writeHead(500).end()));

    it('refuses', async () => {
      const { error } = await admit();
      assert.deepEqual([error?.code, error?.message.startsWith('pods "p" is forbidden: ')], [403, true]);
    });

    it('lets pods in where it shall, and notes that', async () => {
      const { why, request } = await admit(open({ defaultAllow: true }));
      assert.equal(why, '');
      assert.deepEqual(request.object?.metadata.annotations, { [FAILED_OPEN]: 'true' });
      assert.deepEqual([...request.annotations], [[`${AUDIT}failed-open`, 'true']]);
      assert.equal(specs().length, 2, 'asked again in the validating phase');
    });

    it('lets nothing in for those who have left', async () => {
      const signal = AbortSignal.abort(new Error('gone'));
      await assert.rejects(admit(open({ defaultAllow: true }), pod(images('a')), { signal }), /gone/);
    });

    it('does not remember that there was none', async () => {
      const plugin = open();
      await admit(plugin);
      hook.says({ allowed: true });
      assert.equal((await admit(plugin)).why, '');
    });
  });

  it('asks again about images that others have brought', async () => {
    hook.answers((sent) => ({ ...REVIEW, status: { allowed: !JSON.stringify(sent.spec).includes('bad') } }));
    const plugin = open();
    const changed = { ...plugin, validate: (request: AdmissionRequest) => {
      Object.assign(request.object ?? {}, { spec: images('bad') });
      return plugin.validate?.(request);
    } }; // prettier-ignore
    assert.match((await admit(changed)).why, /rejected by webhook backend/);
  });

  it('asks about ephemeral containers when those come, and about no other part', async () => {
    hook.says({ allowed: true });
    const object = pod({ ...images('a'), ephemeralContainers: [{ name: 'e', image: 'debug' }] });
    await admit(open(), object, { operation: 'UPDATE', subresource: 'ephemeralcontainers' });
    await admit(open(), object, { operation: 'UPDATE', subresource: 'status' });
    assert.deepEqual(specs(), [{ containers: [{ image: 'debug' }], namespace: 'ns' }]);
    await admit(open(), object, { operation: 'UPDATE' });
    assert.deepEqual(specs()[1], { containers: [{ image: 'a' }], namespace: 'ns' });
  });

  describe('opened', () => {
    const document = (value: unknown): PluginDocument => ({
      file: hook.configFile(),
      value,
      error: (path, why) => new Error(`f: ${path.join('.')}: ${why}`),
    });
    const opened = (imagePolicy?: object): AdmissionPlugin =>
      openImagePolicyWebhook({
        vocabulary: words,
        log: { warn: () => undefined },
        metrics: { breaker: () => UNOBSERVED },
        signal: new AbortController().signal,
        configuration: new Map(imagePolicy === undefined ? [] : [['ImagePolicyWebhook', document({ imagePolicy })]]),
      });

    it('by its configuration', async () => {
      hook.says({ allowed: false, reason: 'x' });
      assert.match((await admit(opened({ kubeConfigFile: hook.configFile(), allowTTL: 50, denyTTL: -1, retryBackoff: 1, defaultAllow: true }))).why, /denied one or more images: x/); // prettier-ignore
      assert.deepEqual(hook.sent[0]?.kind, 'ImageReview');
    });

    it('not without one', () => assert.throws(() => opened(), /ImagePolicyWebhook needs a configuration/));

    for (const [members, why] of [
      [{}, /imagePolicy\.kubeConfigFile: is required/],
      [{ kubeConfigFile: 'x', allowTTL: 1801 }, /allowTTL: must be from 1 to 1800, or -1 for none/],
      [{ kubeConfigFile: 'x', denyTTL: -2 }, /denyTTL: must be an integer/],
      [{ kubeConfigFile: 'x', retryBackoff: 300_001 }, /retryBackoff: must be from 1 to 300000/],
      [{ kubeConfigFile: 'x', defaultAllow: 'yes' }, /defaultAllow: must be true or false/],
      [{ kubeConfigFile: 'x', more: 1 }, /more: is unknown/],
      [{ kubeConfigFile: 'not-there' }, /not-there/],
    ] as const) {
      it(`not with ${JSON.stringify(members)}`, () => assert.throws(() => opened(members), why));
    }
  });
});
