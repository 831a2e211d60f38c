import { estimateCost } from '../cel/cost/estimate.js';
import type { CheckedExpression } from '../cel/expression.js';
import type { CheckedRule } from './compile-rule.js';
import { placesOf } from './schema-sizes.js';
import type { Structural } from './structural.js';

/** The most that a rule of one value, and its message, may cost. */
export interface RuleCost {
  readonly rule: number;
  /** Undefined where the message is no expression. */
  readonly message: number | undefined;
}

/** Estimates what a rule costs, asked of values of the schema that it was checked for. */
export function costOfRule({ condition, message }: CheckedRule, schema: Structural, isRoot: boolean): RuleCost {
  const places = placesOf(schema, isRoot);
  const cost = ({ ast, checked }: CheckedExpression): number => estimateCost(ast, checked, places);
  return { rule: cost(condition), message: message === undefined ? undefined : cost(message) };
}

/**
 * How often values below a schema may be there for each that is of the schema itself; undefined where nothing bounds it.
 */
export function mostBelow({ type, additional, checks }: Structural): number | undefined {
  if (type === 'array') return checks?.maxItems;
  return type === 'object' && additional !== undefined ? checks?.maxProperties : 1;
}
