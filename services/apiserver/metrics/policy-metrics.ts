import type { Prom, Registry } from './area.js';
import { Counts, SeriesHistogram, type HistogramSeries, type Labels } from './series.js';

/** What a policy said of a request, once for each expression that says something. */
export interface PolicyCheck {
  readonly policy: string;
  readonly binding: string;
  readonly errorType: 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget';
  readonly action: 'allow' | 'deny' | 'warn' | 'audit';
  readonly seconds: number;
}

/** Whose match conditions were asked. */
export interface ConditionsAsked {
  /** Of the webhook or the policy. */
  readonly name: string;
  readonly kind: 'webhook' | 'policy';
  readonly type: 'validate' | 'validating' | 'admit';
  readonly operation: string;
}

export interface PolicyMetrics {
  checked(by: 'validating' | 'mutating', check: PolicyCheck): void;
  conditions(asked: ConditionsAsked, seconds: number): void;
  conditionFailed(asked: ConditionsAsked): void;
  /** Conditions kept a request from a webhook. */
  excluded(asked: ConditionsAsked): void;
}

/** Pairs of policies and bindings, and names of webhooks, that have series of their own. */
const MAX_NAMES = 500;
const OTHERS = '<others>';
const CHECK_BUCKETS = [0.000_000_5, 0.001, 0.01, 0.1, 1] as const;
const CONDITION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25] as const;

class Checks {
  readonly #counts: Counts;
  readonly #times: SeriesHistogram;
  readonly #series = new Map<string, HistogramSeries>();

  constructor(by: string) {
    const labels = ['policy', 'policy_binding', 'error_type', 'enforcement_action'];
    const name = `apiserver_${by}_admission_policy_check`;
    this.#counts = new Counts(`${name}_total`, 'What policies said of requests', labels);
    this.#times = new SeriesHistogram({
      name: `${name}_duration_seconds`,
      help: 'Time of an expression of a policy, in seconds',
      labelNames: labels,
      buckets: CHECK_BUCKETS,
    });
  }

  add(labels: Labels, seconds: number): void {
    this.#counts.add(labels);
    seriesOf(this.#times, this.#series, labels).observe(seconds);
  }

  register(prom: Prom, registry: Registry): void {
    this.#counts.register(prom.Counter, registry);
    this.#times.register(prom, registry);
  }
}

function seriesOf(of: SeriesHistogram, known: Map<string, HistogramSeries>, labels: Labels): HistogramSeries {
  const key = Object.values(labels).join(' ');
  let series = known.get(key);
  if (series === undefined) known.set(key, (series = of.add(labels)));
  return series;
}

export class CountedPolicies implements PolicyMetrics {
  readonly #by = { validating: new Checks('validating'), mutating: new Checks('mutating') };
  readonly #names = new Set<string>();
  readonly #conditionTimes = new SeriesHistogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'Time of all match conditions of a webhook or a policy, in seconds',
    labelNames: ['name', 'kind', 'type', 'operation'],
    buckets: CONDITION_BUCKETS,
  });
  readonly #conditionSeries = new Map<string, HistogramSeries>();
  readonly #errors = new Counts(
    'apiserver_admission_match_condition_evaluation_errors_total',
    'Match conditions that could not be evaluated',
    ['name', 'kind', 'type', 'operation'],
  );
  readonly #exclusions = new Counts(
    'apiserver_admission_match_condition_exclusions_total',
    'Requests that match conditions kept from a webhook or a policy',
    ['name', 'kind', 'type', 'operation'],
  );

  checked(by: 'validating' | 'mutating', { policy, binding, errorType, action, seconds }: PolicyCheck): void {
    const isKnown = this.#isKnown(`${policy} ${binding}`);
    this.#by[by].add(
      {
        policy: isKnown ? policy : OTHERS,
        policy_binding: isKnown ? binding : OTHERS,
        error_type: errorType,
        enforcement_action: action,
      },
      seconds,
    );
  }

  conditions(asked: ConditionsAsked, seconds: number): void {
    seriesOf(this.#conditionTimes, this.#conditionSeries, this.#labels(asked)).observe(seconds);
  }

  conditionFailed(asked: ConditionsAsked): void {
    this.#errors.add(this.#labels(asked));
  }

  excluded(asked: ConditionsAsked): void {
    this.#exclusions.add(this.#labels(asked));
  }

  register(prom: Prom, registry: Registry): void {
    for (const it of Object.values(this.#by)) it.register(prom, registry);
    this.#conditionTimes.register(prom, registry);
    for (const it of [this.#errors, this.#exclusions]) it.register(prom.Counter, registry);
  }

  #labels({ name, kind, type, operation }: ConditionsAsked): Labels {
    return { name: this.#isKnown(name) ? name : OTHERS, kind, type, operation };
  }

  #isKnown(name: string): boolean {
    if (!this.#names.has(name) && this.#names.size >= MAX_NAMES) return false;
    this.#names.add(name);
    return true;
  }
}
