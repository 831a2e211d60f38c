import type { MetricsArea, Prom, Registry } from './area.js';
import type { ObserveBreaker } from './breaker-metrics.js';
import { Counts, SeriesHistogram, type HistogramSeries, type Labels } from './series.js';

/** A question to a webhook that converts objects. */
export interface ConversionCall {
  /** Name of the definition. */
  readonly definition: string;
  /** Of the first object, and what all are converted to: names of versions. */
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  /** '' for a question that was answered. */
  readonly failure: string;
}

export interface ConversionMetrics {
  called(call: ConversionCall): void;
  /** How the breaker before a peer stands. */
  readonly breaker: ObserveBreaker;
}

/** In seconds; those of other API servers. */
const BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60] as const;
const BUCKETS_BY_DEFINITION = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
/** Pairs of versions that have series of their own; they come with definitions. */
const MAX_SERIES = 1_000;
const OTHERS = '<others>';

export class CountedConversions implements ConversionMetrics, MetricsArea {
  readonly breaker: ObserveBreaker;
  readonly #requests = new Counts(
    'apiserver_conversion_webhook_request_total',
    'Questions to webhooks that convert custom resources',
    ['result', 'failure_type'],
  );
  readonly #durations = new SeriesHistogram({
    name: 'apiserver_conversion_webhook_duration_seconds',
    help: 'Time of a question to a webhook that converts custom resources, in seconds',
    labelNames: ['result', 'failure_type'],
    buckets: BUCKETS,
  });
  readonly #byDefinition = new SeriesHistogram({
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    help: 'The same by definition and versions, in seconds',
    labelNames: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    buckets: BUCKETS_BY_DEFINITION,
  });
  readonly #series = new Map<string, HistogramSeries>();

  constructor(breakers: ObserveBreaker) {
    this.breaker = breakers;
  }

  called({ definition, from, to, seconds, failure }: ConversionCall): void {
    const ended = { result: failure === '' ? 'success' : 'failure', failure_type: failure };
    this.#requests.add(ended);
    this.#seriesOf(this.#durations, ended).observe(seconds);
    const succeeded = String(failure === '');
    const labels = { crd_name: definition, from_version: from, to_version: to, succeeded };
    const isOther = this.#series.size >= MAX_SERIES && !this.#series.has(keyOf(labels));
    const shown = isOther ? { crd_name: OTHERS, from_version: '', to_version: '', succeeded } : labels;
    this.#seriesOf(this.#byDefinition, shown).observe(seconds);
  }

  register(prom: Prom, registry: Registry): void {
    for (const it of [this.#durations, this.#byDefinition]) it.register(prom, registry);
    this.#requests.register(prom.Counter, registry);
  }

  #seriesOf(histogram: SeriesHistogram, labels: Labels): HistogramSeries {
    const key = keyOf(labels);
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, (series = histogram.add(labels)));
    return series;
  }
}

const keyOf = (labels: Labels): string => Object.values(labels).join(' ');
