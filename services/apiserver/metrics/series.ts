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

/** Counts by the value of one label; its values are few. */
export class Counts {
  readonly #counts = new Map<string, number>();
  readonly #o: { readonly name: string; readonly help: string; readonly label: string };

  constructor(name: string, help: string, label: string) {
    this.#o = { name, help, label };
  }

  add(value: string, n = 1): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + n);
  }

  set(value: string, n: number): void {
    this.#counts.set(value, n);
  }

  register(metric: Prom['Counter'] | Prom['Gauge'], registry: Registry): void {
    const { name, help, label } = this.#o;
    const counts = this.#counts;
    new metric({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        this.reset();
        for (const [value, n] of counts) this.inc({ [label]: value }, n);
      },
    });
  }
}

/** Numbers by the values of some labels, in their order. Their values are few, or `max` bounds them: the oldest goes. */
export class LabelledCounts {
  readonly #counts = new Map<string, { readonly labels: Labels; n: number }>();
  readonly #o: { readonly name: string; readonly help: string; readonly labelNames: readonly string[] };
  readonly #max: number;

  constructor(name: string, help: string, labelNames: readonly string[], max = Infinity) {
    this.#o = { name, help, labelNames };
    this.#max = max;
  }

  add(labels: Labels): void {
    this.#at(labels).n++;
  }

  set(labels: Labels, n: number): void {
    this.#at(labels).n = n;
  }

  #at(labels: Labels): { n: number } {
    const key = this.#o.labelNames.map((name) => labels[name] ?? '').join(' ');
    const found = this.#counts.get(key);
    if (found !== undefined) return found;
    if (this.#counts.size >= this.#max)
      for (const oldest of [...this.#counts.keys()].slice(0, 1)) this.#counts.delete(oldest);
    const made = { labels, n: 0 };
    this.#counts.set(key, made);
    return made;
  }

  register(prom: Prom, registry: Registry, kind: 'Counter' | 'Gauge' = 'Counter'): void {
    const { name, help, labelNames } = this.#o;
    const counts = this.#counts;
    new prom[kind]({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, n } of counts.values()) this.inc(labels, n);
      },
    });
  }
}
