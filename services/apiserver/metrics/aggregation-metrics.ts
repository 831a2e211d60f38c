import type { MetricsArea, Prom, Registry } from './area.js';

/** How the servers do that serve parts of the API behind this one. */
export interface AggregationMetrics {
  /** A check of an APIService has ended. */
  found(name: string, available: boolean): void;
  /** It was available until now. */
  failed(name: string, reason: string): void;
  /** It is there no more. */
  forgotten(name: string): void;
}

/** APIServices that are shown; later ones are not. */
const MAX_NAMES = 1_000;

export class CountedAggregation implements AggregationMetrics, MetricsArea {
  readonly #available = new Map<string, boolean>();
  readonly #failures = new Map<string, Map<string, number>>();

  found(name: string, available: boolean): void {
    if (this.#available.has(name) || this.#available.size < MAX_NAMES) this.#available.set(name, available);
  }

  failed(name: string, reason: string): void {
    if (!this.#failures.has(name) && this.#failures.size >= MAX_NAMES) return;
    const byReason = this.#failures.get(name) ?? new Map<string, number>();
    this.#failures.set(name, byReason.set(reason, (byReason.get(reason) ?? 0) + 1));
  }

  forgotten(name: string): void {
    this.#available.delete(name);
    this.#failures.delete(name);
  }

  register(prom: Prom, registry: Registry): void {
    const [available, failures] = [this.#available, this.#failures];
    new prom.Gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'APIServices whose servers do not answer: 1, and 0 for those that do',
      labelNames: ['name'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [name, is] of available) this.set({ name }, is ? 0 : 1);
      },
    });
    new prom.Counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'How often an APIService became unavailable, by reason',
      labelNames: ['name', 'reason'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [name, reasons] of failures) for (const [reason, n] of reasons) this.inc({ name, reason }, n);
      },
    });
  }
}
