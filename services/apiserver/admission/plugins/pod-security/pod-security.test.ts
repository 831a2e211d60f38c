import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { PluginDocument } from '../../configuration.js';
import { NAMESPACES } from '../../namespaces.js';
import type { AdmissionRequest } from '../../plugin.js';
import { ask, pod, PODS, type Outcome } from '../../testing/pods.js';
import { ObjectsThere } from '../../testing/there.js';
import { podSecurity } from './plugin.js';

const PREFIX = 'pod-security.platform.io/';
const NAMESPACE = { ...PODS, ...NAMESPACES, kind: 'Namespace' };
const HEAD = { apiVersion: 'pod-security.admission.config.platform.io/v1beta1', kind: 'PodSecurityConfiguration' };

type Labels = Readonly<Record<string, string>>;
const labelled = (labels: Labels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [PREFIX + key, value]));
const namespace = (labels: Labels, name = 'ns'): ApiObject => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name, labels: labelled(labels) },
});

interface Scene {
  readonly labels?: Labels;
  readonly configuration?: unknown;
  readonly pods?: readonly ApiObject[];
}

function plugin({ labels = {}, configuration, pods = [] }: Scene): ReturnType<typeof podSecurity> {
  const objects = new ObjectsThere().put(NAMESPACES, namespace(labels));
  for (const one of pods) objects.put(PODS, one);
  const document: PluginDocument = {
    file: 'f',
    value: configuration,
    error: (path, why) => new Error(`f: ${path.join('.')}: ${why}`),
  };
  const documents = new Map(configuration === undefined ? [] : [['PodSecurity', document] as const]);
  return podSecurity({ vocabulary: vocabulary('platform'), objects, configuration: documents });
}

const admit = (
  scene: Scene,
  object: ApiObject = pod({ hostNetwork: true }),
  said: Partial<AdmissionRequest> = {},
  resource = PODS,
): Promise<Outcome> => ask(plugin(scene), object, { namespace: 'ns', ...said }, resource);

const HOST = 'host namespaces (hostNetwork=true)';
const told = ({ why, request }: Outcome): unknown => [why, request.warnings, Object.fromEntries([...request.annotations].map(([key, value]) => [key.slice(PREFIX.length), value]))]; // prettier-ignore

describe('podSecurity()', () => {
  describe('of pods', () => {
    for (const [what, labels, expected] of [
      ['lets anything in where no label says otherwise', {}, ['', [], { 'enforce-policy': 'privileged:latest' }]],
      [
        'enforces',
        { enforce: 'baseline' },
        [
          `pods "p" is forbidden: violates PodSecurity "baseline:latest": ${HOST}`,
          [],
          { 'enforce-policy': 'baseline:latest' },
        ],
      ],
      [
        'enforces as of a version',
        { enforce: 'baseline', 'enforce-version': 'v1.3' },
        [
          `pods "p" is forbidden: violates PodSecurity "baseline:v1.3": ${HOST}`,
          [],
          { 'enforce-policy': 'baseline:v1.3' },
        ],
      ],
      [
        'warns',
        { warn: 'baseline', 'warn-version': 'v1.24' },
        ['', [`would violate PodSecurity "baseline:v1.24": ${HOST}`], { 'enforce-policy': 'privileged:latest' }],
      ],
      [
        'tells the audit',
        { audit: 'baseline' },
        [
          '',
          [],
          {
            'enforce-policy': 'privileged:latest',
            'audit-violations': `would violate PodSecurity "baseline:latest": ${HOST}`,
          },
        ],
      ],
      [
        'does not warn of what it refuses',
        { enforce: 'baseline', warn: 'baseline', audit: 'baseline' },
        [
          `pods "p" is forbidden: violates PodSecurity "baseline:latest": ${HOST}`,
          [],
          {
            'enforce-policy': 'baseline:latest',
            'audit-violations': `would violate PodSecurity "baseline:latest": ${HOST}`,
          },
        ],
      ],
    ] as const) {
      // prettier-ignore
      it(what, async () => assert.deepEqual(told(await admit({ labels })), expected));
    }

    it('refuses as Forbidden', async () => {
      const { error } = await admit({ labels: { enforce: 'baseline' } });
      assert.deepEqual([error?.code, error?.details], [403, { name: 'p', kind: 'pods' }]);
    });

    it('lets in what is within the standard', async () => {
      assert.deepEqual(told(await admit({ labels: { enforce: 'baseline', warn: 'baseline' } }, pod())), ['', [], { 'enforce-policy': 'baseline:latest' }]); // prettier-ignore
    });

    it('holds labels that are none to be the strictest, where they enforce', async () => {
      const wrong = { enforce: 'x', 'enforce-version': 'y', warn: 'z', audit: 'z' };
      const { why, request } = await admit({ labels: wrong });
      assert.match(why, /violates PodSecurity "restricted:latest"/);
      assert.deepEqual(request.warnings, []);
      assert.match(request.annotations.get(`${PREFIX}error`) ?? '', /^Failed to parse policy: metadata\.labels\[/);
    });

    it('looks again where what runs changes, or its rights', async () => {
      const before = pod({ hostNetwork: true });
      const update = (next: ApiObject, subresource = ''): Promise<Outcome> => admit({ labels: { enforce: 'baseline' } }, next, { operation: 'UPDATE', oldObject: before, subresource }); // prettier-ignore
      const next = (container: object, metadata: ObjectMeta = {}): ApiObject => pod({ hostNetwork: true, containers: [{ name: 'c', image: 'i', ...container }] }, metadata); // prettier-ignore
      assert.equal((await update(next({}, { labels: { a: 'b' } }))).why, '');
      assert.equal((await update(next({ image: 'j' }), 'status')).why, '');
      const ephemeral = pod({ hostNetwork: true, ephemeralContainers: [{ name: 'e' }] });
      for (const one of [
        update(next({ image: 'j' })),
        update(next({ securityContext: { runAsUser: 1 } })),
        update(next({}, { annotations: { 'container.apparmor.security.beta.platform.io/c': 'runtime/default' } })),
        update(next({}, { annotations: { 'container.seccomp.security.alpha.platform.io/c': 'runtime/default' } })),
        update(ephemeral, 'ephemeralcontainers'),
      ]) {
        assert.match((await one).why, /violates/);
      }
    });

    it('looks at no other part of a pod', async () => {
      assert.deepEqual(told(await admit({ labels: { enforce: 'baseline' } }, pod({ hostNetwork: true }), { subresource: 'eviction' })), ['', [], {}]); // prettier-ignore
    });
  });

  describe('of what makes pods', () => {
    const template = { metadata: {}, spec: { hostNetwork: true, containers: [{ name: 'c' }] } };
    const of = (group: string, resource: string, members: object): readonly [typeof PODS, ApiObject] => [
      { group, version: 'v1', resource, kind: 'K' },
      { kind: 'K', apiVersion: 'v1', metadata: { name: 'x', namespace: 'ns' }, ...members },
    ];
    const labels = { enforce: 'baseline', warn: 'baseline', audit: 'baseline' };
    for (const [resource, object] of [
      of('apps', 'deployments', { spec: { template } }),
      of('apps', 'daemonsets', { spec: { template } }),
      of('apps', 'statefulsets', { spec: { template } }),
      of('apps', 'replicasets', { spec: { template } }),
      of('', 'replicationcontrollers', { spec: { template } }),
      of('', 'podtemplates', { template }),
      of('batch', 'jobs', { spec: { template } }),
      of('batch', 'cronjobs', { spec: { jobTemplate: { spec: { template } } } }),
    ]) {
      it(`warns, and tells the audit, of ${resource.resource}`, async () => {
        const problem = `would violate PodSecurity "baseline:latest": ${HOST}`;
        const expected = ['', [problem], { 'audit-violations': problem }];
        assert.deepEqual(told(await admit({ labels }, object, {}, resource)), expected);
        assert.deepEqual(told(await admit({ labels }, object, { operation: 'UPDATE' }, resource)), expected);
        assert.deepEqual(told(await admit({ labels }, object, { subresource: 'status' }, resource)), ['', [], {}]);
        assert.deepEqual(told(await admit({}, object, {}, resource)), ['', [], {}]);
      });
    }

    it('leaves those alone that have no template', async () => {
      const [resource, object] = of('', 'replicationcontrollers', { spec: {} });
      assert.deepEqual(told(await admit({ labels }, object, {}, resource)), ['', [], {}]);
    });
  });

  describe('of namespaces', () => {
    const write = (next: ApiObject, old?: ApiObject, scene: Scene = {}, subresource = ''): Promise<Outcome> =>
      admit(scene, next, { operation: old === undefined ? 'CREATE' : 'UPDATE', oldObject: old, namespace: 'ns', subresource }, NAMESPACE); // prettier-ignore

    it('refuses labels that say nothing that there is', async () => {
      const { error } = await write(namespace({ enforce: 'nope', 'warn-version': 'v2', audit: '', 'audit-version': 'v1.01' }, 'x')); // prettier-ignore
      const level = 'must be one of privileged, baseline, restricted';
      const version = 'must be \\"latest\\" or \\"v1.x\\"'.replaceAll('\\', '');
      assert.equal(
        error?.message,
        `Namespace "x" is invalid: [metadata.labels[${PREFIX}enforce]: Invalid value: "nope": ${level}, ` +
          `metadata.labels[${PREFIX}audit]: Invalid value: "": ${level}, ` +
          `metadata.labels[${PREFIX}audit-version]: Invalid value: "v1.01": ${version}, ` +
          `metadata.labels[${PREFIX}warn-version]: Invalid value: "v2": ${version}]`,
      );
      assert.deepEqual([error.code, error.details?.kind], [422, 'Namespace']);
    });

    it('refuses them on updates that bring them', async () => {
      const wrong = namespace({ enforce: 'nope' });
      assert.match((await write(wrong, namespace({}))).why, /Invalid value: "nope"/);
      assert.equal((await write(wrong, namespace({ enforce: 'nope' }))).why, '');
      assert.equal((await write(wrong, namespace({}), {}, 'finalize')).why, '');
    });

    it('allows those that say something', async () => {
      const labels = { enforce: 'restricted', 'enforce-version': 'v1.99', warn: 'baseline', 'warn-version': 'latest' };
      assert.deepEqual(told(await write(namespace(labels))), ['', [], {}]);
    });

    const pods = [
      pod({ hostNetwork: true }, { name: 'host' }),
      pod({}, { name: 'plain1' }),
      pod({}, { name: 'plain2' }),
      pod({}, { name: 'plain3' }),
    ];
    const label = 'existing pods in namespace "ns" violate the new PodSecurity enforce level';
    const REST = 'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile';
    const all = [
      `${label} "restricted:latest"`,
      `host: host namespaces, ${REST}`,
      `plain1 (and 2 other pods): ${REST}`,
    ];

    for (const [what, old, next, expected] of [
      ['is told of pods that would not be made again', {}, { enforce: 'restricted' }, all],
      ['is told of one', {}, { enforce: 'baseline' }, [`${label} "baseline:latest"`, 'host: host namespaces']],
      [
        'is told of them when a version changes',
        { enforce: 'restricted' },
        { enforce: 'baseline', 'enforce-version': 'v1.24' },
        [`${label} "baseline:v1.24"`, 'host: host namespaces'],
      ],
      ['is not, when nothing changes', { enforce: 'restricted' }, { enforce: 'restricted', warn: 'restricted' }, []],
      ['is not, when less is enforced', { enforce: 'restricted' }, { enforce: 'baseline' }, []],
      [
        'is not, when nothing is enforced',
        { enforce: 'restricted' },
        { enforce: 'privileged', 'enforce-version': 'v1.3' },
        [],
      ],
    ] as const) {
      // prettier-ignore
      it(what, async () => {
        const outcome = await write(namespace(next), namespace(old), { pods });
        assert.deepEqual([outcome.why, outcome.request.warnings], ['', expected]);
      });
    }

    it('says of two pods that there is another', async () => {
      const { request } = await write(namespace({ enforce: 'restricted' }), namespace({}), { pods: pods.slice(1, 3) });
      assert.deepEqual(request.warnings, [`${label} "restricted:latest"`, `plain1 (and 1 other pod): ${REST}`]);
    });

    it('looks at some thousands of pods, and says so', async () => {
      const many = Array.from({ length: 3001 }, (_, i) => pod({}, { name: `p${i}` }));
      const { request } = await write(namespace({ enforce: 'baseline' }), namespace({}), { pods: many });
      assert.deepEqual(request.warnings, ['new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods']); // prettier-ignore
    });
  });

  describe('with a configuration', () => {
    const configured = (more: object): Scene => ({ configuration: { ...HEAD, ...more } });

    it('has other defaults', async () => {
      const scene = configured({ defaults: { enforce: 'baseline', 'enforce-version': 'v1.20' }, exemptions: null });
      assert.match((await admit(scene)).why, /violates PodSecurity "baseline:v1\.20"/);
      assert.equal((await admit({ ...scene, labels: { enforce: 'privileged' } })).why, '');
    });

    for (const [exemptions, by] of [
      [{ namespaces: ['ns'] }, 'namespace'],
      [{ usernames: ['tester'] }, 'user'],
      [{ runtimeClasses: ['rc'] }, 'runtimeClass'],
    ] as const) {
      it(`exempts by ${by}`, async () => {
        const scene = { ...configured({ exemptions }), labels: { enforce: 'baseline', warn: 'baseline' } };
        const object = pod({ hostNetwork: true, runtimeClassName: 'rc' });
        assert.deepEqual(told(await admit(scene, object)), ['', [], { exempt: by }]);
      });
    }

    it('exempts nobody else', async () => {
      const exemptions = { namespaces: ['x'], usernames: ['x'], runtimeClasses: ['x'] };
      assert.match((await admit({ ...configured({ exemptions }), labels: { enforce: 'baseline' } })).why, /violates/);
    });

    it('tells an exempt namespace nothing of its pods', async () => {
      const scene = { ...configured({ exemptions: { namespaces: ['ns'] } }), pods: [pod({ hostNetwork: true })] };
      const said = { operation: 'UPDATE', oldObject: namespace({}) } as const;
      assert.deepEqual((await admit(scene, namespace({ enforce: 'baseline' }), said, NAMESPACE)).request.warnings, []);
    });

    for (const [value, why] of [
      [{ ...HEAD, kind: 'X' }, 'f: kind: must be "PodSecurityConfiguration"'],
      [{ ...HEAD, apiVersion: 'v1' }, 'f: apiVersion: must be '],
      [{ ...HEAD, x: 1 }, 'f: x: is unknown'],
      [{ ...HEAD, defaults: { x: 'baseline' } }, 'f: defaults.x: is unknown'],
      [{ ...HEAD, defaults: { enforce: 'x' } }, 'f: defaults.enforce: must be one of privileged, baseline, restricted'],
      [{ ...HEAD, defaults: { 'warn-version': '1.2' } }, 'f: defaults.warn-version: must be "latest" or "v1.x"'],
      [{ ...HEAD, defaults: 1 }, 'f: defaults: must be an object'],
      [{ ...HEAD, exemptions: { x: [] } }, 'f: exemptions.x: is unknown'],
      [{ ...HEAD, exemptions: { usernames: 'a' } }, 'f: exemptions.usernames: must be a list'],
      [{ ...HEAD, exemptions: { namespaces: ['a', 'a'] } }, 'f: exemptions.namespaces: must name each once'],
      [{ ...HEAD, exemptions: { runtimeClasses: [''] } }, 'f: exemptions.runtimeClasses.0: is required'],
    ] as const) {
      // prettier-ignore
      it(`refuses ${JSON.stringify(value)}`, () =>
        assert.throws(
          () => plugin({ configuration: value }),
          (err: Error) => err.message.startsWith(why),
        ));
    }

    for (const version of ['v1', 'v1alpha1']) {
      it(`knows ${version}`, () => assert.ok(plugin({ configuration: { ...HEAD, apiVersion: HEAD.apiVersion.replace('v1beta1', version) } }))); // prettier-ignore
    }
  });
});
