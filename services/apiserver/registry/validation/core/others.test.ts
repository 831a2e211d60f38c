import assert from 'node:assert/strict';
import { loadCatalog } from '../../../../machinery/types/catalog.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { kindRules, typeRules } from '../table.js';
import { changed, KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL_VALUE, QUALIFIED } from '../testing/words.js';

const metadata = { name: 'x', namespace: 'default' };
const named = (kind: string): Readonly<Record<string, unknown>> => ({ apiVersion: 'v1', kind, metadata });
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } };

for (const name of ['platform', 'kubernetes'] as const) {
  describe(`the tables of rules in the ${name} vocabulary`, () => {
    const words = vocabulary(name);
    const { resources, types } = loadCatalog(words);

    it('name stored resources only', () => {
      const stored = new Set(resources.map((r) => `${r.group}/${r.resource}`));
      for (const kind of kindRules(words).keys()) assert.ok(stored.has(kind), kind);
    });

    it('name declared types only', () => {
      for (const key of typeRules(words, { allowPrivileged: true }).keys()) assert.ok(types.get(key), key);
    });
  });
}

describe('validation of replication controllers', () => {
  const kind = new KindUnderTest({ resource: 'replicationcontrollers', type: 'core/v1.ReplicationController' });
  const rc = { ...named('ReplicationController'), spec: { replicas: 1, selector: { app: 'x' }, template } };
  kind.refuses(rc, [
    [{ 'spec.replicas': -1 }, 'spec.replicas', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.minReadySeconds': -1 }, 'spec.minReadySeconds', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.selector': undefined, 'spec.template.metadata': {} }, 'spec.selector', 'Required value'],
    [{ 'spec.template': undefined }, 'spec.template', 'Required value'],
    [
      { 'spec.template.metadata.labels': { app: 'y', b: 'c' } },
      'spec.template.metadata.labels',
      'Invalid value: map[string]string{"app":"y", "b":"c"}: `selector` does not match template `labels`',
    ],
    [
      { 'spec.template.metadata.labels': { app: 'x', b: 'c d' } },
      'spec.template.labels',
      `Invalid value: "c d": ${LABEL_VALUE}`,
    ],
    [
      { 'spec.template.metadata.annotations': { 'a b': 'c' } },
      'spec.template.annotations',
      `Invalid value: "a b": ${QUALIFIED}`,
    ],
    [
      { 'spec.template.spec.restartPolicy': 'Never' },
      'spec.template.spec.restartPolicy',
      'Unsupported value: "Never": supported values: "Always"',
    ],
    [
      { 'spec.template.spec.activeDeadlineSeconds': 5 },
      'spec.template.spec.activeDeadlineSeconds',
      'Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
    ],
    [
      { 'spec.template.spec.ephemeralContainers': [{ name: 'a', image: 'a' }] },
      'spec.template.spec.ephemeralContainers',
      'Forbidden: ephemeral containers not allowed in pod template',
    ],
    [{ 'spec.template.spec.containers.0.image': '' }, 'spec.template.spec.containers[0].image', 'Required value'],
  ]);
  kind.refusesPart('status', rc, [
    [
      { 'status.replicas': 1, 'status.readyReplicas': 2 },
      'status.readyReplicas',
      'Invalid value: 2: cannot be greater than status.replicas',
    ],
    [
      { 'status.replicas': 1, 'status.availableReplicas': 1 },
      'status.availableReplicas',
      'Invalid value: 1: cannot be greater than readyReplicas',
    ],
    [
      { 'status.replicas': 0, 'status.observedGeneration': -1 },
      'status.observedGeneration',
      `Invalid value: -1: ${AT_LEAST_0}`,
    ],
  ]);
});

describe('validation of pod templates', () => {
  const kind = new KindUnderTest({ resource: 'podtemplates', type: 'core/v1.PodTemplate' });
  kind.refuses({ ...named('PodTemplate'), template }, [
    [{ 'template.spec.containers.0.name': undefined }, 'template.spec.containers[0].name', 'Required value'],
  ]);
});

describe('validation of limit ranges', () => {
  const kind = new KindUnderTest({ resource: 'limitranges', type: 'core/v1.LimitRange' });
  const range = { ...named('LimitRange'), spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } };
  const L = 'spec.limits[0]';
  const limit = (item: object): object => ({ 'spec.limits': [item] });
  kind.refuses(range, [
    [
      { ...limit({ type: 'Node' }) },
      `${L}.type`,
      'Invalid value: "Node": must be a standard limit type or fully qualified',
    ],
    [{ 'spec.limits.1': { type: 'Container' } }, 'spec.limits[1].type', 'Duplicate value: "Container"'],
    [
      { ...limit({ type: 'Pod', max: { pods: '1' } }) },
      `${L}.max[pods]`,
      'Invalid value: "pods": must be a standard resource for containers',
    ],
    [
      { ...limit({ type: 'Pod', default: { cpu: '1' }, max: { cpu: '2' } }) },
      `${L}.default`,
      "Forbidden: may not be specified when `type` is 'Pod'",
    ],
    [
      { ...limit({ type: 'PersistentVolumeClaim' }) },
      `${L}.limits`,
      'Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
    [
      { ...limit({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }) },
      `${L}.min[cpu]`,
      'Invalid value: "2": min value 2 is greater than max value 1',
    ],
    [
      { ...limit({ type: 'Container', default: { cpu: '3' }, defaultRequest: { cpu: '1' }, max: { cpu: '2' } }) },
      `${L}.default[cpu]`,
      'Invalid value: "2": default value 3 is greater than max value 2',
    ],
    [
      { ...limit({ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }) },
      `${L}.defaultRequest[cpu]`,
      'Invalid value: "2": default request value 2 is greater than default limit value 1',
    ],
    [
      { ...limit({ type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } }) },
      `${L}.maxLimitRequestRatio[cpu]`,
      'Invalid value: "500m": ratio 500m is less than 1',
    ],
    [
      { ...limit({ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }) },
      `${L}.maxLimitRequestRatio[cpu]`,
      'Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
    ],
    [
      { ...limit({ type: 'Container', default: { 'a.com/b': '2' }, defaultRequest: { 'a.com/b': '1' } }) },
      `${L}.defaultRequest[a.com/b]`,
      'Invalid value: "1": default value 2 must equal to defaultRequest value 1 in a.com/b',
    ],
  ]);
});

describe('validation of resource quotas', () => {
  const kind = new KindUnderTest({ resource: 'resourcequotas', type: 'core/v1.ResourceQuota' });
  const quota = { ...named('ResourceQuota'), spec: { hard: { pods: '1' } } };
  const E = 'spec.scopeSelector.matchExpressions';
  const selector = (requirement: object): object => ({ 'spec.scopeSelector': { matchExpressions: [requirement] } });
  kind.refuses(quota, [
    [
      { 'spec.hard': { tea: '1' } },
      'spec.hard[tea]',
      'Invalid value: "tea": must be a standard resource type or fully qualified',
      'spec.hard[tea]',
      'Invalid value: "tea": must be a standard resource for quota',
    ],
    [{ 'spec.hard': { cpu: '-1' } }, 'spec.hard[cpu]', `Invalid value: "-1": ${AT_LEAST_0}`],
    [{ 'spec.hard': { pods: '1500m' } }, 'spec.hard[pods]', 'Invalid value: "1500m": must be an integer'],
    [
      { ...selector({ scopeName: 'Late', operator: 'Exists' }) },
      `${E}.scopeName`,
      'Invalid value: "Late": unsupported scope',
    ],
    [
      { ...selector({ scopeName: 'BestEffort', operator: 'Exists' }), 'spec.hard': { cpu: '1' } },
      E,
      'Invalid value: {"matchExpressions":[{"scopeName":"BestEffort","operator":"Exists"}]}: unsupported scope applied to resource',
    ],
    [{ 'spec.scopes': ['Late'] }, 'spec.scopes', 'Invalid value: []string{"Late"}: unsupported scope'],
    [
      { 'spec.scopes': ['BestEffort', 'NotBestEffort'] },
      'spec.scopes',
      'Invalid value: []string{"BestEffort", "NotBestEffort"}: conflicting scopes',
    ],
    [
      { 'spec.scopes': ['BestEffort'], 'spec.hard': { cpu: '1' } },
      'spec.scopes',
      'Invalid value: []string{"BestEffort"}: unsupported scope applied to resource',
    ],
    [
      { ...selector({ scopeName: 'PriorityClass', operator: 'In' }) },
      `${E}.values`,
      "Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
    [
      { ...selector({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }) },
      `${E}.values`,
      "Invalid value: []string{\"a\"}: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
    ],
    [
      { ...selector({ scopeName: 'PriorityClass', operator: 'Is' }) },
      `${E}.operator`,
      'Invalid value: "Is": not a valid selector operator',
    ],
    [
      { ...selector({ scopeName: 'Terminating', operator: 'DoesNotExist' }) },
      `${E}.operator`,
      'Invalid value: "DoesNotExist": must be \'Exist\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
    ],
  ]);
  const scoped = changed(quota, { 'spec.scopes': ['Terminating', 'BestEffort'] });
  kind.acceptsUpdates(scoped, [{ 'spec.scopes': ['BestEffort', 'Terminating'] }, { 'spec.hard': { pods: '2' } }]);
  kind.refusesUpdates(scoped, [
    [{ 'spec.scopes': ['BestEffort'] }, 'spec.scopes', 'Invalid value: []string{"BestEffort"}: field is immutable'],
  ]);
  kind.refusesPart('status', quota, [
    [{ 'status.used': { cpu: '-1' } }, 'status.used[cpu]', `Invalid value: "-1": ${AT_LEAST_0}`],
  ]);
});

describe('validation of nodes', () => {
  const kind = new KindUnderTest({ resource: 'nodes', type: 'core/v1.Node' });
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' }, spec: {} };
  kind.refuses(node, [
    [{ 'spec.taints': [{ key: 'a' }] }, 'metadata.taints[0].effect', 'Required value'],
    [
      { 'spec.taints': [{ key: 'a', effect: 'Never' }] },
      'metadata.taints[0].effect',
      'Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
    [
      {
        'spec.taints': [
          { key: 'a', effect: 'NoExecute' },
          { key: 'a', value: 'b', effect: 'NoExecute' },
        ],
      },
      'metadata.taints[1]',
      'Duplicate value: {"key":"a","value":"b","effect":"NoExecute"}',
    ],
    [{ 'spec.podCIDRs': ['10.0.0.0'] }, 'spec.podCIDRs[0]', 'Invalid value: []string{"10.0.0.0"}: must be valid CIDR'],
    [
      { 'spec.podCIDRs': ['10.0.0.0/24', '10.0.1.0/24'] },
      'spec.podCIDRs',
      'Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family',
    ],
    [
      { 'status.capacity': { pods: '500m' } },
      'status.capacity.pods',
      'Invalid value: "500m": must be an integer',
      'status.allocatable.pods',
      'Invalid value: "500m": must be an integer',
    ],
  ]);
  const placed = changed(node, {
    'spec.podCIDR': '10.0.0.0/24',
    'spec.podCIDRs': ['10.0.0.0/24'],
    'spec.providerID': 'a',
  });
  kind.refusesUpdates(placed, [
    [
      { 'spec.podCIDR': '10.0.1.0/24', 'spec.podCIDRs': ['10.0.1.0/24'] },
      'spec.podCIDRs',
      'Forbidden: node updates may not change podCIDR except from "" to valid',
    ],
    [
      { 'spec.providerID': 'b' },
      'spec.providerID',
      'Forbidden: node updates may not change providerID except from "" to valid',
    ],
    [
      { 'spec.configSource': {} },
      'spec.configSource',
      'Invalid value: {}: exactly one reference subfield must be non-nil',
    ],
    [
      { 'spec.configSource': { configMap: { name: 'a', namespace: 'b', uid: 'c' } } },
      'spec.configSource.configMap.uid',
      'Forbidden: uid must not be set in spec',
      'spec.configSource.configMap.kubeletConfigKey',
      'Required value: kubeletConfigKey must be set',
    ],
  ]);
  kind.acceptsUpdates(node, [
    { 'spec.podCIDR': '10.0.0.0/24' },
    { 'spec.providerID': 'a' },
    { 'spec.unschedulable': true },
  ]);
  kind.refusesPart('status', node, [
    [
      {
        'status.addresses': [
          { type: 'InternalIP', address: 'a' },
          { type: 'InternalIP', address: 'a' },
        ],
      },
      'status.addresses[1]',
      'Duplicate value: {"type":"InternalIP","address":"a"}',
    ],
    [
      { 'status.capacity': { cpu: '-1' }, 'status.allocatable': { cpu: '1' } },
      'status.capacity.cpu',
      `Invalid value: "-1": ${AT_LEAST_0}`,
    ],
  ]);
});

describe('validation of namespaces', () => {
  const kind = new KindUnderTest({ resource: 'namespaces', type: 'core/v1.Namespace' });
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'x' },
    spec: { finalizers: ['kubernetes'] },
  };
  kind.acceptsManifest('a namespace', namespace);
  const BARE = 'Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified';
  kind.refuses(namespace, [[{ 'spec.finalizers': ['mine'] }, 'spec.finalizers', BARE]]);
  kind.refusesPart('finalize', namespace, [[{ 'spec.finalizers': ['mine'] }, 'spec.finalizers', BARE]]);
  kind.refusesPart('status', namespace, [
    [
      { 'status.phase': 'Terminating' },
      'status.Phase',
      `Invalid value: "Terminating": may only be 'Active' if \`deletionTimestamp\` is empty`,
    ],
    [
      { 'status.phase': 'Active', 'metadata.deletionTimestamp': '2024-01-01T00:00:00Z' },
      'status.Phase',
      `Invalid value: "Active": may only be 'Terminating' if \`deletionTimestamp\` is not empty`,
    ],
  ]);
});

describe('validation of events', () => {
  const kind = new KindUnderTest({ resource: 'events', type: 'core/v1.Event' });
  const event = { ...named('Event'), involvedObject: { kind: 'Pod', name: 'x', namespace: 'default' } };
  const modern = changed(event, {
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingComponent: 'a.com/b',
    reportingInstance: 'c',
    action: 'd',
    reason: 'e',
  });
  kind.acceptsManifest('an event', event);
  kind.acceptsManifest('an event with a time', modern);
  const ELSEWHERE = 'does not match event.namespace';
  kind.refuses(event, [
    [{ 'involvedObject.namespace': 'other' }, 'involvedObject.namespace', `Invalid value: "other": ${ELSEWHERE}`],
    [
      { 'involvedObject.namespace': undefined, 'metadata.namespace': 'other' },
      'involvedObject.namespace',
      `Invalid value: "": ${ELSEWHERE}`,
    ],
  ]);
  kind.refuses(modern, [
    [
      { 'involvedObject.namespace': undefined, 'metadata.namespace': 'other' },
      'involvedObject.namespace',
      `Invalid value: "": ${ELSEWHERE}`,
    ],
    [{ reportingInstance: undefined }, 'reportingInstance', 'Required value'],
    [{ action: undefined }, 'action', 'Required value'],
    [{ reason: 'x'.repeat(129) }, 'reason', 'Invalid value: "": can have at most 128 characters'],
    [{ message: 'x'.repeat(1025) }, 'message', 'Invalid value: "": can have at most 1024 characters'],
    [{ reportingComponent: 'a b' }, 'reportingComponent', `Invalid value: "a b": ${QUALIFIED}`],
  ]);
});
