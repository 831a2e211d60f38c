import { changed, KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL } from '../testing/words.js';

describe('validation of autoscalers', () => {
  const kind = new KindUnderTest({
    group: 'autoscaling',
    resource: 'horizontalpodautoscalers',
    type: 'autoscaling/v2.HorizontalPodAutoscaler',
  });
  const utilization = (): object => ({ type: 'Utilization', averageUtilization: 50 });
  const autoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: utilization() } },
        { type: 'Pods', pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '1k' } } },
        {
          type: 'Object',
          object: {
            describedObject: { kind: 'Ingress', name: 'main' },
            metric: { name: 'rps' },
            target: { type: 'Value', value: '10k' },
          },
        },
        { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '5' } } },
        { type: 'ContainerResource', containerResource: { name: 'memory', container: 'a', target: utilization() } },
      ],
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: 300,
          selectPolicy: 'Min',
          policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }],
        },
      },
    },
  };
  const M = (i: number): string => `spec.metrics[${i}]`;
  const metric = (i: number, more: string): string => `spec.metrics.${i}.${more}`;
  kind.acceptsManifest('an autoscaler', autoscaler);
  kind.accepts(autoscaler, [{ 'spec.metrics': undefined, 'spec.behavior': undefined, 'spec.minReplicas': undefined }]);
  kind.refuses(autoscaler, [
    [{ 'spec.minReplicas': 0 }, 'spec.minReplicas', 'Invalid value: 0: must be greater than or equal to 1'],
    [
      { 'spec.minReplicas': undefined, 'spec.maxReplicas': 0 },
      'spec.maxReplicas',
      'Invalid value: 0: must be greater than 0',
      'spec.maxReplicas',
      'Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
    [
      { 'spec.minReplicas': 11 },
      'spec.maxReplicas',
      'Invalid value: 10: must be greater than or equal to `minReplicas`',
    ],
    [
      { 'spec.scaleTargetRef': { kind: '', name: 'a/b' } },
      'spec.scaleTargetRef.kind',
      'Required value',
      'spec.scaleTargetRef.name',
      `Invalid value: "a/b": may not contain '/'`,
    ],
    [
      { 'spec.metrics': [{ type: '' }] },
      `${M(0)}.type`,
      'Required value: must specify a metric source type',
      `${M(0)}.type`,
      'Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    ],
    [
      { [metric(0, 'resource')]: undefined },
      `${M(0)}.resource`,
      'Required value: must populate information for the given metric source',
    ],
    [
      { [metric(0, 'pods')]: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '1' } } },
      `${M(0)}.pods`,
      'Forbidden: must populate the given metric source only',
    ],
    [{ [metric(0, 'resource.name')]: '' }, `${M(0)}.resource.name`, 'Required value: must specify a resource name'],
    [
      { [metric(0, 'resource.target')]: { type: '' } },
      `${M(0)}.resource.target.type`,
      'Required value: must specify a metric target type',
      `${M(0)}.resource.target.type`,
      'Invalid value: "": must be either Utilization, Value, or AverageValue',
      `${M(0)}.resource.target.averageUtilization`,
      'Required value: must set either a target raw value or a target utilization',
    ],
    [
      { [metric(0, 'resource.target.averageUtilization')]: 0 },
      `${M(0)}.resource.target.averageUtilization`,
      'Invalid value: 0: must be greater than 0',
    ],
    [
      { [metric(0, 'resource.target.averageValue')]: '1' },
      `${M(0)}.resource.target.averageValue`,
      'Forbidden: may not set both a target raw value and a target utilization',
    ],
    [{ [metric(1, 'pods.metric.name')]: '' }, `${M(1)}.pods.metric.name`, 'Required value: must specify a metric name'],
    [
      { [metric(1, 'pods.target')]: { type: 'Value', value: '1' } },
      `${M(1)}.pods.target.averageValue`,
      'Required value: must specify a positive target averageValue',
    ],
    [
      { [metric(1, 'pods.target.averageValue')]: '-1' },
      `${M(1)}.pods.target.averageValue`,
      'Invalid value: "-1": must be positive',
    ],
    [{ [metric(2, 'object.describedObject.kind')]: '' }, `${M(2)}.object.describedObject.kind`, 'Required value'],
    [
      { [metric(2, 'object.target.value')]: '0' },
      `${M(2)}.object.target.value`,
      'Invalid value: "0": must be positive',
    ],
    [
      { [metric(2, 'object.target')]: { type: 'Value' } },
      `${M(2)}.object.target.averageValue`,
      'Required value: must set either a target value or averageValue',
    ],
    [
      { [metric(3, 'external.target')]: { type: 'Value' } },
      `${M(3)}.external.target.averageValue`,
      'Required value: must set either a target value for metric or a per-pod target',
    ],
    [
      { [metric(3, 'external.target.averageValue')]: '1' },
      `${M(3)}.external.target.value`,
      'Forbidden: may not set both a target value for metric and a per-pod target',
    ],
    [
      { [metric(4, 'containerResource.container')]: '' },
      `${M(4)}.containerResource.container`,
      'Required value: must specify a container',
    ],
    [
      { [metric(4, 'containerResource.container')]: 'A', [metric(4, 'containerResource.name')]: 'pods' },
      `${M(4)}.containerResource.name`,
      'Invalid value: "pods": must be a standard resource for containers',
      `${M(4)}.containerResource.container`,
      `Invalid value: "A": ${LABEL}`,
    ],
    [
      { 'spec.behavior.scaleUp': { stabilizationWindowSeconds: 3601, selectPolicy: 'Any' } },
      'spec.behavior.scaleUp.stabilizationWindowSeconds',
      'Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.selectPolicy',
      'Unsupported value: "Any": supported values: "Disabled", "Max", "Min"',
    ],
    [
      { 'spec.behavior.scaleDown.stabilizationWindowSeconds': -1 },
      'spec.behavior.scaleDown.stabilizationWindowSeconds',
      'Invalid value: -1: must be greater than or equal to zero',
    ],
    [
      { 'spec.behavior.scaleDown.policies': [{ type: 'Half', value: 0, periodSeconds: 1801 }] },
      'spec.behavior.scaleDown.policies[0].type',
      'Unsupported value: "Half": supported values: "Percent", "Pods"',
      'spec.behavior.scaleDown.policies[0].value',
      'Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleDown.policies[0].periodSeconds',
      'Invalid value: 1801: must be less than or equal to 1800',
    ],
    [
      { 'spec.behavior.scaleDown.policies.0.periodSeconds': 0 },
      'spec.behavior.scaleDown.policies[0].periodSeconds',
      'Invalid value: 0: must be greater than zero',
    ],
  ]);
  const idle = changed(autoscaler, { 'spec.minReplicas': 0 });
  kind.acceptsUpdates(idle, [{}, { 'spec.maxReplicas': 5 }]);
  kind.refusesUpdates(idle, [
    [
      { 'spec.metrics': [autoscaler.spec.metrics[0]] },
      'spec.metrics',
      'Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ]);
  kind.refusesUpdates(autoscaler, [
    [{ 'spec.minReplicas': 0 }, 'spec.minReplicas', 'Invalid value: 0: must be greater than or equal to 1'],
  ]);
  kind.refusesPart('status', autoscaler, [
    [{ 'status.currentReplicas': -1 }, 'status.currentReplicas', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'status.desiredReplicas': -1 }, 'status.desiredReplicas', `Invalid value: -1: ${AT_LEAST_0}`],
  ]);
});
