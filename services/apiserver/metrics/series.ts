import type { Prom, Registry } from './area.js';

export type Labels = Readonly<Record<string, string>>;

/** Buckets of the request histograms, in seconds; what dashboards and alerts of API servers are written for. */
export const REQUEST_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;

/** Counts of one label set. Observing is a few additions: the library's own children hash their labels each time. */
export class HistogramSeries {
  readonly labels: Labels;
  readonly counts: Float64Array;
  readonly #bounds: readonly number[];
  sum = 0;
  count = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    const bounds = this.#bounds;
    for (let i = 0; i < bounds.length; i++) {
      if (value > (bounds[i] ?? 0)) continue;
      this.counts[i] = (this.counts[i] ?? 0) + 1;
      return;
    }
  }
}

interface ExportedValue {
  readonly metricName: string;
  readonly labels: Record<string, string | number>;
  readonly sharedLabels: Labels;
  readonly value: number;
}

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly buckets: readonly number[];
}

/** A histogram whose label sets are held by those who observe: see `HistogramSeries`. */
export class SeriesHistogram {
  readonly #o: HistogramOptions;
  readonly #series: HistogramSeries[] = [];

  constructor(o: HistogramOptions) {
    this.#o = o;
  }

  /** Adds a label set, for good. The caller keeps it and sees that it adds each one once. */
  add(labels: Labels): HistogramSeries {
    const series = new HistogramSeries(labels, this.#o.buckets);
    this.#series.push(series);
    return series;
  }

  /** Gives it to the library, which asks here when it renders, in place of its own children. */
  register(prom: Prom, registry: Registry): void {
    const { name, help, labelNames, buckets } = this.#o;
    const histogram = new prom.Histogram({
      name,
      help,
      labelNames: [...labelNames],
      buckets: [...buckets],
      registers: [registry],
    });
    const getForPromString = (): Promise<object> =>
      Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values() });
    Object.assign(histogram, { getForPromString });
  }

  #values(): readonly ExportedValue[] {
    return this.#series.flatMap((series) => this.#export(series));
  }

  #export({ labels, counts, sum, count }: HistogramSeries): readonly ExportedValue[] {
    const { name, buckets } = this.#o;
    const value = (suffix: string, n: number, own: Record<string, string | number> = {}): ExportedValue => ({
      metricName: `${name}_${suffix}`,
      labels: own,
      sharedLabels: labels,
      value: n,
    });
    let below = 0;
    const within = buckets.map((le, i) => value('bucket', (below += counts[i] ?? 0), { le }));
    return [...within, value('bucket', count, { le: '+Inf' }), value('sum', sum), value('count', count)];
  }
}

/** Numbers by the values of one label or some. Their values are few, or `max` bounds them: the oldest goes. */
export class Counts {
  readonly #counts = new Map<string, { readonly labels: Labels; n: number }>();
  readonly #o: { readonly name: string; readonly help: string; readonly labelNames: string[] };
  readonly #max: number;

  constructor(name: string, help: string, labelNames: string | readonly string[], max = Infinity) {
    this.#o = { name, help, labelNames: [labelNames].flat() };
    this.#max = max;
  }

  /** @param value Of the only label, or of all of them by their names. */
  add(value: string | Labels, n = 1): void {
    this.#of(value).n += n;
  }

  set(value: string | Labels, n: number): void {
    this.#of(value).n = n;
  }

  register(metric: Prom['Counter'] | Prom['Gauge'], registry: Registry): void {
    const counts = this.#counts;
    new metric({
      ...this.#o,
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, n } of counts.values()) this.inc(labels, n);
      },
    });
  }

  #of(value: string | Labels): { n: number } {
    const { labelNames } = this.#o;
    const key = typeof value === 'string' ? value : labelNames.map((name) => value[name] ?? '').join(' ');
    let found = this.#counts.get(key);
    if (found === undefined) {
      const [oldest] = this.#counts.keys();
      if (this.#counts.size >= this.#max) this.#counts.delete(oldest ?? '');
      const labels = typeof value === 'string' ? { [labelNames[0] ?? '']: value } : value;
      this.#counts.set(key, (found = { labels, n: 0 }));
    }
    return found;
  }
}
