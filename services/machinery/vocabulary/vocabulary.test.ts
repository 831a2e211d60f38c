import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { vocabulary } from './vocabulary.js';
import { WORDS } from './words.js';
import { processorMs } from '../testing/processor-time.js';

const file = JSON.parse(readFileSync(new URL('./data/pairs.json', import.meta.url), 'utf8')) as {
  readonly ambiguous: Readonly<Record<string, readonly string[]>>;
  readonly pairs: readonly (readonly [string, string])[];
};

describe('vocabulary()', () => {
  it('gives the same object each time', () => {
    assert.equal(vocabulary('kubernetes'), vocabulary('kubernetes'));
  });

  it('has every word of the table in the Kubernetes form, none left in the platform form', () => {
    const { name, translate, openApiExtension, openApiExtensions, ...words } = vocabulary('kubernetes');
    assert.equal(name, 'kubernetes');
    for (const made of [translate, openApiExtension, openApiExtensions]) assert.equal(typeof made, 'function');
    const derived = ['tokenClaim', 'reservedDomains', 'acceptedProtobufMediaTypes', 'lastAppliedAnnotation'];
    assert.deepEqual(Object.keys(words).sort(), [...Object.keys(WORDS), ...derived].sort());
    const values = JSON.stringify(words).replace(/"\w+":/g, '');
    assert.doesNotMatch(values, /platform|nodeagent/i);
  });

  it('keeps the platform form in the platform vocabulary', () => {
    const platform = vocabulary('platform');
    assert.equal(platform.translate('platform-system'), 'platform-system');
    assert.deepEqual(platform.namespaces, WORDS.namespaces);
    assert.equal(platform.openApiExtension('list-type'), 'x-platform-list-type');
    assert.deepEqual(platform.reservedDomains, ['platform.io']);
  });

  it('understands an unmodified kubectl in both vocabularies', () => {
    const [platform, kubernetes] = [vocabulary('platform'), vocabulary('kubernetes')];
    assert.deepEqual(platform.openApiExtensions('action'), ['x-platform-action', 'x-kubernetes-action']);
    assert.deepEqual(kubernetes.openApiExtensions('action'), ['x-kubernetes-action']);
    assert.deepEqual(kubernetes.acceptedProtobufMediaTypes, ['application/vnd.kubernetes.protobuf']);
    assert.equal(platform.acceptedProtobufMediaTypes.length, 2);
    assert.equal(platform.lastAppliedAnnotation, 'kubectl.kubernetes.io/last-applied-configuration');
  });

  const expected = [
    ['protobufMediaType', 'application/vnd.kubernetes.protobuf'],
    ['metaGroup', 'meta.k8s.io'],
    ['apiDiscoveryGroup', 'apidiscovery.k8s.io'],
    ['openApiModelPrefix', 'io.k8s.'],
    ['initialEventsEndAnnotation', 'k8s.io/initial-events-end'],
    ['namespaceNameLabel', 'kubernetes.io/metadata.name'],
    ['namespaceFinalizer', 'kubernetes'],
    ['defaultServiceName', 'kubernetes'],
    ['serverName', 'kube-apiserver'],
    ['deprecatedAnnotation', 'k8s.io/deprecated'],
    ['tokenClaim', 'kubernetes.io'],
    ['emptyBudgetSelectorKey', 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'],
  ] as const;
  for (const [word, form] of expected) {
    it(`calls ${word} ${form} for Kubernetes clients`, () => {
      assert.equal(vocabulary('kubernetes')[word], form);
    });
  }

  it('names the namespaces, extensions and reserved domains for Kubernetes clients', () => {
    const kubernetes = vocabulary('kubernetes');
    assert.deepEqual(kubernetes.namespaces, {
      system: 'kube-system',
      public: 'kube-public',
      nodeLease: 'kube-node-lease',
    });
    assert.equal(kubernetes.openApiExtension('group-version-kind'), 'x-kubernetes-group-version-kind');
    assert.deepEqual(kubernetes.reservedDomains, ['k8s.io', 'kubernetes.io']);
  });
});

describe('translate()', () => {
  const { translate } = vocabulary('kubernetes');

  it('gives the Kubernetes form of every pair but the second readings of ambiguous ones', () => {
    const wrong = file.pairs.filter(([platform, kubernetes]) => translate(platform) !== kubernetes);
    // On their own these are API groups, or the domain of API groups; as the domain of a key they read the other way (below).
    assert.deepEqual(wrong, [
      ['node.platform.io', 'node.kubernetes.io'],
      ['platform.io', 'kubernetes.io'],
    ]);
    assert.deepEqual(Object.keys(file.ambiguous).sort(), ['node.platform.io', 'platform.io']);
    assert.ok(file.pairs.length >= 349);
  });

  const cases = [
    // groups and versions
    ['node.platform.io/v1', 'node.k8s.io/v1'],
    ['rbac.authorization.platform.io/v1', 'rbac.authorization.k8s.io/v1'],
    ['flowcontrol.apiserver.platform.io/v1beta2', 'flowcontrol.apiserver.k8s.io/v1beta2'],
    ['rbac.authorization.platform.io/v1.ClusterRole', 'rbac.authorization.k8s.io/v1.ClusterRole'],
    ['node.platform.io/v1.RuntimeClass', 'node.k8s.io/v1.RuntimeClass'],
    ['/apis/networking.platform.io/v1/ingresses', '/apis/networking.k8s.io/v1/ingresses'],
    ['flowcontrol.platform.io', 'flowcontrol.k8s.io'],
    // keys
    ['rbac.authorization.platform.io/aggregate-to-monitoring', 'rbac.authorization.k8s.io/aggregate-to-monitoring'],
    ['node.platform.io/gpu', 'node.kubernetes.io/gpu'],
    ['node-role.platform.io/worker', 'node-role.kubernetes.io/worker'],
    ['platform.io/anything', 'kubernetes.io/anything'],
    ['unheard-of.platform.io/key', 'unheard-of.kubernetes.io/key'],
    ['mutation.webhook.admission.platform.io/round_0_index_1', 'mutation.webhook.admission.k8s.io/round_0_index_1'],
    ['topology.platform.io/rack', 'topology.kubernetes.io/rack'],
    // words
    ['io.platform.api.core.v1.Pod', 'io.k8s.api.core.v1.Pod'],
    ['system:serviceaccount:platform-system:builder', 'system:serviceaccount:kube-system:builder'],
    ['x-platform-anything-new', 'x-kubernetes-anything-new'],
    ['system:certificates.platform.io:other', 'system:certificates.k8s.io:other'],
    ['status.nodeInfo.nodeagentVersion', 'status.nodeInfo.kubeletVersion'],
    ['application/vnd.platform.protobuf;type=v1', 'application/vnd.kubernetes.protobuf;type=v1'],
    ['PLATFORM_ANYTHING', 'KUBERNETES_ANYTHING'],
    // not ours
    ['myplatform-thing', 'myplatform-thing'],
    ['platforms', 'platforms'],
    ['example.com/platforms', 'example.com/platforms'],
    ['platform.iot.example.com', 'kubernetes.iot.example.com'],
    ['pods', 'pods'],
  ] as const;
  for (const [platform, kubernetes] of cases) {
    it(`turns ${platform} into ${kubernetes}`, () => assert.equal(translate(platform), kubernetes));
  }

  it('is quick on a long hostile input', () => {
    const tookMs = processorMs(() => {
      translate('platform.'.repeat(20_000));
      translate('a-'.repeat(50_000) + 'platform.io');
    });
    assert.ok(tookMs < 2_000);
  });
});
