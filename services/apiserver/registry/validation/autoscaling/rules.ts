import { dns1123Label } from '../../../../machinery/meta/metadata.js';
import type * as autoscaling from '../../../../machinery/types/generated/autoscaling.v2.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, requireText } from '../checks/at.js';
import { resourceChecks } from '../checks/quantities.js';
import type { KindValidation, Problems, TypeRule, TypeRules } from '../types.js';

const CAN_IDLE: ReadonlySet<string | undefined> = new Set(['Object', 'External']);

function checkReplicas(at: At, spec: autoscaling.HorizontalPodAutoscalerSpec): void {
  const { minReplicas, maxReplicas = 0, metrics = [] } = spec;
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    at.invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
  if (minReplicas === 0 && !metrics.some(({ type }) => CAN_IDLE.has(type))) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
    at.forbidden('metrics', why);
  }
}

const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];
const isPositive = (quantity: string): boolean => quantity !== '0' && !quantity.startsWith('-');

function checkTarget(at: At, target: autoscaling.MetricTarget): void {
  const { type = '' } = target;
  if (type === '') at.required('type', 'must specify a metric target type');
  if (!TARGET_TYPES.includes(type)) at.invalid('type', type, 'must be either Utilization, Value, or AverageValue');
  for (const member of ['value', 'averageValue'] as const) {
    const quantity = target[member];
    if (quantity !== undefined && !isPositive(quantity)) at.invalid(member, quantity, 'must be positive');
  }
}

const checkObject: TypeRule<autoscaling.ObjectMetricSource> = (at, { target = {} }) => {
  if (target.value !== undefined || target.averageValue !== undefined) return;
  at.required('target.averageValue', 'must set either a target value or averageValue');
};

const checkExternal: TypeRule<autoscaling.ExternalMetricSource> = (at, { target = {} }) => {
  if (target.value === undefined && target.averageValue === undefined) {
    at.required('target.averageValue', 'must set either a target value for metric or a per-pod target');
  }
  if (target.value !== undefined && target.averageValue !== undefined) {
    at.forbidden('target.value', 'may not set both a target value for metric and a per-pod target');
  }
};

const checkPods: TypeRule<autoscaling.PodsMetricSource> = (at, { target = {} }) => {
  if (target.averageValue !== undefined) return;
  at.required('target.averageValue', 'must specify a positive target averageValue');
};

const checkResource: TypeRule<autoscaling.ResourceMetricSource> = (at, { target = {} }) => {
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    at.required('target.averageUtilization', 'must set either a target raw value or a target utilization');
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    at.forbidden('target.averageValue', 'may not set both a target raw value and a target utilization');
  }
};

/** Which source a type is about; sorted as messages list them. */
const SOURCE_OF = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
] as const);
const isType = (type: string): type is Parameters<typeof SOURCE_OF.get>[0] =>
  (SOURCE_OF as Map<string, string>).has(type);
const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'] as const;

/** A metric has the one source that its type names. */
function checkMetric(at: At, metric: autoscaling.MetricSpec): void {
  const { type = '' } = metric;
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  const expected = isType(type) ? SOURCE_OF.get(type) : undefined;
  if (type === '') at.required('type', 'must specify a metric source type');
  if (expected === undefined) at.notSupported('type', type, [...SOURCE_OF.keys()]);
  else if (metric[expected] === undefined) {
    at.required(expected, 'must populate information for the given metric source');
  }
  if (present.length === 1) return;
  for (const other of present) {
    if (other !== expected) at.forbidden(other, 'must populate the given metric source only');
  }
}

export function autoscalingRules(vocabulary: Vocabulary): TypeRules<autoscaling.Types> {
  const resources = resourceChecks(vocabulary);
  return {
    ContainerResourceMetricSource: (at, source) => {
      const { name = '', container } = source;
      if (name !== '') resources.containerName(at.child('name'), name);
      requireText(at, 'container', container, dns1123Label, 'must specify a container');
      checkResource(at, source);
    },
    ExternalMetricSource: checkExternal,
    HorizontalPodAutoscalerSpec: checkReplicas,
    MetricSpec: checkMetric,
    MetricTarget: checkTarget,
    ObjectMetricSource: checkObject,
    PodsMetricSource: checkPods,
    ResourceMetricSource: checkResource,
  };
}

type Autoscaler = autoscaling.HorizontalPodAutoscaler;

/** Only what was allowed to scale to nothing before may go on doing so. */
function checkMinimum({ spec }: Autoscaler, problems: Problems, least: number): void {
  const { minReplicas = 1 } = spec ?? {};
  if (minReplicas >= least) return;
  At.root(problems, 'spec').invalid('minReplicas', minReplicas, `must be greater than or equal to ${least}`);
}

export const horizontalPodAutoscalers: KindValidation<Autoscaler> = {
  create: (autoscaler, problems) => checkMinimum(autoscaler, problems, 1),
  update: (next, old, problems) => checkMinimum(next, problems, old.spec?.minReplicas === 0 ? 0 : 1),
};
