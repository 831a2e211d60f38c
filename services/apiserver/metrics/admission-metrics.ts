import type { ObserveBreaker } from './breaker-metrics.js';
import type { MetricsArea, Prom, Registry } from './area.js';
import { CountedPolicies, type PolicyMetrics } from './policy-metrics.js';
import { Counts, SeriesHistogram, type HistogramSeries, type Labels } from './series.js';

/** Phases of admission, as other servers call them in metrics. */
export type AdmissionStep = 'admit' | 'validate';
export type WebhookStep = 'admit' | 'validating';
export type AdmissionOperationName = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Times of one plugin, or of a whole phase. */
export interface StepTimes {
  observe(step: AdmissionStep, operation: AdmissionOperationName, rejected: boolean, seconds: number): void;
}

/** How a call of a webhook ended. */
export interface WebhookCall {
  readonly name: string;
  readonly step: WebhookStep;
  readonly operation: AdmissionOperationName;
  /** A status; 0 for what failed on our side. */
  readonly code: number;
  readonly seconds: number;
  /** Why the request is refused; undefined: it is not. */
  readonly rejected: 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error' | undefined;
  /** The webhook failed, and the request goes on. */
  readonly failedOpen: boolean;
}

export interface AdmissionMetrics {
  /** @returns To be kept by who observes. */
  plugin(name: string): StepTimes;
  readonly steps: StepTimes;
  called(call: WebhookCall): void;
  /** How the breaker before a peer stands. */
  readonly breaker: ObserveBreaker;
  readonly policies: PolicyMetrics;
}

/** In seconds; those of other API servers. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5] as const;
const OPERATIONS: readonly AdmissionOperationName[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
/** Names of webhooks that have series of their own; they come with configurations. */
const MAX_WEBHOOKS = 500;
const OTHERS = '<others>';
const MAX_CODE = 600;

/** Series by small numbers, as every request comes here several times. */
class Times implements StepTimes {
  readonly #histogram: SeriesHistogram;
  readonly #own: Labels;
  readonly #series: (HistogramSeries | undefined)[] = [];

  constructor(histogram: SeriesHistogram, own: Labels) {
    this.#histogram = histogram;
    this.#own = own;
  }

  observe(step: AdmissionStep, operation: AdmissionOperationName, rejected: boolean, seconds: number): void {
    const i = OPERATIONS.indexOf(operation) * 4 + (step === 'admit' ? 2 : 0) + (rejected ? 1 : 0);
    const labels = (): Labels => ({ ...this.#own, type: step, operation, rejected: String(rejected) });
    (this.#series[i] ??= this.#histogram.add(labels())).observe(seconds);
  }
}

const histogram = (what: string, help: string, labelNames: readonly string[]): SeriesHistogram =>
  new SeriesHistogram({
    name: `apiserver_admission_${what}_admission_duration_seconds`,
    help: `${help}, in seconds`,
    labelNames,
    buckets: BUCKETS,
  });

export class CountedAdmission implements AdmissionMetrics, MetricsArea {
  readonly breaker: ObserveBreaker;
  readonly policies = new CountedPolicies();

  constructor(breakers: ObserveBreaker) {
    this.breaker = breakers;
  }

  readonly #controllers = histogram('controller', 'Time of an admission plugin', [
    'name',
    'type',
    'operation',
    'rejected',
  ]);
  readonly #steps = histogram('step', 'Time of a phase of admission', ['type', 'operation', 'rejected']);
  readonly #webhooks = histogram('webhook', 'Time of an admission webhook', ['name', 'type', 'operation', 'rejected']);
  readonly steps: StepTimes = new Times(this.#steps, {});
  readonly #webhookSeries = new Map<string, HistogramSeries>();
  readonly #names = new Set<string>();
  readonly #requests = new Counts(
    'apiserver_admission_webhook_request_total',
    'Calls of admission webhooks, by the code of their end',
    ['name', 'type', 'operation', 'code', 'rejected'],
  );
  readonly #rejections = new Counts(
    'apiserver_admission_webhook_rejection_count',
    'Requests that were refused by admission webhooks, or for they failed',
    ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  );
  readonly #failOpen = new Counts(
    'apiserver_admission_webhook_fail_open_count',
    'Calls of admission webhooks that failed and were ignored',
    ['name', 'type'],
  );

  plugin(name: string): StepTimes {
    return new Times(this.#controllers, { name });
  }

  called({ name: given, step: type, operation, code, seconds, rejected, failedOpen }: WebhookCall): void {
    const name = this.#bounded(given);
    const capped = String(Math.min(code, MAX_CODE));
    const isRejected = String(rejected !== undefined);
    this.#webhookSeriesOf({ name, type, operation, rejected: isRejected }).observe(seconds);
    this.#requests.add({ name, type, operation, code: capped, rejected: isRejected });
    if (rejected !== undefined) {
      this.#rejections.add({ name, type, operation, error_type: rejected, rejection_code: capped });
    }
    if (failedOpen) this.#failOpen.add({ name, type });
  }

  register(prom: Prom, registry: Registry): void {
    this.policies.register(prom, registry);
    for (const it of [this.#controllers, this.#steps, this.#webhooks]) it.register(prom, registry);
    for (const it of [this.#requests, this.#rejections, this.#failOpen]) it.register(prom.Counter, registry);
  }

  #bounded(name: string): string {
    if (!this.#names.has(name) && this.#names.size >= MAX_WEBHOOKS) return OTHERS;
    this.#names.add(name);
    return name;
  }

  #webhookSeriesOf(labels: Labels): HistogramSeries {
    const key = Object.values(labels).join(' ');
    let series = this.#webhookSeries.get(key);
    if (series === undefined) this.#webhookSeries.set(key, (series = this.#webhooks.add(labels)));
    return series;
  }
}
