import type { Value } from '../../../machinery/cel/values.js';
import type { ConditionsAsked, PolicyMetrics } from '../../metrics/policy-metrics.js';
import { CONDITIONS_BUDGET, Evaluation, OutOfBudget, type Compiled, type Pace, type Variables } from './evaluation.js';

/** A condition that a request must meet. */
export interface Condition {
  readonly name: string;
  readonly compiled: Compiled;
}

/** Match conditions of a webhook or a policy. */
export interface Conditions {
  readonly conditions: readonly Condition[];
  readonly variables?: Variables;
  /** Whether what cannot be told is taken for not being met. */
  readonly failsOpen: boolean;
  readonly about: ConditionsAsked;
  readonly metrics: PolicyMetrics;
  readonly pace: Pace;
}

export type Matched =
  { readonly matches: boolean } | /** These cannot be told. */ { readonly errors: readonly string[] };

const MET: Matched = { matches: true };
const UNMET: Matched = { matches: false };

/** Asks conditions in their order: a false one decides, also beside others that cannot be told. */
export async function askConditions(
  it: Conditions,
  values: () => Promise<Readonly<Record<string, Value>>> | Readonly<Record<string, Value>>,
): Promise<Matched> {
  if (it.conditions.length === 0) return MET;
  const { about, metrics } = it;
  const startedMs = performance.now();
  const matched = await meets(it, await values());
  metrics.conditions(about, (performance.now() - startedMs) / 1000);
  if ('errors' in matched) return it.failsOpen ? UNMET : matched;
  return matched;
}

async function meets(it: Conditions, values: Readonly<Record<string, Value>>): Promise<Matched> {
  const { conditions, variables, about, metrics, pace } = it;
  const evaluation = new Evaluation(values, { variables, budget: CONDITIONS_BUDGET, pace });
  const errors: string[] = [];
  try {
    for (const { compiled } of conditions) {
      const outcome = await evaluation.evaluate(compiled);
      if ('error' in outcome) {
        errors.push(outcome.error);
        metrics.conditionFailed(about);
      } else if (outcome.value === false) return UNMET;
    }
    return errors.length === 0 ? MET : { errors };
  } catch (err) {
    if (err instanceof OutOfBudget) return { errors: [err.message] };
    throw err;
  }
}
