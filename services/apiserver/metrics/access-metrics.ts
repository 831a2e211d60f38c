import type { MetricsArea, Prom, Registry } from './area.js';
import { SeriesHistogram, type HistogramSeries } from './series.js';

/** `failure`: there was no credential. `error`: it was wrong. */
export type AuthenticationResult = 'success' | 'failure' | 'error';
export type AuthorizationResult = 'allowed' | 'denied' | 'no-opinion' | 'error';

/** Outcomes of authentication and authorization. Names of users are no labels: there may be any number. */
export interface AccessMetrics {
  authenticated(result: AuthenticationResult, seconds: number): void;
  authorized(result: AuthorizationResult, seconds: number): void;
}

/** From a microsecond, for what is remembered, to what a service somewhere takes. */
const BUCKETS = [0.000_001, 0.000_01, 0.000_1, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.128, 0.512, 2.048, 8.192];

/** One series for each result, and the number of them beside it. */
class Results<R extends string> {
  readonly #histogram: SeriesHistogram;
  readonly #series = new Map<R, HistogramSeries>();
  readonly #counter: { readonly name: string; readonly help: string };

  constructor(area: string, what: string, counter: string) {
    this.#counter = { name: counter, help: `How often ${what}, by result` };
    this.#histogram = new SeriesHistogram({
      name: `${area}_duration_seconds`,
      help: `How long it takes to find out ${what}, by result`,
      labelNames: ['result'],
      buckets: BUCKETS,
    });
  }

  observe(result: R, seconds: number): void {
    let series = this.#series.get(result);
    if (series === undefined) this.#series.set(result, (series = this.#histogram.add({ result })));
    series.observe(seconds);
  }

  register(prom: Prom, registry: Registry): void {
    this.#histogram.register(prom, registry);
    const all = this.#series;
    new prom.Counter({
      ...this.#counter,
      labelNames: ['result'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [result, { count }] of all) this.inc({ result }, count);
      },
    });
  }
}

export class CountedAccess implements AccessMetrics, MetricsArea {
  readonly #authentication = new Results<AuthenticationResult>('authentication', 'who asks', 'authentication_attempts');
  readonly #authorization = new Results<AuthorizationResult>(
    'authorization',
    'whether somebody may',
    'authorization_attempts_total',
  );

  authenticated(result: AuthenticationResult, seconds: number): void {
    this.#authentication.observe(result, seconds);
  }

  authorized(result: AuthorizationResult, seconds: number): void {
    this.#authorization.observe(result, seconds);
  }

  register(prom: Prom, registry: Registry): void {
    this.#authentication.register(prom, registry);
    this.#authorization.register(prom, registry);
  }
}
