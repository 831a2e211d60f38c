import { listOf, numberOf, recordOf, shortened, textOf, type Show } from './cell.js';

type Tree = Readonly<Record<string, unknown>>;
const UNKNOWN = '<unknown>';
/** So many measures are shown. */
const FEW = 2;

interface Metric {
  /** The member that holds what is measured. */
  readonly member: string;
  readonly tell: (target: Tree, current: Tree) => string;
}
/** By the type of a metric. */
const METRICS: ReadonlyMap<string, Metric> = new Map(
  Object.entries<Metric>({
    Resource: { member: 'resource', tell: resource },
    ContainerResource: { member: 'containerResource', tell: resource },
    Pods: { member: 'pods', tell: (target, current) => of(current['averageValue'], target['averageValue']) },
    Object: { member: 'object', tell: valueOrAverage },
    External: { member: 'external', tell: valueOrAverage },
  }),
);

const of = (current: unknown, target: unknown): string => `${textOf(current) || UNKNOWN}/${textOf(target) || '0'}`;

function valueOrAverage(target: Tree, current: Tree): string {
  const { averageValue } = target;
  if (averageValue === undefined) return of(current['value'], target['value']);
  return `${of(current['averageValue'], averageValue)} (avg)`;
}

function resource(target: Tree, current: Tree): string {
  if (target['averageValue'] !== undefined) return of(current['averageValue'], target['averageValue']);
  return `${percent(current['averageUtilization'], UNKNOWN)}/${percent(target['averageUtilization'], '<auto>')}`;
}

const percent = (value: unknown, otherwise: string): string => (typeof value === 'number' ? `${value}%` : otherwise);

function metricText(spec: Tree, status: Tree): string {
  const type = textOf(spec['type']);
  const metric = METRICS.get(type);
  if (metric === undefined) return '<unknown type>';
  const { target } = recordOf(spec[metric.member]);
  const { current } = recordOf(status[metric.member]);
  return metric.tell(recordOf(target), recordOf(current));
}

/** Functions for columns of what runs pods. */
export const WORKLOADS = {
  completions: ({ first }) => {
    const [succeeded, completions, parallelism] = [numberOf(first(0)), first(1), numberOf(first(2))];
    if (typeof completions === 'number') return `${succeeded}/${completions}`;
    return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
  },
  /** Measures as they are and as they should be. The statuses stand in the order of the metrics. */
  metrics: ({ first }) => {
    const statuses = listOf(first(1));
    const texts = listOf(first(0)).map((spec, i) => metricText(recordOf(spec), recordOf(statuses[i])));
    return shortened(texts, FEW, ', ');
  },
} as const satisfies Readonly<Record<string, Show>>;
