import { isStoreError, type StoreErrorCode, type StoreSpace } from '../../storage/store.js';
import type { MetricsArea, Prom, Registry } from './area.js';
import { deprecatedHelp, type ShowsDeprecated } from './deprecated.js';
import { Counts, SeriesHistogram, type HistogramSeries } from './series.js';

/** How many objects are stored, by resource as messages name it: `deployments.apps`. */
export type ObjectCounts = () => Iterable<readonly [resource: string, objects: number]>;

export interface StoreMetrics {
  /**
   * Notes how long the store took for one call.
   *
   * @param operation A word of the caller's own: `get`, `list`, `create`, `update`, `delete`.
   * @param type What it was about, from a closed set; '' for no one kind.
   */
  observe(operation: string, seconds: number, type?: string): void;
  /** Notes that a call failed. What a store refuses by its rules is no failure. */
  failed(operation: string, err: unknown): void;
  /** Where the numbers of objects are to be had; asked at each scrape. */
  countObjectsBy(counts: ObjectCounts): void;
  /** How much room the store takes; asked at each scrape. NaN is shown when it does not answer. */
  measureBy(space: (signal: AbortSignal) => Promise<StoreSpace>): void;
}

const STORE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const FAULTS: readonly StoreErrorCode[] = ['unavailable', 'noSpace', 'denied', 'corrupt'];
/** Longest that a scrape waits for the store. */
const SPACE_MS = 1000;
/** Most series; further kinds are counted under no kind. */
const MAX_SERIES = 4_000;

export class CountedStore implements StoreMetrics, MetricsArea {
  readonly #byOperation = new Map<string, Map<string, HistogramSeries>>();
  readonly #duration = new SeriesHistogram({
    name: 'etcd_request_duration_seconds',
    help: 'Time that the store took for a call, in seconds',
    labelNames: ['operation', 'type'],
    buckets: STORE_BUCKETS,
  });
  readonly #errors = new Counts(
    'etcd_request_errors_total',
    'Calls that the store did not answer, or refused for want of space or rights',
    'operation',
  );
  #series = 0;
  #counts: ObjectCounts = () => [];
  #space: (signal: AbortSignal) => Promise<StoreSpace> = () => Promise.reject(new Error('not yet'));

  register(prom: Prom, registry: Registry, shows: ShowsDeprecated): void {
    this.#duration.register(prom, registry);
    this.#errors.register(prom.Counter, registry);
    const help = 'Stored objects, by resource';
    this.#registerCounts(prom, registry, 'apiserver_storage_objects', help);
    this.#registerSpace(prom, registry);
    if (shows('1.22')) this.#registerCounts(prom, registry, 'etcd_object_counts', deprecatedHelp('1.22', help));
  }

  #registerCounts(prom: Prom, registry: Registry, name: string, help: string): void {
    const counts = (): ReturnType<ObjectCounts> => this.#counts();
    new prom.Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [resource, objects] of counts()) this.set({ resource }, objects);
      },
    });
  }

  measureBy(space: (signal: AbortSignal) => Promise<StoreSpace>): void {
    this.#space = space;
  }

  #registerSpace(prom: Prom, registry: Registry): void {
    let asked: Promise<StoreSpace | undefined> | undefined;
    // One question for both: a scrape asks all metrics at once.
    const space = (): Promise<StoreSpace | undefined> =>
      (asked ??= this.#space(AbortSignal.timeout(SPACE_MS))
        .catch(() => undefined)
        .finally(() => (asked = undefined)));
    const gauge = (name: string, help: string, valueOf: (space: StoreSpace) => number): void => {
      new prom.Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          const now = await space();
          this.set(now === undefined ? NaN : valueOf(now));
        },
      });
    };
    gauge(
      'apiserver_storage_size_bytes',
      'Size of the file of the store, of etcd that of the member which answered',
      (it) => it.bytes,
    );
    gauge('apiserver_storage_full', 'Whether the store refuses writes for want of space', (it) => Number(it.full));
  }

  observe(operation: string, seconds: number, type = ''): void {
    this.#find(operation, type).observe(seconds);
  }

  failed(operation: string, err: unknown): void {
    if (FAULTS.some((code) => isStoreError(err, code))) this.#errors.add(operation);
  }

  countObjectsBy(counts: ObjectCounts): void {
    this.#counts = counts;
  }

  #find(operation: string, type: string): HistogramSeries {
    let byType = this.#byOperation.get(operation);
    if (byType === undefined) this.#byOperation.set(operation, (byType = new Map<string, HistogramSeries>()));
    const known = byType.get(type);
    if (known !== undefined) return known;
    if (this.#series >= MAX_SERIES && type !== '') return this.#find(operation, '');
    this.#series += 1;
    const series = this.#duration.add({ operation, type });
    byType.set(type, series);
    return series;
  }
}
