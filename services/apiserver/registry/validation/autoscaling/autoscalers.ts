import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import { checkNotNegative, each, POSITIVE } from '../checks/members.js';
import type { ResourceChecks } from '../checks/quantities.js';
import { resourceChecks } from '../checks/quantities.js';
import type { KindValidation, Problems } from '../types.js';
import type { Metric, ObjectReference } from './metrics.js';
import { checkMetric, checkObjectReference } from './metrics.js';

interface ScalingPolicy {
  readonly type?: string;
  readonly value?: number;
  readonly periodSeconds?: number;
}

interface ScalingRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: string;
  readonly policies?: readonly ScalingPolicy[];
}

interface AutoscalerSpec {
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly scaleTargetRef?: ObjectReference;
  readonly metrics?: readonly Metric[];
  readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
}

const specOf = (autoscaler: ApiObject): AutoscalerSpec => autoscaler['spec'] ?? {};

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const SELECTIONS = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];

function checkPolicy({ type = '', value = 0, periodSeconds: period = 0 }: ScalingPolicy, at: At): void {
  if (!POLICY_TYPES.includes(type)) at.notSupported('type', type, POLICY_TYPES);
  if (value <= 0) at.invalid('value', value, POSITIVE);
  if (period <= 0) at.invalid('periodSeconds', period, POSITIVE);
  if (period > MAX_PERIOD_SECONDS) {
    at.invalid('periodSeconds', period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
  }
}

function checkRules(at: At, rules: ScalingRules | undefined): void {
  if (rules === undefined) return;
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies } = rules;
  if (window < 0) at.invalid('stabilizationWindowSeconds', window, 'must be greater than or equal to zero');
  if (window > MAX_WINDOW_SECONDS) {
    at.invalid('stabilizationWindowSeconds', window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`);
  }
  if (selectPolicy !== undefined && !SELECTIONS.includes(selectPolicy)) {
    at.notSupported('selectPolicy', selectPolicy, SELECTIONS);
  }
  // Left out, they have defaults.
  if (policies?.length === 0) at.required('policies', 'must specify at least one Policy');
  each(at, 'policies', policies, checkPolicy);
}

const CAN_IDLE: ReadonlySet<string | undefined> = new Set(['Object', 'External']);

function checkMetrics(at: At, { metrics = [], minReplicas }: AutoscalerSpec, resources: ResourceChecks): void {
  each(at, 'metrics', metrics, (metric, metricAt) => checkMetric(metric, metricAt, resources));
  if (minReplicas === 0 && !metrics.some(({ type }) => CAN_IDLE.has(type))) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
    at.forbidden('metrics', why);
  }
}

function checkAutoscaler(autoscaler: ApiObject, problems: Problems, resources: ResourceChecks): void {
  const at = At.root(problems, 'spec');
  const spec = specOf(autoscaler);
  const { minReplicas, maxReplicas = 0, behavior } = spec;
  if (maxReplicas < 1) at.invalid('maxReplicas', maxReplicas, 'must be greater than 0');
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    at.invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
  checkObjectReference(at.child('scaleTargetRef'), spec.scaleTargetRef ?? {});
  checkMetrics(at, spec, resources);
  checkRules(at.child('behavior').child('scaleUp'), behavior?.scaleUp);
  checkRules(at.child('behavior').child('scaleDown'), behavior?.scaleDown);
}

/** Only what was allowed to scale to nothing before may go on doing so. */
function checkMinimum(autoscaler: ApiObject, problems: Problems, least: number): void {
  const { minReplicas = 1 } = specOf(autoscaler);
  if (minReplicas >= least) return;
  At.root(problems, 'spec').invalid('minReplicas', minReplicas, `must be greater than or equal to ${least}`);
}

export function horizontalPodAutoscalers(vocabulary: Vocabulary): KindValidation {
  const resources = resourceChecks(vocabulary);
  return {
    object: (autoscaler, problems) => checkAutoscaler(autoscaler, problems, resources),
    create: (autoscaler, problems) => checkMinimum(autoscaler, problems, 1),
    update: (next, old, problems) => checkMinimum(next, problems, specOf(old).minReplicas === 0 ? 0 : 1),
    parts: {
      status: (next, _old, problems) => {
        const at = At.root(problems, 'status');
        const status = (next['status'] ?? {}) as {
          readonly currentReplicas?: number;
          readonly desiredReplicas?: number;
        };
        checkNotNegative(at, 'currentReplicas', status.currentReplicas);
        checkNotNegative(at, 'desiredReplicas', status.desiredReplicas);
      },
    },
  };
}
