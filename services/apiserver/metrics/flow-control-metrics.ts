import type { MetricsArea, Prom, Registry } from './area.js';
import { SeriesHistogram, type HistogramSeries } from './series.js';

/** Why flow control refuses a request. */
export type RefusalReason = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** Counts of the requests of one flow schema at one priority level. Plain numbers: every request comes here. */
export interface FlowSeries {
  dispatched: number;
  /** Requests that run. */
  executing: number;
  /** Seats that they have. */
  seatsInUse: number;
  /** Requests that wait. */
  waiting: number;
  readonly rejected: Map<RefusalReason, number>;
  /** Seconds that a request waited which ran then. */
  readonly waited: HistogramSeries;
  /** Seconds that a request waited for nothing. */
  readonly waitedInVain: HistogramSeries;
  /** Seconds that seats were held. */
  readonly execution: HistogramSeries;
}

/** The seats of a level. */
export interface LevelSeats {
  readonly name: string;
  readonly seats: number;
}

/** What a level has to do. */
export interface LevelLoad extends LevelSeats {
  readonly seatsInUse: number;
  readonly executing: number;
  readonly waiting: number;
}

export interface FlowControlMetrics {
  /** The counts of a schema at a level; the same object each time. */
  series(level: string, schema: string): FlowSeries;
  /** Called at each scrape. */
  countSeatsBy(levels: () => Iterable<LevelSeats>): void;
  /** What each level has to do now. */
  load(): readonly LevelLoad[];
}

const BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30] as const;
const LABEL_NAMES = ['priority_level', 'flow_schema'] as const;
/** Schemas and levels come and go; what comes after that many is counted together. */
const MAX_SERIES = 1_000;
const OTHER = 'other';

type Labels = Readonly<Record<(typeof LABEL_NAMES)[number], string>>;

/** Most schemas of an installation are never used: what takes place is made when it is. */
class CountedSeries implements FlowSeries {
  readonly labels: Labels;
  dispatched = 0;
  executing = 0;
  seatsInUse = 0;
  waiting = 0;
  readonly rejected = new Map<RefusalReason, number>();
  readonly #histograms: { readonly wait: SeriesHistogram; readonly execution: SeriesHistogram };
  #waited: HistogramSeries | undefined;
  #waitedInVain: HistogramSeries | undefined;
  #execution: HistogramSeries | undefined;

  constructor(labels: Labels, wait: SeriesHistogram, execution: SeriesHistogram) {
    this.labels = labels;
    this.#histograms = { wait, execution };
  }

  get waited(): HistogramSeries {
    return (this.#waited ??= this.#histograms.wait.add({ ...this.labels, execute: 'true' }));
  }
  get waitedInVain(): HistogramSeries {
    return (this.#waitedInVain ??= this.#histograms.wait.add({ ...this.labels, execute: 'false' }));
  }
  get execution(): HistogramSeries {
    return (this.#execution ??= this.#histograms.execution.add(this.labels));
  }
}

export class CountedFlowControl implements FlowControlMetrics, MetricsArea {
  readonly #series = new Map<string, CountedSeries>();
  #levels: () => Iterable<LevelSeats> = () => [];
  readonly #wait = new SeriesHistogram({
    name: 'apiserver_flowcontrol_request_wait_duration_seconds',
    help: 'Time that requests waited for their turn, in seconds',
    labelNames: [...LABEL_NAMES, 'execute'],
    buckets: BUCKETS,
  });
  readonly #execution = new SeriesHistogram({
    name: 'apiserver_flowcontrol_request_execution_seconds',
    help: 'Time that requests held their seats, in seconds; watches until they are open',
    labelNames: LABEL_NAMES,
    buckets: BUCKETS,
  });

  series(level: string, schema: string): FlowSeries {
    const key = `${level}/${schema}`; // no name has a slash
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_SERIES && level !== OTHER) return this.series(OTHER, OTHER);
    const series = new CountedSeries({ priority_level: level, flow_schema: schema }, this.#wait, this.#execution);
    this.#series.set(key, series);
    return series;
  }

  countSeatsBy(levels: () => Iterable<LevelSeats>): void {
    this.#levels = levels;
  }

  load(): readonly LevelLoad[] {
    const all = [...this.#series.values()];
    return [...this.#levels()].map(({ name, seats }) => {
      const own = all.filter(({ labels }) => labels.priority_level === name);
      const sum = (of: 'seatsInUse' | 'executing' | 'waiting'): number => own.reduce((n, it) => n + it[of], 0);
      return { name, seats, seatsInUse: sum('seatsInUse'), executing: sum('executing'), waiting: sum('waiting') };
    });
  }

  register(prom: Prom, registry: Registry): void {
    this.#wait.register(prom, registry);
    this.#execution.register(prom, registry);
    this.#registerTotals(prom, registry);
    this.#registerGauges(prom, registry);
    const levels = (): Iterable<LevelSeats> => this.#levels();
    new prom.Gauge({
      name: 'apiserver_flowcontrol_request_concurrency_limit',
      help: 'Seats of a priority level',
      labelNames: ['priority_level'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { name, seats } of levels()) this.set({ priority_level: name }, seats);
      },
    });
  }

  #registerTotals(prom: Prom, registry: Registry): void {
    const all = (): Iterable<CountedSeries> => this.#series.values();
    new prom.Counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Requests whose turn has come',
      labelNames: [...LABEL_NAMES],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, dispatched } of all()) this.inc(labels, dispatched);
      },
    });
    new prom.Counter({
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Requests that were refused before their turn came, by reason',
      labelNames: [...LABEL_NAMES, 'reason'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, rejected } of all()) {
          for (const [reason, count] of rejected) this.inc({ ...labels, reason }, count);
        }
      },
    });
  }

  #registerGauges(prom: Prom, registry: Registry): void {
    const all = (): Iterable<CountedSeries> => this.#series.values();
    const gauge = (name: string, help: string, of: (series: FlowSeries) => number): void => {
      new prom.Gauge({
        name: `apiserver_flowcontrol_${name}`,
        help,
        labelNames: [...LABEL_NAMES],
        registers: [registry],
        collect() {
          for (const series of all()) this.set(series.labels, of(series));
        },
      });
    };
    gauge('current_inqueue_requests', 'Requests that wait for their turn', (s) => s.waiting);
    gauge('current_executing_requests', 'Requests that hold seats', (s) => s.executing);
    gauge('request_concurrency_in_use', 'Seats that are held', (s) => s.seatsInUse);
  }
}
