import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../../plugin.js';
import { ask, pod, type Outcome } from '../../testing/pods.js';
import { ObjectsThere } from '../../testing/there.js';
import { serviceAccount } from './plugin.js';

const ACCOUNTS = { group: '', resource: 'serviceaccounts' };
const PATH = '/var/run/secrets/platform.io/serviceaccount';
const MIRROR = { annotations: { 'platform.io/config.mirror': 'x' } };

const account = (name: string, parts: object = {}, metadata: ObjectMeta = {}): Partial<ApiObject> => ({
  metadata: { name, namespace: 'ns', ...metadata },
  ...parts,
});

const enforcing = (value: string): ObjectMeta => ({ annotations: { 'platform.io/enforce-mountable-secrets': value } });

const there = (): ObjectsThere =>
  new ObjectsThere()
    .put(ACCOUNTS, account('default', { imagePullSecrets: [{ name: 'pull' }] }))
    .put(ACCOUNTS, account('silent', { automountServiceAccountToken: false }))
    .put(ACCOUNTS, account('lax', { secrets: [{ name: 'good' }] }, enforcing('no')))
    .put(
      ACCOUNTS,
      account('strict', { secrets: [{ name: 'good' }], imagePullSecrets: [{ name: 'pull' }] }, enforcing('true')),
    );

interface Scene {
  readonly objects?: ObjectsThere;
  readonly rest?: () => Promise<void>;
  readonly words?: 'platform' | 'kubernetes';
}

function admit(object: ApiObject, said: Partial<AdmissionRequest> = {}, scene: Scene = {}): Promise<Outcome> {
  const { objects = there(), rest = () => Promise.resolve(), words = 'platform' } = scene;
  return ask(serviceAccount({ vocabulary: vocabulary(words), objects, rest }), object, said);
}

const mount = (name: string): object => ({ name, readOnly: true, mountPath: PATH });
const mounted = (name: string): object => ({ name: 'c', image: 'i', volumeMounts: [{ name, mountPath: PATH }] });

describe('serviceAccount()', () => {
  it('gives a pod the default account, its token in every container, and its pull secrets', async () => {
    const own = { name: 'own', volumeMounts: [{ name: 'v', mountPath: PATH }] };
    const containers = [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    const { why, spec } = await admit(
      pod({ initContainers: [{ name: 'i' }, own], containers, volumes: [{ name: 'v', emptyDir: {} }] }),
    );
    assert.equal(why, '');
    const [, volume] = spec['volumes'] as { name: string }[];
    const name = volume?.name ?? '';
    assert.match(name, /^platform-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(spec, {
      serviceAccountName: 'default',
      serviceAccount: 'default',
      imagePullSecrets: [{ name: 'pull' }],
      initContainers: [{ name: 'i', volumeMounts: [mount(name)] }, own],
      containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }, mount(name)] }],
      volumes: [
        { name: 'v', emptyDir: {} },
        {
          name,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'platform-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              {
                downwardAPI: {
                  items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                },
              },
            ],
          },
        },
      ],
    });
  });

  it('speaks the words of the vocabulary', async () => {
    const { spec } = await admit(pod(), {}, { words: 'kubernetes' });
    const [volume] = spec['volumes'] as { name: string; projected: { sources: { configMap?: { name: string } }[] } }[];
    const [container] = spec['containers'] as { volumeMounts: { mountPath: string }[] }[];
    assert.match(volume?.name ?? '', /^kube-api-access-/);
    assert.equal(volume?.projected.sources[1]?.configMap?.name, 'kube-root-ca.crt');
    assert.equal(container?.volumeMounts[0]?.mountPath, '/var/run/secrets/kubernetes.io/serviceaccount');
  });

  it('uses a volume for tokens that is there', async () => {
    const volumes = [{ name: 'platform-api-access-x', emptyDir: {} }];
    const { spec } = await admit(pod({ volumes }));
    assert.deepEqual(spec['volumes'], volumes);
    assert.deepEqual(spec['containers'], [{ name: 'c', image: 'i', volumeMounts: [mount('platform-api-access-x')] }]);
  });

  for (const [what, spec] of [
    ['whose account says no', { serviceAccountName: 'silent' }],
    ['that says no', { automountServiceAccountToken: false }],
    ['that has something at that path', { containers: [mounted('v')], volumes: [{ name: 'v', emptyDir: {} }] }],
  ] as const) {
    it(`mounts no token into a pod ${what}`, async () => {
      const asked = pod(structuredClone(spec));
      const before = structuredClone(asked);
      const { why, spec: after } = await admit(asked);
      assert.equal(why, '');
      const { containers, volumes } = before['spec'] as Record<string, unknown>;
      assert.deepEqual([after['containers'], after['volumes']], [containers, volumes]);
    });
  }

  it('mounts one where the pod says yes and the account no', async () => {
    const { spec } = await admit(pod({ serviceAccountName: 'silent', automountServiceAccountToken: true }));
    assert.equal((spec['volumes'] as unknown[]).length, 1);
  });

  it('leaves pull secrets that a pod has, and those of an account without any', async () => {
    const own = await admit(pod({ imagePullSecrets: [{ name: 'own' }] }));
    assert.deepEqual(own.spec['imagePullSecrets'], [{ name: 'own' }]);
    assert.equal((await admit(pod({ serviceAccountName: 'lax' }))).spec['imagePullSecrets'], undefined);
  });

  const secretEnv = (name: string): object => ({
    env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }],
  });
  const because = 'is not allowed because service account strict does not reference that';
  for (const [what, spec, why] of [
    [
      'an account that is not there',
      { serviceAccountName: 'x' },
      'error looking up service account ns/x: serviceaccount "x" not found',
    ],
    [
      'a volume of another secret',
      { serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 'bad' } }] },
      `volume with secret.secretName="bad" ${because} secret`,
    ],
    [
      'a variable of another secret',
      { serviceAccountName: 'strict', containers: [{ name: 'c', ...secretEnv('bad') }] },
      `container c with envVar E referencing secret.secretName="bad" ${because} secret`,
    ],
    [
      'the same at the start',
      { serviceAccountName: 'strict', initContainers: [{ name: 'i', ...secretEnv('bad') }] },
      `init container i with envVar E referencing secret.secretName="bad" ${because} secret`,
    ],
    [
      'variables of another secret',
      { serviceAccountName: 'strict', containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'bad' } }] }] },
      `container c with envFrom referencing secret.secretName="bad" ${because} secret`,
    ],
    [
      'another pull secret',
      { serviceAccountName: 'strict', imagePullSecrets: [{ name: 'pull' }, { name: 'good' }] },
      `imagePullSecrets[1].name="good" ${because} imagePullSecret`,
    ],
  ] as const) {
    // prettier-ignore
    it(`refuses ${what}`, async () => {
      const { error } = await admit(pod(structuredClone(spec)));
      assert.equal(error?.message, `pods "p" is forbidden: ${why}`);
      assert.deepEqual([error.code, error.details], [403, { name: 'p', kind: 'pods' }]);
    });
  }

  it('names a pod without a name by what its name begins with', async () => {
    const object = pod({ serviceAccountName: 'x' }, { generateName: 'g-' });
    delete object.metadata.name;
    assert.match((await admit(object)).why, /^pods "g-" is forbidden: error looking up/);
  });

  for (const [what, spec] of [
    [
      'secrets of the account',
      {
        serviceAccountName: 'strict',
        containers: [{ name: 'c', ...secretEnv('good') }],
        volumes: [{ name: 'v', secret: { secretName: 'good' } }],
      },
    ],
    [
      'any secret where the account does not care',
      { serviceAccountName: 'lax', containers: [{ name: 'c', ...secretEnv('bad') }] },
    ],
  ] as const) {
    // prettier-ignore
    it(`allows ${what}`, async () => assert.equal((await admit(pod(structuredClone(spec)))).why, ''));
  }

  for (const [what, spec, why] of [
    ['an account', { serviceAccountName: 'default' }, 'reference service accounts'],
    ['a secret', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'reference secrets'],
    [
      'a token',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'use ServiceAccountToken volume projections',
    ],
  ] as const) {
    // prettier-ignore
    it(`refuses a mirror pod with ${what}`, async () => {
      assert.equal((await admit(pod(spec, MIRROR))).why, `pods "p" is forbidden: a mirror pod may not ${why}`);
    });
  }

  it('refuses a mirror pod before it is validated, and what others have made of one', async () => {
    const plugin = serviceAccount({ vocabulary: vocabulary('platform'), objects: there() });
    const naming = pod({ serviceAccountName: 'default' }, MIRROR);
    for (const phase of [{ validate: () => undefined }, { mutate: () => undefined }]) {
      assert.match((await ask({ ...plugin, ...phase }, naming)).why, /may not reference service accounts$/);
    }
  });

  it('leaves mirror pods as they are', async () => {
    const { why, spec } = await admit(pod({}, MIRROR), {}, { objects: new ObjectsThere() });
    assert.deepEqual([why, spec], ['', { containers: [{ name: 'c', image: 'i' }] }]);
  });

  it('refuses a pod that has lost its account on the way', async () => {
    const plugin = serviceAccount({ vocabulary: vocabulary('platform'), objects: there() });
    const { why } = await ask({ ...plugin, mutate: () => undefined }, pod());
    assert.equal(why, 'pods "p" is forbidden: no service account specified for pod ns/p');
  });

  describe('with an account that the cache does not have', () => {
    it('asks the store', async () => {
      const objects = new ObjectsThere().put(ACCOUNTS, account('new'), 'stored');
      assert.equal((await admit(pod({ serviceAccountName: 'new' }), {}, { objects })).why, '');
    });

    it('waits for the default one', async () => {
      const objects = new ObjectsThere();
      let waits = 0;
      const rest = (): Promise<void> => {
        if (++waits === 3) objects.put(ACCOUNTS, account('default'));
        return Promise.resolve();
      };
      assert.deepEqual([(await admit(pod(), {}, { objects, rest })).why, waits], ['', 3]);
    });

    it('waits no longer than some seconds, and asks the store once more', async () => {
      const objects = new ObjectsThere();
      let waited = 0;
      const rest = (ms = 0): Promise<void> => {
        waited += ms;
        return Promise.resolve();
      };
      const { why } = await admit(pod(), {}, { objects, rest });
      assert.match(why, /error looking up service account ns\/default: serviceaccount "default" not found$/);
      assert.equal(waited, 2000);
      const late = (): Promise<void> => {
        objects.put(ACCOUNTS, account('default'), 'stored');
        return Promise.resolve();
      };
      assert.equal((await admit(pod(), {}, { objects, rest: late })).why, '');
    });

    it('does not wait for another, nor longer than the request', async () => {
      const rest = (): Promise<void> => Promise.reject(new Error('waited'));
      const objects = new ObjectsThere();
      assert.match((await admit(pod({ serviceAccountName: 'x' }), {}, { objects, rest })).why, /not found/);
      const signal = AbortSignal.abort(new Error('gone'));
      await assert.rejects(admit(pod(), { signal }, { objects }), /gone/);
    });
  });

  describe('on updates', () => {
    const update = (spec: object, subresource: string): Promise<Outcome> =>
      admit(pod({ serviceAccountName: 'strict', ...spec }), { operation: 'UPDATE', subresource });

    it('restricts the secrets of ephemeral containers', async () => {
      const ephemeral = { ephemeralContainers: [{ name: 'e', ...secretEnv('bad') }] };
      const { why } = await update(ephemeral, 'ephemeralcontainers');
      assert.match(why, /: ephemeral container e with envVar E referencing secret.secretName="bad" is not allowed/);
      assert.equal((await update({ ephemeralContainers: [{ name: 'e', ...secretEnv('good') }] }, 'ephemeralcontainers')).why, ''); // prettier-ignore
    });

    it('looks at nothing else', async () => {
      const bad = { containers: [{ name: 'c', ...secretEnv('bad') }] };
      for (const subresource of ['', 'status', 'ephemeralcontainers']) {
        const { why, spec } = await update(bad, subresource);
        assert.deepEqual([why, spec['volumes'], spec['imagePullSecrets']], ['', undefined, undefined]);
      }
    });
  });

  it('looks at no other creation below a pod', async () => {
    const objects = new ObjectsThere();
    const { why, spec } = await admit(pod(), { subresource: 'eviction' }, { objects });
    assert.deepEqual([why, spec['serviceAccountName']], ['', undefined]);
  });
});
