import assert from 'node:assert/strict';
import type { ApiObject } from '../meta/object.js';
import { loadCatalog } from '../types/catalog.js';
import { vocabulary } from '../vocabulary/vocabulary.js';
import { converter } from './converter.js';

const words = vocabulary('platform');
const { convert } = converter(loadCatalog(words), words);

/** The object with those members, as it is in another version. */
function converted(kind: string, from: string, to: string, members: Omit<ApiObject, 'kind' | 'apiVersion'>): ApiObject {
  const gvk = (apiVersion: string): { group: string; version: string; kind: string } => {
    const [first = '', second] = apiVersion.split('/');
    return second === undefined ? { group: '', version: first, kind } : { group: first, version: second, kind };
  };
  return convert({ metadata: {}, ...members, kind, apiVersion: from }, gvk(from), gvk(to));
}

describe('conversion of PodDisruptionBudget', () => {
  const selector = (from: string, to: string, given: unknown): unknown => {
    const { spec } = converted('PodDisruptionBudget', from, to, { metadata: {}, spec: { selector: given } });
    return (spec as { selector?: unknown }).selector;
  };
  const key = 'pdb.platform.io/deprecated-v1beta1-empty-selector-match';

  it('keeps an empty v1beta1 selector matching no pod', () => {
    const none = { matchExpressions: [{ key, operator: 'Exists' }] };
    assert.deepEqual(selector('policy/v1beta1', 'policy/v1', {}), none);
    assert.deepEqual(selector('policy/v1beta1', 'policy/v1', { matchLabels: {} }), none);
    assert.deepEqual(selector('policy/v1', 'policy/v1beta1', none), {});
  });

  it('keeps an empty v1 selector matching every pod', () => {
    const all = { matchExpressions: [{ key, operator: 'DoesNotExist' }] };
    assert.deepEqual(selector('policy/v1', 'policy/v1beta1', {}), all);
    assert.deepEqual(selector('policy/v1beta1', 'policy/v1', all), {});
  });

  it('leaves other selectors and unset ones alone', () => {
    const web = { matchLabels: { app: 'web' } };
    assert.deepEqual(selector('policy/v1beta1', 'policy/v1', web), web);
    assert.equal(selector('policy/v1beta1', 'policy/v1', undefined), undefined);
  });
});

describe('conversion of EndpointSlice', () => {
  const endpoint = (from: string, to: string, given: object): unknown => {
    const group = words.groups.discovery;
    const slice = converted('EndpointSlice', `${group}/${from}`, `${group}/${to}`, {
      metadata: {},
      endpoints: [given],
    });
    return (slice['endpoints'] as unknown[])[0];
  };
  const [hostname, zone] = ['platform.io/hostname', 'topology.platform.io/zone'];

  it('makes members of the host name and the zone, and keeps the rest', () => {
    const given = { addresses: ['10.0.0.1'], topology: { [hostname]: 'n1', [zone]: 'z1', rack: 'r1' } };
    const stored = { addresses: ['10.0.0.1'], deprecatedTopology: { rack: 'r1' }, nodeName: 'n1', zone: 'z1' };
    assert.deepEqual(endpoint('v1beta1', 'v1', given), stored);
    assert.deepEqual(endpoint('v1', 'v1beta1', stored), { ...given, nodeName: 'n1' });
  });

  it('keeps a host name that is not the name of the node', () => {
    const given = { addresses: ['10.0.0.1'], nodeName: 'n1', topology: { [hostname]: 'elsewhere' } };
    const stored = { addresses: ['10.0.0.1'], nodeName: 'n1', deprecatedTopology: { [hostname]: 'elsewhere' } };
    assert.deepEqual(endpoint('v1beta1', 'v1', given), stored);
    assert.deepEqual(endpoint('v1', 'v1beta1', stored), given);
  });
});

describe('conversion of Event', () => {
  it('renames what the groups name differently', () => {
    const sent = {
      metadata: { name: 'e', namespace: 'default' },
      eventTime: '2024-05-01T10:00:00.000001Z',
      regarding: { kind: 'Pod', name: 'p' },
      related: { kind: 'Node', name: 'n' },
      note: 'said',
      reason: 'Because',
      action: 'Acted',
      type: 'Normal',
      reportingController: 'example.com/c',
      reportingInstance: 'c-1',
      series: { count: 2, lastObservedTime: '2024-05-01T10:00:00.000002Z' },
      deprecatedSource: { component: 'c', host: 'h' },
      deprecatedFirstTimestamp: '2024-05-01T10:00:00Z',
      deprecatedLastTimestamp: '2024-05-01T10:00:01Z',
      deprecatedCount: 3,
    };
    assert.deepEqual(converted('Event', `${words.groups.events}/v1`, 'v1', sent), {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: 'e', namespace: 'default' },
      eventTime: '2024-05-01T10:00:00.000001Z',
      involvedObject: { kind: 'Pod', name: 'p' },
      related: { kind: 'Node', name: 'n' },
      message: 'said',
      reason: 'Because',
      action: 'Acted',
      type: 'Normal',
      reportingComponent: 'example.com/c',
      reportingInstance: 'c-1',
      series: { count: 2, lastObservedTime: '2024-05-01T10:00:00.000002Z' },
      source: { component: 'c', host: 'h' },
      firstTimestamp: '2024-05-01T10:00:00Z',
      lastTimestamp: '2024-05-01T10:00:01Z',
      count: 3,
    });
  });
});

describe('conversion of HorizontalPodAutoscaler', () => {
  const autoscaler = (from: string, to: string, members: Omit<ApiObject, 'kind' | 'apiVersion'>): ApiObject =>
    converted('HorizontalPodAutoscaler', `autoscaling/${from}`, `autoscaling/${to}`, members);
  const cpu = (averageUtilization: number): object => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  });
  const queue = {
    type: 'External',
    external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '30' } },
  };
  const metricsKey = 'autoscaling.alpha.platform.io/metrics';
  const behaviorKey = 'autoscaling.alpha.platform.io/behavior';

  it('shows v1 clients the CPU percentage, and the rest in annotations', () => {
    const stored = { metadata: { annotations: { own: 'x' } }, spec: { maxReplicas: 3, metrics: [queue, cpu(70)] } };
    const { metadata, spec } = autoscaler('v2', 'v1', stored);
    assert.deepEqual(spec, { maxReplicas: 3, targetCPUUtilizationPercentage: 70 });
    assert.deepEqual(metadata.annotations, {
      own: 'x',
      [metricsKey]: '[{"type":"External","external":{"metricName":"queue","targetAverageValue":"30"}}]',
    });
  });

  it('takes a changed percentage from a v1 client, wherever the metric stands', () => {
    for (const metrics of [[queue, cpu(70)], [cpu(70), queue], [cpu(70)]]) {
      const shown = autoscaler('v2', 'v1', { metadata: {}, spec: { maxReplicas: 3, metrics } });
      const spec = { ...(shown['spec'] as object), targetCPUUtilizationPercentage: 40 };
      const stored = autoscaler('v1', 'v2', { ...shown, spec });
      const expected = metrics.map((metric) => (metric === queue ? queue : cpu(40)));
      assert.deepEqual(stored['spec'], { maxReplicas: 3, metrics: expected });
      assert.equal(stored.metadata.annotations, undefined);
    }
  });

  it('drops the CPU metric when a v1 client removes the percentage', () => {
    const shown = autoscaler('v2', 'v1', { metadata: {}, spec: { maxReplicas: 3, metrics: [cpu(70), queue] } });
    const stored = autoscaler('v1', 'v2', { ...shown, spec: { maxReplicas: 3 } });
    assert.deepEqual(stored['spec'], { maxReplicas: 3, metrics: [queue] });
  });

  it('stores the current percentage of a v1 status', () => {
    const { status } = autoscaler('v1', 'v2', { metadata: {}, status: { currentCPUUtilizationPercentage: 12 } });
    assert.deepEqual(status, {
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12 } } }],
    });
  });

  it('keeps the behavior for v1 and v2beta1, and reads how other servers write it', () => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } };
    for (const version of ['v1', 'v2beta1']) {
      const shown = autoscaler('v2', version, { metadata: {}, spec: { behavior } });
      assert.deepEqual(shown.metadata.annotations, { [behaviorKey]: JSON.stringify(behavior) });
      const annotations = { [behaviorKey]: '{"ScaleDown":{"StabilizationWindowSeconds":60}}' };
      assert.deepEqual(autoscaler(version, 'v2', { metadata: { annotations } })['spec'], { behavior });
    }
  });

  it('writes the numbers that v2beta1 requires, and takes a zero beside another number for none', () => {
    const metric = (target: object): object => ({
      type: 'Object',
      object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'hits' }, target },
    });
    const stored = [metric({ type: 'AverageValue', averageValue: '5' })];
    const shown = autoscaler('v2', 'v2beta1', { metadata: {}, spec: { metrics: stored } });
    const target = { kind: 'Service', name: 's' };
    assert.deepEqual(shown['spec'], {
      metrics: [{ type: 'Object', object: { target, metricName: 'hits', targetValue: '0', averageValue: '5' } }],
    });
    assert.deepEqual(autoscaler('v2beta1', 'v2', shown)['spec'], { metrics: stored });
  });

  it('makes nothing of annotations that hold something else', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const value of [deep, '{', 'null', '7', '"x"', '{"__proto__":{"a":1}}', '[null,1,[]]']) {
      const annotations = {
        [metricsKey]: value,
        [behaviorKey]: value === '{"__proto__":{"a":1}}' ? '[]' : value,
        'autoscaling.alpha.platform.io/conditions': value,
        'autoscaling.alpha.platform.io/current-metrics': value,
      };
      const stored = autoscaler('v1', 'v2', { metadata: { annotations }, spec: { maxReplicas: 1 } });
      assert.deepEqual(stored['spec'], { maxReplicas: 1 });
      assert.deepEqual([stored.metadata, stored['status']], [{}, undefined]);
    }
  });
});
