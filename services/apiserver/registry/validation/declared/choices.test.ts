import { changed, KindUnderTest } from '../testing/cases.js';

const metadata = { name: 'x', namespace: 'default' };
const unsupported = (value: string, ...supported: readonly string[]): string =>
  `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((it) => JSON.stringify(it)).join(', ')}`;
const container = { name: 'c', image: 'i' };

describe('choices that may be left out are none of them when they are empty:', () => {
  describe('webhooks', () => {
    const kind = new KindUnderTest({
      group: 'admissionregistration.k8s.io',
      resource: 'mutatingwebhookconfigurations',
      type: 'admissionregistration.k8s.io/v1.MutatingWebhookConfiguration',
    });
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }];
    const webhook = { name: 'a.b.c', clientConfig: { url: 'https://x' }, sideEffects: 'None', admissionReviewVersions: ['v1'], rules }; // prettier-ignore
    const object = { kind: 'MutatingWebhookConfiguration', metadata: { name: 'x' }, webhooks: [webhook] };
    kind.refuses(object, [
      [{ 'webhooks.0.failurePolicy': '' }, 'webhooks[0].failurePolicy', unsupported('', 'Fail', 'Ignore')],
      [{ 'webhooks.0.matchPolicy': '' }, 'webhooks[0].matchPolicy', unsupported('', 'Equivalent', 'Exact')],
      [{ 'webhooks.0.reinvocationPolicy': '' }, 'webhooks[0].reinvocationPolicy', unsupported('', 'IfNeeded', 'Never')],
      [{ 'webhooks.0.rules.0.scope': '' }, 'webhooks[0].rules[0].scope', unsupported('', '*', 'Cluster', 'Namespaced')],
    ]);
  });

  describe('services', () => {
    const kind = new KindUnderTest({ resource: 'services', type: 'core/v1.Service' });
    const object = { kind: 'Service', metadata, spec: { ports: [{ port: 80 }], selector: { a: 'b' } } };
    const near = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
    kind.refuses(object, [
      [{ 'spec.internalTrafficPolicy': '' }, 'spec.internalTrafficPolicy', unsupported('', 'Cluster', 'Local')],
      [{ 'spec.trafficDistribution': '' }, 'spec.trafficDistribution', unsupported('', ...near)],
      [{ 'spec.trafficDistribution': 'Near' }, 'spec.trafficDistribution', unsupported('Near', ...near)],
    ]);
    kind.accepts(object, [{ 'spec.trafficDistribution': 'PreferClose' }]);
  });

  describe('jobs', () => {
    const kind = new KindUnderTest({ group: 'batch', resource: 'jobs', type: 'batch/v1.Job' });
    const spec = { restartPolicy: 'Never', containers: [container] };
    const labels = { a: 'b' };
    const object = {
      kind: 'Job',
      metadata: { ...metadata, uid: 'u' },
      spec: { manualSelector: true, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    };
    const policy = changed(object, { 'spec.podFailurePolicy.rules.0': { action: 'Count', onExitCodes: { operator: 'In', values: [1] } } }); // prettier-ignore
    const AT = 'spec.podFailurePolicy.rules[0]';
    kind.refuses(policy, [
      [{ 'spec.podReplacementPolicy': '' }, 'spec.podReplacementPolicy', unsupported('', 'Failed', 'TerminatingOrFailed')], // prettier-ignore
      [{ 'spec.podFailurePolicy.rules.0.action': 'X' }, `${AT}.action`, unsupported('X', 'Count', 'FailIndex', 'FailJob', 'Ignore')], // prettier-ignore
      [{ 'spec.podFailurePolicy.rules.0.action': '' }, `${AT}.action`, 'Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'], // prettier-ignore
      [{ 'spec.podFailurePolicy.rules.0.onExitCodes.operator': 'X' }, `${AT}.onExitCodes.operator`, unsupported('X', 'In', 'NotIn')], // prettier-ignore
    ]);
    kind.refuses(policy, [
      [{ 'spec.managedBy': '' }, 'spec.managedBy', 'Required value'],
      [{ 'spec.managedBy': 'me' }, 'spec.managedBy', 'Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'], // prettier-ignore
      [{ 'spec.managedBy': `a.b/${'c'.repeat(60)}` }, 'spec.managedBy', 'Too long: must have at most 63 bytes'],
    ]);
    kind.accepts(policy, [{ 'spec.managedBy': 'a.b/c' }]);
    const managed = changed(policy, { 'spec.managedBy': 'a.b/c' });
    kind.refusesUpdates(managed, [[{ 'spec.managedBy': 'a.b/d' }, 'spec.managedBy', 'Invalid value: "a.b/d": field is immutable']]); // prettier-ignore
    kind.accepts(policy, [{}, { 'spec.podReplacementPolicy': 'Failed' }]);
  });

  describe('pods', () => {
    const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });
    const mount = { name: 'v', mountPath: '/x' };
    const image = { name: 'm', image: { reference: 'a' } };
    const object = {
      kind: 'Pod',
      metadata,
      spec: { containers: [{ ...container, volumeMounts: [mount] }], volumes: [{ name: 'v', emptyDir: {} }, image] },
    };
    const C = 'spec.containers.0';
    kind.refuses(object, [
      [{ 'spec.preemptionPolicy': '' }, 'spec.preemptionPolicy', unsupported('', 'PreemptLowerPriority', 'Never')],
      [{ 'spec.securityContext.fsGroupChangePolicy': '' }, 'spec.securityContext.fsGroupChangePolicy', unsupported('', 'Always', 'OnRootMismatch')], // prettier-ignore
      [{ [`${C}.securityContext.procMount`]: '' }, 'spec.containers[0].securityContext.procMount', unsupported('', 'Default', 'Unmasked')], // prettier-ignore
      [{ [`${C}.volumeMounts.0.mountPropagation`]: '' }, 'spec.containers[0].volumeMounts.mountPropagation', unsupported('', 'Bidirectional', 'HostToContainer', 'None')], // prettier-ignore
      [{ [`${C}.resizePolicy`]: [{ resourceName: 'cpu', restartPolicy: 'X' }] }, 'spec.containers[0].resizePolicy[0].restartPolicy', unsupported('X', 'NotRequired', 'RestartContainer')], // prettier-ignore
      [{ 'spec.volumes.1.image.pullPolicy': 'X' }, 'spec.volumes[1].image.pullPolicy', unsupported('X', 'Always', 'IfNotPresent', 'Never')], // prettier-ignore
    ]);
    kind.accepts(object, [
      { [`${C}.resizePolicy`]: [{ resourceName: 'memory', restartPolicy: 'NotRequired' }] },
      { 'spec.tolerations': [{ operator: 'Exists', effect: '' }] },
    ]);
  });

  describe('disruption budgets', () => {
    const kind = new KindUnderTest({ group: 'policy', resource: 'poddisruptionbudgets', type: 'policy/v1.PodDisruptionBudget' }); // prettier-ignore
    const object = { kind: 'PodDisruptionBudget', metadata, spec: { minAvailable: 1, selector: {} } };
    const AT = 'spec.unhealthyPodEvictionPolicy';
    kind.refuses(object, ['', 'X'].map((it) => [{ [AT]: it }, AT, unsupported(it, 'AlwaysAllow', 'IfHealthyBudget')])); // prettier-ignore
  });

  describe('classes of storage', () => {
    const kind = new KindUnderTest({ group: 'storage.k8s.io', resource: 'storageclasses', type: 'storage.k8s.io/v1.StorageClass' }); // prettier-ignore
    const object = { kind: 'StorageClass', metadata: { name: 'x' }, provisioner: 'p' };
    kind.refuses(object, [[{ volumeBindingMode: '' }, 'volumeBindingMode', unsupported('', 'Immediate', 'WaitForFirstConsumer')]]); // prettier-ignore
    kind.accepts(object, [{ reclaimPolicy: '' }]);
  });
});
