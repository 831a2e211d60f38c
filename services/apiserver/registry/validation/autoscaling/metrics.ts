import { dns1123Label, pathSegment } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import { isUnset, requireText } from '../checks/members.js';
import type { ResourceChecks } from '../checks/quantities.js';

export interface ObjectReference {
  readonly kind?: string;
  readonly name?: string;
}

interface Target {
  readonly type?: string;
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

/** What the sources of metrics have, all in one. */
interface Source {
  readonly describedObject?: ObjectReference;
  readonly metric?: { readonly name?: string };
  readonly name?: string;
  readonly container?: string;
  readonly target?: Target;
}

export interface Metric extends Readonly<Partial<Record<(typeof SOURCES)[number], Source>>> {
  readonly type?: string;
}

/** In the order in which they are looked at. */
const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'] as const;

export function checkObjectReference(at: At, { kind, name }: ObjectReference): void {
  requireText(at, 'kind', kind, pathSegment);
  requireText(at, 'name', name, pathSegment);
}

const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];
const isPositive = (quantity: string): boolean => quantity !== '0' && !quantity.startsWith('-');

function checkTarget(at: At, target: Target): void {
  const { type = '', averageUtilization: utilization } = target;
  if (type === '') at.required('type', 'must specify a metric target type');
  if (!TARGET_TYPES.includes(type)) at.invalid('type', type, 'must be either Utilization, Value, or AverageValue');
  for (const member of ['value', 'averageValue'] as const) {
    const quantity = target[member];
    if (quantity !== undefined && !isPositive(quantity)) at.invalid(member, quantity, 'must be positive');
  }
  if (utilization !== undefined && utilization < 1) {
    at.invalid('averageUtilization', utilization, 'must be greater than 0');
  }
}

const checkMetricName = (at: At, { metric }: Source): void =>
  requireText(at, 'metric.name', metric?.name, pathSegment, 'must specify a metric name');

type SourceCheck = (at: At, source: Source, target: Target, resources: ResourceChecks) => void;

const object: SourceCheck = (at, source, target) => {
  checkObjectReference(at.child('describedObject'), source.describedObject ?? {});
  checkMetricName(at, source);
  checkTarget(at.child('target'), target);
  if (target.value === undefined && target.averageValue === undefined) {
    at.required('target.averageValue', 'must set either a target value or averageValue');
  }
};

const external: SourceCheck = (at, source, target) => {
  checkMetricName(at, source);
  checkTarget(at.child('target'), target);
  if (target.value === undefined && target.averageValue === undefined) {
    at.required('target.averageValue', 'must set either a target value for metric or a per-pod target');
  }
  if (target.value !== undefined && target.averageValue !== undefined) {
    at.forbidden('target.value', 'may not set both a target value for metric and a per-pod target');
  }
};

const pods: SourceCheck = (at, source, target) => {
  checkMetricName(at, source);
  checkTarget(at.child('target'), target);
  if (target.averageValue === undefined) {
    at.required('target.averageValue', 'must specify a positive target averageValue');
  }
};

function checkResourceTarget(at: At, target: Target): void {
  const { averageUtilization, averageValue } = target;
  checkTarget(at.child('target'), target);
  if (averageUtilization === undefined && averageValue === undefined) {
    at.required('target.averageUtilization', 'must set either a target raw value or a target utilization');
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    at.forbidden('target.averageValue', 'may not set both a target raw value and a target utilization');
  }
}

const resource: SourceCheck = (at, { name }, target) => {
  if (isUnset(name)) at.required('name', 'must specify a resource name');
  checkResourceTarget(at, target);
};

const containerResource: SourceCheck = (at, { name = '', container }, target, resources) => {
  if (name === '') at.required('name', 'must specify a resource name');
  else resources.containerName(at.child('name'), name);
  requireText(at, 'container', container, dns1123Label, 'must specify a container');
  checkResourceTarget(at, target);
};

const CHECKS: Readonly<Record<(typeof SOURCES)[number], SourceCheck>> = {
  object,
  external,
  pods,
  resource,
  containerResource,
};
/** Which source a type is about; sorted as messages list them. */
const SOURCE_OF = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const;
const TYPES = Object.keys(SOURCE_OF);

const isType = (type: string): type is keyof typeof SOURCE_OF => Object.hasOwn(SOURCE_OF, type);

/** A metric has the one source that its type names. */
export function checkMetric(metric: Metric, at: At, resources: ResourceChecks): void {
  const { type = '' } = metric;
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  const expected = isType(type) ? SOURCE_OF[type] : undefined;
  if (type === '') at.required('type', 'must specify a metric source type');
  if (expected === undefined) at.notSupported('type', type, TYPES);
  const [first] = present;
  if (first !== undefined) {
    const source = metric[first] ?? {};
    CHECKS[first](at.child(first), source, source.target ?? {}, resources);
  }
  if (expected !== undefined && metric[expected] === undefined) {
    at.required(expected, 'must populate information for the given metric source');
  }
  if (present.length === 1) return;
  for (const other of present) {
    if (other !== expected) at.forbidden(other, 'must populate the given metric source only');
  }
}
