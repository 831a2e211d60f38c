import type { Outcome } from '../../client/remote/guarded.js';
import type { BreakerObserver } from '../../machinery/breaker/breaker.js';
import type { ObserveBreaker } from './breaker-metrics.js';
import type { MetricsArea, Prom, Registry } from './area.js';
import { Counts, SeriesHistogram, type HistogramSeries } from './series.js';

/** How one service that knows users, or decides for them, is asked. */
export interface AskedServiceMetrics {
  /** One try ended. @param code The status of the answer; `<error>` for none that can be used. */
  tried(code: string, seconds: number): void;
  /** A question ended, after all its tries. */
  asked(outcome: Outcome): void;
  /** How the breaker before it stands. */
  readonly breaker: BreakerObserver;
}

/** Metrics of the cache of tokens. */
export interface TokenCacheMetrics {
  requested(status: 'hit' | 'miss', seconds: number): void;
  /** The service is being asked. @returns To be called at the end. */
  fetching(): (status: 'ok' | 'error') => void;
  /** A request waits for the service. @returns To be called at the end. */
  waiting(): () => void;
}

export interface WebhookMetrics {
  readonly authentication: AskedServiceMetrics;
  readonly authorization: AskedServiceMetrics;
  readonly tokenCache: TokenCacheMetrics;
}

/** In seconds; those of API servers that ask another one. */
const TRY_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10] as const;
const CACHE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** A histogram with one label, whose series come with their first value. */
class Durations {
  readonly #histogram: SeriesHistogram;
  readonly #label: string;
  readonly #series = new Map<string, HistogramSeries>();

  constructor(name: string, help: string, o: { readonly label: string; readonly buckets: readonly number[] }) {
    this.#histogram = new SeriesHistogram({ name, help, labelNames: [o.label], buckets: o.buckets });
    this.#label = o.label;
  }

  observe(value: string, seconds: number): void {
    let series = this.#series.get(value);
    if (series === undefined) this.#series.set(value, (series = this.#histogram.add({ [this.#label]: value })));
    series.observe(seconds);
  }

  register(prom: Prom, registry: Registry): void {
    this.#histogram.register(prom, registry);
  }
}

/** Questions by service and outcome. */
type Questions = Map<string, number>;

class CountedService implements AskedServiceMetrics {
  readonly #service: string;
  readonly breaker: BreakerObserver;
  readonly #questions: Questions;
  readonly #tries: Counts;
  readonly #durations: Durations;

  constructor(
    service: string,
    prefix: string,
    shared: { readonly questions: Questions; readonly breakers: ObserveBreaker },
  ) {
    this.#service = service;
    this.#questions = shared.questions;
    this.breaker = shared.breakers(`${service} webhook`);
    this.#tries = new Counts(`${prefix}_request_total`, `Requests to the ${service} webhook, by status`, 'code');
    const help = `Time that the ${service} webhook took for a request, in seconds, by status`;
    this.#durations = new Durations(`${prefix}_request_duration_seconds`, help, {
      label: 'code',
      buckets: TRY_BUCKETS,
    });
  }

  tried(code: string, seconds: number): void {
    this.#tries.add(code);
    this.#durations.observe(code, seconds);
  }

  asked(outcome: Outcome): void {
    const key = `${this.#service} ${outcome}`;
    this.#questions.set(key, (this.#questions.get(key) ?? 0) + 1);
  }

  register(prom: Prom, registry: Registry): void {
    this.#tries.register(prom.Counter, registry);
    this.#durations.register(prom, registry);
  }
}

class CountedTokenCache implements TokenCacheMetrics {
  readonly #requests = new Counts('authentication_token_cache_request_total', 'Tokens that were looked up', 'status');
  readonly #durations = new Durations(
    'authentication_token_cache_request_duration_seconds',
    'Time until it was known whose a token is, in seconds',
    { label: 'status', buckets: CACHE_BUCKETS },
  );
  readonly #fetches = new Counts('authentication_token_cache_fetch_total', 'Tokens that were asked for', 'status');
  readonly #active = new Counts(
    'authentication_token_cache_active_fetch_count',
    'Tokens that are being asked for (in_flight), and requests that wait for it (blocked)',
    'status',
  );

  requested(status: 'hit' | 'miss', seconds: number): void {
    this.#requests.add(status);
    this.#durations.observe(status, seconds);
  }

  fetching(): (status: 'ok' | 'error') => void {
    this.#active.add('in_flight');
    return (status) => {
      this.#active.add('in_flight', -1);
      this.#fetches.add(status);
    };
  }

  waiting(): () => void {
    this.#active.add('blocked');
    return () => this.#active.add('blocked', -1);
  }

  register(prom: Prom, registry: Registry): void {
    this.#requests.register(prom.Counter, registry);
    this.#durations.register(prom, registry);
    this.#fetches.register(prom.Counter, registry);
    this.#active.register(prom.Gauge, registry);
  }
}

/** Metrics of the authentication and authorization webhooks. */
export class CountedWebhooks implements WebhookMetrics, MetricsArea {
  readonly #questions: Questions = new Map();
  readonly authentication: CountedService;
  readonly authorization: CountedService;
  readonly tokenCache = new CountedTokenCache();

  constructor(breakers: ObserveBreaker) {
    const shared = { questions: this.#questions, breakers };
    this.authentication = new CountedService('authentication', 'apiserver_delegated_authn', shared);
    this.authorization = new CountedService('authorization', 'apiserver_delegated_authz', shared);
  }

  register(prom: Prom, registry: Registry): void {
    const questions = this.#questions;
    for (const it of [this.authentication, this.authorization, this.tokenCache]) it.register(prom, registry);
    new prom.Counter({
      name: 'apiserver_webhook_questions_total',
      help: 'Questions to webhooks with all their repetitions, by their end',
      labelNames: ['webhook', 'outcome'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [key, n] of questions) {
          const [webhook = '', outcome = ''] = key.split(' ');
          this.inc({ webhook, outcome }, n);
        }
      },
    });
  }
}
