import assert from 'node:assert/strict';
import type { Toleration } from '../../../machinery/types/generated/core.v1.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { PluginDocument } from '../configuration.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { covers, mergeTolerations } from '../pods/tolerations.js';
import { ask, pod, type Outcome } from '../testing/pods.js';
import { ObjectsThere } from '../testing/there.js';
import { defaultTolerationSeconds } from './default-toleration-seconds.js';
import { extendedResourceToleration } from './extended-resource-toleration.js';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.js';
import { podNodeSelector } from './pod-node-selector.js';
import { podTolerationRestriction } from './pod-toleration-restriction.js';

const words = vocabulary('platform');
const NAMESPACES = { group: '', resource: 'namespaces' };

const document = (value: unknown): PluginDocument => ({
  file: 'f',
  value,
  error: (path, why) => new Error(`f: ${path.join('.')}: ${why}`),
});
const configuration = (name: string, value: unknown): ReadonlyMap<string, PluginDocument> =>
  new Map(value === undefined ? [] : [[name, document(value)]]);

const namespace = (annotations: Readonly<Record<string, string>>): ObjectsThere =>
  new ObjectsThere().put(NAMESPACES, { metadata: { name: 'ns', annotations: { ...annotations } } });

const forbids = (why: string): string => `pods "p" is forbidden: ${why}`;
const UPDATE: Partial<AdmissionRequest> = { operation: 'UPDATE', oldObject: pod() };
const PART: Partial<AdmissionRequest> = { subresource: 'eviction' };

const exists = (key: string, effect = 'NoSchedule'): Toleration => ({ key, operator: 'Exists', effect });

describe('defaultTolerationSeconds()', () => {
  const plugin = defaultTolerationSeconds(
    { defaultNotReadyTolerationSeconds: 1, defaultUnreachableTolerationSeconds: 2 },
    words,
  );
  const notReady = { ...exists('node.platform.io/not-ready', 'NoExecute'), tolerationSeconds: 1 };
  const unreachable = { ...exists('node.platform.io/unreachable', 'NoExecute'), tolerationSeconds: 2 };
  const own = (toleration: object): object => ({ tolerations: [toleration] });

  for (const [what, spec, expected] of [
    ['a pod that says nothing', {}, [notReady, unreachable]],
    ['a pod that says something else', own(exists('k')), [exists('k'), notReady, unreachable]],
    [
      'a pod that says one of them',
      own({ ...notReady, tolerationSeconds: 9 }),
      [{ ...notReady, tolerationSeconds: 9 }, unreachable],
    ],
    [
      'a pod that says one for all effects',
      own({ key: unreachable.key, operator: 'Exists' }),
      [{ key: unreachable.key, operator: 'Exists' }, notReady],
    ],
    [
      'a pod that says one for another effect',
      own(exists(notReady.key ?? '')),
      [exists(notReady.key ?? ''), notReady, unreachable],
    ],
    ['a pod that tolerates everything', own({ operator: 'Exists' }), [{ operator: 'Exists' }]],
    [
      'a pod that is never evicted',
      own({ operator: 'Exists', effect: 'NoExecute' }),
      [{ operator: 'Exists', effect: 'NoExecute' }],
    ],
  ] as const) {
    // prettier-ignore
    it(`completes ${what}`, async () => {
      assert.deepEqual((await ask(plugin, pod(structuredClone(spec)))).spec['tolerations'], expected);
      assert.deepEqual((await ask(plugin, pod(structuredClone(spec)), UPDATE)).spec['tolerations'], expected);
    });
  }

  it('leaves sub-resources alone', async () => {
    assert.equal((await ask(plugin, pod(), PART)).spec['tolerations'], undefined);
  });
});

describe('extendedResourceToleration()', () => {
  const plugin = extendedResourceToleration(words);
  const asks = (...resources: readonly string[]): object => ({
    resources: { requests: Object.fromEntries(resources.map((name) => [name, '1'])) },
  });

  it('tolerates taints of what containers ask for, in the order of their names', async () => {
    const spec = {
      initContainers: [asks('b.com/gpu', 'cpu')],
      containers: [asks('c.com/x', 'a.com/gpu', 'b.com/gpu', 'hugepages-2Mi', 'platform.io/y'), { resources: { limits: { 'z.com/z': '1' } } }],
    }; // prettier-ignore
    for (const said of [{}, UPDATE]) {
      const { spec: after } = await ask(plugin, pod(structuredClone(spec)), said);
      assert.deepEqual(
        after['tolerations'],
        ['a.com/gpu', 'b.com/gpu', 'c.com/x'].map((key) => exists(key)),
      );
    }
  });

  it('adds nothing twice, nor where nothing is asked for', async () => {
    const tolerations = [exists('a.com/gpu')];
    assert.deepEqual((await ask(plugin, pod({ containers: [asks('a.com/gpu')], tolerations }))).spec['tolerations'], tolerations); // prettier-ignore
    assert.equal((await ask(plugin, pod())).spec['tolerations'], undefined);
    assert.equal((await ask(plugin, pod({ containers: [asks('a.com/gpu')] }), PART)).spec['tolerations'], undefined);
  });
});

describe('limitPodHardAntiAffinityTopology()', () => {
  const plugin = limitPodHardAntiAffinityTopology(words);
  const anti = (kind: string, ...keys: readonly string[]): object => ({
    affinity: { podAntiAffinity: { [kind]: keys.map((topologyKey) => ({ topologyKey })) } },
  });
  const HARD = 'requiredDuringSchedulingIgnoredDuringExecution';

  it('refuses to keep others out of a zone', async () => {
    const spec = anti(HARD, 'platform.io/hostname', 'topology.platform.io/zone');
    const why = forbids(
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey topology.platform.io/zone but only key platform.io/hostname is allowed',
    );
    assert.equal((await ask(plugin, pod(spec))).why, why);
    assert.equal((await ask(plugin, pod(spec), UPDATE)).why, why);
    assert.equal((await ask(plugin, pod(spec), PART)).why, '');
  });

  it('allows to keep them off a node, and to wish for more', async () => {
    for (const spec of [{}, anti(HARD, 'platform.io/hostname'), anti('preferredDuringSchedulingIgnoredDuringExecution', 'x')]) {
      assert.equal((await ask(plugin, pod(spec))).why, '');
    } // prettier-ignore
  });
});

describe('podNodeSelector()', () => {
  const KEY = 'scheduler.alpha.platform.io/node-selector';
  const plugin = (annotations: Readonly<Record<string, string>>, config?: unknown): AdmissionPlugin => podNodeSelector({ vocabulary: words, objects: namespace(annotations), configuration: configuration('PodNodeSelector', config) }); // prettier-ignore
  const config = (selectors: object): object => ({ podNodeSelectorPluginConfig: selectors });

  for (const [what, annotations, selectors, own, expected] of [
    ['that of its namespace', { [KEY]: 'env=prod, tier=1' }, undefined, undefined, { env: 'prod', tier: '1' }],
    ['both', { [KEY]: 'env=prod' }, undefined, { env: 'prod', o: '1' }, { env: 'prod', o: '1' }],
    ['that of the cluster', {}, { clusterDefaultNodeSelector: 'cl=1' }, undefined, { cl: '1' }],
    [
      'that of its namespace, not that of the cluster',
      { [KEY]: 'env=prod' },
      { clusterDefaultNodeSelector: 'cl=1' },
      undefined,
      { env: 'prod' },
    ],
    ['none where its namespace says none', { [KEY]: '' }, { clusterDefaultNodeSelector: 'cl=1' }, undefined, undefined],
    ['its own where nothing is said', {}, undefined, { o: '1' }, { o: '1' }],
    ['what its namespace may select', { [KEY]: 'a=b' }, { ns: 'a=b,c=d' }, { c: 'd' }, { a: 'b', c: 'd' }],
  ] as const) {
    // prettier-ignore
    it(`gives a pod ${what}`, async () => {
      const asked = pod(own === undefined ? {} : { nodeSelector: { ...own } });
      const { why, spec } = await ask(
        plugin(annotations, selectors === undefined ? undefined : config(selectors)),
        asked,
      );
      assert.deepEqual([why, spec['nodeSelector']], ['', expected]);
    });
  }

  for (const [what, annotations, selectors, own, why] of [
    [
      'another node',
      { [KEY]: 'env=prod' },
      undefined,
      { env: 'dev' },
      'pod node label selector conflicts with its namespace node label selector',
    ],
    [
      'a node that its namespace may not select',
      {},
      { ns: 'env=prod' },
      { o: '1' },
      'pod node label selector labels conflict with its namespace whitelist',
    ],
    [
      'another one',
      {},
      { ns: 'env=prod' },
      { env: 'dev' },
      'pod node label selector labels conflict with its namespace whitelist',
    ],
    ['anything where the annotation is none', { [KEY]: 'env in (a)' }, undefined, {}, 'invalid selector: [env in (a)]'],
    ['anything where it is half of one', { [KEY]: 'a=b,' }, undefined, {}, 'invalid selector: [a=b,]'],
  ] as const) {
    // prettier-ignore
    it(`refuses ${what}`, async () => {
      const asked = plugin(annotations, selectors === undefined ? undefined : config(selectors));
      assert.equal((await ask(asked, pod({ nodeSelector: { ...own } }))).why, forbids(why));
    });
  }

  it('refuses where there is no such namespace', async () => {
    const { error } = await ask(plugin({}), pod({}, { namespace: 'other' }));
    assert.deepEqual([error?.code, error?.message], [404, 'namespaces "other" not found']);
  });

  it('looks at new pods alone', async () => {
    for (const said of [UPDATE, PART]) {
      const { why, spec } = await ask(plugin({ [KEY]: 'env=prod' }, config({ ns: 'a=b' })), pod({ nodeSelector: { o: '1' } }), said); // prettier-ignore
      assert.deepEqual([why, spec['nodeSelector']], ['', { o: '1' }]);
    }
  });

  it('refuses a configuration of another shape', () => {
    assert.throws(() => plugin({}, config({ ns: 'a b' })), /f: podNodeSelectorPluginConfig\.ns: must be labels/);
    assert.throws(() => plugin({}, config({ ns: 1 })), /f: podNodeSelectorPluginConfig\.ns: must be a string/);
    assert.throws(() => plugin({}, { podNodeSelectorPluginConfig: 'x' }), /must be an object/);
  });
});

describe('podTolerationRestriction()', () => {
  const DEFAULTS = 'scheduler.alpha.platform.io/defaultTolerations';
  const ALLOWED = 'scheduler.alpha.platform.io/tolerationsWhitelist';
  const CONFLICT = forbids(
    'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
  );
  const list = (...tolerations: readonly object[]): string => JSON.stringify(tolerations);
  const admit = (
    annotations: Readonly<Record<string, string>>,
    spec: object,
    config?: unknown,
    said: Partial<AdmissionRequest> = {},
  ): Promise<Outcome> =>
    ask(
      podTolerationRestriction({
        vocabulary: words,
        objects: namespace(annotations),
        configuration: configuration('PodTolerationRestriction', config),
      }),
      pod(spec),
      said,
    );
  const pressure = exists('node.platform.io/memory-pressure');
  const busy = { containers: [{ name: 'c', resources: { requests: { memory: '1Gi' } } }] };
  const HEAD = { apiVersion: 'podtolerationrestriction.admission.platform.io/v1alpha1', kind: 'Configuration' };
  const cluster = { ...HEAD, default: [exists('cl')], whitelist: [{ operator: 'Exists' }] };

  for (const [what, annotations, spec, config, expected] of [
    ['none where nothing is said', {}, {}, undefined, undefined],
    ['those of its namespace', { [DEFAULTS]: list(exists('d')) }, {}, undefined, [exists('d')]],
    [
      'both, its own first',
      { [DEFAULTS]: list(exists('d')) },
      { tolerations: [exists('o')] },
      undefined,
      [exists('o'), exists('d')],
    ],
    [
      'those that cover its own',
      { [DEFAULTS]: list(exists('d')) },
      { tolerations: [{ key: 'd', value: 'x', effect: 'NoSchedule' }] },
      undefined,
      [exists('d')],
    ],
    ['those of the cluster', {}, {}, cluster, [exists('cl')]],
    ['those of its namespace, not of the cluster', { [DEFAULTS]: '[]' }, {}, cluster, undefined],
    ['one for nodes with little memory, when it has asked for some', {}, busy, undefined, [pressure]],
    [
      'what is allowed',
      { [ALLOWED]: list(exists('a'), { operator: 'Exists', effect: 'NoExecute' }) },
      { tolerations: [exists('a'), exists('b', 'NoExecute')] },
      undefined,
      [exists('a'), exists('b', 'NoExecute')],
    ],
    [
      'anything where the list is empty',
      { [ALLOWED]: '[]' },
      { tolerations: [exists('a')] },
      { ...HEAD, whitelist: [exists('b')] },
      [exists('a')],
    ],
  ] as const) {
    // prettier-ignore
    it(`gives a pod ${what}`, async () => {
      const { why, spec: after } = await admit(annotations, structuredClone(spec), config);
      assert.deepEqual([why, after['tolerations']], ['', expected]);
    });
  }

  for (const [what, annotations, spec, config] of [
    ['what is not allowed', { [ALLOWED]: list(exists('a')) }, { tolerations: [exists('a'), exists('b')] }, undefined],
    ['a default that is not allowed', { [ALLOWED]: list(exists('a')), [DEFAULTS]: list(exists('d')) }, {}, undefined],
    ['what the cluster does not allow', {}, { tolerations: [exists('a')] }, { ...HEAD, whitelist: [exists('b')] }],
    [
      'another value',
      { [ALLOWED]: list({ key: 'a', operator: 'Equal', value: 'x' }) },
      { tolerations: [{ key: 'a', operator: 'Equal', value: 'y' }] },
      undefined,
    ],
  ] as const) {
    // prettier-ignore
    it(`refuses ${what}`, async () => {
      assert.equal((await admit(annotations, structuredClone(spec), config)).why, CONFLICT);
    });
  }

  it('looks at updates, and adds no defaults to them', async () => {
    const annotations = { [ALLOWED]: list(exists('a')), [DEFAULTS]: list(exists('a')) };
    assert.equal((await admit(annotations, { tolerations: [exists('b')] }, undefined, UPDATE)).why, CONFLICT);
    assert.equal((await admit(annotations, {}, undefined, UPDATE)).spec['tolerations'], undefined);
    assert.equal((await admit(annotations, { tolerations: [exists('b')] }, undefined, PART)).why, '');
  });

  for (const text of ['nope', '{}', '[1]', '[{"key":1}]', '[{"tolerationSeconds":"1"}]']) {
    it(`refuses pods where an annotation is ${text}`, async () => {
      const { error } = await admit({ [DEFAULTS]: text }, {});
      assert.equal(error?.message, forbids(`namespace annotation ${DEFAULTS} is no list of tolerations`));
    });
  }

  it('refuses a configuration of another shape', async () => {
    for (const [value, why] of [
      [{ ...HEAD, whitelist: 'x' }, /f: whitelist: must be a list/],
      [{ ...HEAD, default: [{ key: 1 }] }, /f: default\.0\.key: must be a string/],
      [{ ...HEAD, default: [{ tolerationSeconds: 'x' }] }, /f: default\.0: is no toleration/],
      [{ ...HEAD, kind: 'X' }, /f: kind: must be "Configuration"/],
    ] as const) {
      await assert.rejects(async () => admit({}, {}, value), why);
    }
  });
});

describe('covers()', () => {
  const forever = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
  for (const [one, other, expected] of [
    [exists('k'), exists('k'), true],
    [exists('k'), exists('l'), false],
    [{ operator: 'Exists' }, exists('l'), true],
    [{ operator: 'Equal' }, exists('l'), false],
    [exists('k', ''), exists('k', 'NoExecute'), true],
    [exists('k'), exists('k', 'NoExecute'), false],
    [exists('k'), { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }, true],
    [{ key: 'k', value: 'v' }, { key: 'k', operator: 'Equal', value: 'v' }, true],
    [{ key: 'k', value: 'v' }, { key: 'k', operator: 'Exists' }, false],
    [{ key: 'k', value: '' }, { key: 'k', operator: 'Exists' }, false],
    [forever, { ...forever, tolerationSeconds: 5 }, true],
    [{ ...forever, tolerationSeconds: 5 }, { ...forever, tolerationSeconds: 5 }, true],
    [{ ...forever, tolerationSeconds: 5 }, { ...forever, tolerationSeconds: 6 }, false],
    [{ ...forever, tolerationSeconds: 5 }, forever, false],
  ] as const) {
    it(`is ${expected} for ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () =>
      assert.equal(covers(one, other), expected));
  }
});

describe('mergeTolerations()', () => {
  it('leaves out what others cover, and what is there twice', () => {
    const narrow = { key: 'a', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
    const [a, b] = [exists('a'), exists('b')];
    assert.deepEqual(mergeTolerations([narrow, b], [a, b]), [b, a]);
    assert.deepEqual(mergeTolerations([a], [narrow]), [a]);
    assert.deepEqual(mergeTolerations([a, a], [a]), [a]);
  });
});
