import { estimateCost } from '../cel/cost/estimate.js';
import { checkedExpression } from '../cel/expression.js';
import { ruleVariables } from './rules.js';
import { placesOf } from './schema-sizes.js';
import type { Rule, Structural } from './structural.js';

/** The most that a rule of one value, and its message, may cost. */
export interface RuleCost {
  readonly rule: number;
  /** Undefined where the message is no expression. */
  readonly message: number | undefined;
}

/**
 * Estimates what a rule costs.
 *
 * @returns Undefined for one that cannot be compiled.
 */
export function costOfRule(rule: Rule, schema: Structural, isRoot: boolean): RuleCost | undefined {
  const variables = ruleVariables(rule, schema, isRoot);
  if (variables === undefined) return undefined;
  const places = placesOf(schema, isRoot);
  const cost = (source: string): number => {
    const { ast, checked } = checkedExpression(source, variables);
    return estimateCost(ast, checked, places);
  };
  try {
    const message = rule.messageExpression?.trim() ?? '';
    return { rule: cost(rule.rule.trim()), message: message === '' ? undefined : cost(message) };
  } catch {
    return undefined;
  }
}

/**
 * How often values below a schema may be there for each that is of the schema itself; undefined where nothing bounds it.
 */
export function mostBelow({ type, additional, checks }: Structural): number | undefined {
  if (type === 'array') return checks?.maxItems;
  return type === 'object' && additional !== undefined ? checks?.maxProperties : 1;
}
