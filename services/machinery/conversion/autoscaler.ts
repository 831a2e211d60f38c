import type { ApiObject } from '../meta/object.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import { specMetrics, statusMetrics } from './autoscaler-metrics.js';
import type { Convert, Spoke } from './spoke.js';
import { isTree, present, treeOf, treesOf, type Tree } from './tree.js';

const CPU = 'cpu';

/** The share of the CPU that a v2 metric asks for or reports; undefined for every other metric. */
function cpuUtilization(metric: Tree, member: 'target' | 'current'): unknown {
  const resource = treeOf(metric['resource']);
  if (metric['type'] !== 'Resource' || resource['name'] !== CPU) return undefined;
  return treeOf(resource[member])['averageUtilization'] ?? undefined;
}

/** A target by utilization and nothing else, so that the percentage alone tells all of it. */
const cpuTarget = (metric: Tree): unknown =>
  treeOf(treeOf(metric['resource'])['target'])['averageValue'] === undefined
    ? cpuUtilization(metric, 'target')
    : undefined;

const cpuMetric = (member: 'target' | 'current', numbers: Tree): Tree => ({
  type: 'Resource',
  resource: { name: CPU, [member]: numbers },
});

/** The list with the CPU's percentage put in place of the one it has; appended where it has none; removed if absent. */
function withCpuTarget(metrics: readonly Tree[], percentage: unknown): readonly Tree[] {
  const at = metrics.findIndex((metric) => cpuTarget(metric) !== undefined);
  const own =
    percentage === undefined || percentage === null
      ? []
      : [cpuMetric('target', { type: 'Utilization', averageUtilization: percentage })];
  if (at < 0) return [...metrics, ...own];
  return [...metrics.slice(0, at), ...own, ...metrics.slice(at + 1)];
}

/** Metrics that v1 cannot show beside the percentage: all of them, unless that of the CPU is last. */
function metricsBesideCpu(metrics: readonly Tree[]): readonly Tree[] {
  const at = metrics.findIndex((metric) => cpuTarget(metric) !== undefined);
  return at >= 0 && at === metrics.length - 1 ? metrics.slice(0, at) : metrics;
}

const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

/** Deeper than any metric or behavior; what comes in an annotation has passed no decoder's limit. */
const MAX_LEVELS = 16;

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1)));

/** A client's own writing may be anything: what cannot be read says nothing, as if it were not there. */
const parsed = (annotation: string | undefined): unknown => {
  if (annotation === undefined) return undefined;
  try {
    const value = JSON.parse(annotation) as unknown;
    return isShallow(value, MAX_LEVELS) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Other servers write the behavior's members with capitals. */
const uncapitalized = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(uncapitalized);
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.slice(0, 1).toLowerCase() + key.slice(1), uncapitalized(member)]),
  );
};

type Kept = Readonly<Record<'metrics' | 'currentMetrics' | 'conditions' | 'behavior', unknown>>;

/** Puts into annotations what a version has no members for, and takes it out again. */
function annotationsOf({ annotations: names }: Vocabulary): {
  write: (object: ApiObject, kept: Kept) => ApiObject['metadata'];
  read: (object: ApiObject) => { readonly metadata: ApiObject['metadata']; readonly kept: Kept };
} {
  const keys: readonly (readonly [keyof Kept, string])[] = [
    ['metrics', names.autoscalerMetrics],
    ['currentMetrics', names.autoscalerCurrentMetrics],
    ['conditions', names.autoscalerConditions],
    ['behavior', names.autoscalerBehavior],
  ];
  const own = new Set(keys.map(([, key]) => key));
  const withAnnotations = (metadata: ApiObject['metadata'], added: [string, string][]): ApiObject['metadata'] => {
    const { annotations, ...rest } = metadata;
    const all = [...Object.entries(annotations ?? {}).filter(([key]) => !own.has(key)), ...added];
    return all.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(all) };
  };
  return {
    write: ({ metadata }, kept) =>
      withAnnotations(
        metadata,
        keys.flatMap(([name, key]) => (kept[name] === undefined ? [] : [[key, JSON.stringify(kept[name])]])),
      ),
    read: ({ metadata }) => {
      const values = keys.map(([name, key]) => [name, parsed(metadata.annotations?.[key])] as const);
      const kept = Object.fromEntries(values) as Kept; // one value for each name
      return { metadata: withAnnotations(metadata, []), kept: { ...kept, behavior: uncapitalized(kept.behavior) } };
    },
  };
}

/** The object with its spec and status replaced; a status that was not there and has nothing to say stays away. */
function assembled(object: ApiObject, metadata: ApiObject['metadata'], spec: Tree, status: Tree): ApiObject {
  const hasStatus = isTree(object['status']) || Object.keys(status).length > 0;
  return { ...object, metadata, spec, ...(hasStatus ? { status } : {}) };
}

type Annotations = ReturnType<typeof annotationsOf>;

const v1FromHub =
  (annotations: Annotations): Convert =>
  (object) => {
    const { metrics: metricList, behavior, ...spec } = treeOf(object['spec']);
    const { currentMetrics: currentList, conditions, ...status } = treeOf(object['status']);
    const metrics = treesOf(metricList);
    const current = treesOf(currentList);
    const percentage = metrics.map(cpuTarget).find((n) => n !== undefined);
    const currentPercentage = current.map((m) => cpuUtilization(m, 'current')).find((n) => n !== undefined);
    const kept = {
      metrics: nonEmpty(specMetrics.flat(metricsBesideCpu(metrics))),
      currentMetrics: nonEmpty(statusMetrics.flat(current)),
      conditions: nonEmpty(treesOf(conditions)),
      behavior: isTree(behavior) ? behavior : undefined,
    };
    return assembled(
      object,
      annotations.write(object, kept),
      { ...spec, ...present({ targetCPUUtilizationPercentage: percentage }) },
      { ...status, ...present({ currentCPUUtilizationPercentage: currentPercentage }) },
    );
  };

const v1ToHub =
  (annotations: Annotations): Convert =>
  (object) => {
    const { metadata, kept } = annotations.read(object);
    const { targetCPUUtilizationPercentage: percentage, ...spec } = treeOf(object['spec']);
    const { currentCPUUtilizationPercentage: currentPercentage, ...status } = treeOf(object['status']);
    const metrics = nonEmpty(withCpuTarget(specMetrics.nested(kept.metrics), percentage));
    const behavior = isTree(kept.behavior) ? kept.behavior : undefined;
    // what the controller reported is kept in full; the percentage alone is what is left of it otherwise
    const reported =
      nonEmpty(statusMetrics.nested(kept.currentMetrics)) ??
      (typeof currentPercentage === 'number'
        ? [cpuMetric('current', { averageUtilization: currentPercentage })]
        : undefined);
    return assembled(
      object,
      metadata,
      { ...spec, ...present({ metrics, behavior }) },
      { ...status, ...present({ currentMetrics: reported, conditions: nonEmpty(treesOf(kept.conditions)) }) },
    );
  };

/** v1 has one percentage for the CPU; every other metric, the conditions and the behavior travel in annotations. */
function v1(vocabulary: Vocabulary): Spoke {
  const annotations = annotationsOf(vocabulary);
  return {
    group: 'autoscaling',
    version: 'v1',
    kind: 'HorizontalPodAutoscaler',
    fromHub: v1FromHub(annotations),
    toHub: v1ToHub(annotations),
  };
}

/** v2beta1 has flat metrics and no behavior. */
function v2beta1(vocabulary: Vocabulary): Spoke {
  const annotations = annotationsOf(vocabulary);
  const nothing = { metrics: undefined, currentMetrics: undefined, conditions: undefined };
  const lists = (object: ApiObject): readonly [spec: Tree, status: Tree, metrics: unknown, current: unknown] => {
    const { metrics, ...spec } = treeOf(object['spec']);
    const { currentMetrics, ...status } = treeOf(object['status']);
    return [spec, status, metrics, currentMetrics];
  };
  return {
    group: 'autoscaling',
    version: 'v2beta1',
    kind: 'HorizontalPodAutoscaler',
    fromHub: (object) => {
      const [{ behavior, ...spec }, status, metrics, current] = lists(object);
      return assembled(
        object,
        annotations.write(object, { ...nothing, behavior: isTree(behavior) ? behavior : undefined }),
        { ...spec, ...present({ metrics: nonEmpty(specMetrics.flat(metrics)) }) },
        { ...status, ...present({ currentMetrics: nonEmpty(statusMetrics.flat(current)) }) },
      );
    },
    toHub: (object) => {
      const { metadata, kept } = annotations.read(object);
      const [spec, status, metrics, current] = lists(object);
      const behavior = isTree(kept.behavior) ? kept.behavior : undefined;
      return assembled(
        object,
        metadata,
        { ...spec, ...present({ metrics: nonEmpty(specMetrics.nested(metrics)), behavior }) },
        { ...status, ...present({ currentMetrics: nonEmpty(statusMetrics.nested(current)) }) },
      );
    },
  };
}

/** Horizontal autoscalers are stored as autoscaling/v2; v2beta2 has the same shape and needs no functions. */
export const autoscalerSpokes = (vocabulary: Vocabulary): readonly Spoke[] => [v1(vocabulary), v2beta1(vocabulary)];
