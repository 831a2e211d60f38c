import { fixedText } from '../../../../machinery/cel/libraries/decimals.js';
import { MOST, plus, times } from '../../../../machinery/cel/cost/ranges.js';
import { readSchema } from '../../../../machinery/structural/read-schema.js';
import { costOfRule, mostBelow } from '../../../../machinery/structural/rule-costs.js';
import { mostOften } from '../../../../machinery/structural/schema-sizes.js';
import type { Structural } from '../../../../machinery/structural/structural.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import type { Schema } from './schemas.js';

/** Most that one expression may be estimated to cost, and all of a schema together. */
const EXPRESSION_LIMIT = 10_000_000;
const SCHEMA_LIMIT = 100_000_000;

/** The dearest expressions are told of, when all together are too dear; those with less than a hundredth are not. */
const MOST_TOLD = 4;

interface Dear {
  readonly at: At;
  readonly member: string;
  readonly cost: number;
}

/** Estimates what the rules of a schema cost at most. The schema itself, and its rules, have to be right. */
export class RuleCosts {
  readonly #word: Vocabulary['openApiExtension'];

  constructor({ openApiExtension }: Vocabulary) {
    this.#word = openApiExtension;
  }

  check(at: At, schema: Schema): void {
    const found: Dear[] = [];
    this.#walk(at, readSchema(schema, this.#word), 1, true, found);
    for (const { at: ruleAt, member, cost } of found) {
      if (cost > EXPRESSION_LIMIT)
        ruleAt.forbidden(member, tooDear(`estimated ${member} cost`, cost, EXPRESSION_LIMIT));
    }
    const total = found.reduce((sum, { cost }) => plus(sum, cost), 0);
    if (total <= SCHEMA_LIMIT) return;
    const dear = found.filter(({ cost }) => cost >= SCHEMA_LIMIT / 100).sort((a, b) => b.cost - a.cost);
    for (const { at: ruleAt, member } of dear.slice(0, MOST_TOLD)) {
      ruleAt.forbidden(
        member,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      );
    }
    const all = `${this.#word('validations')} estimated rule cost total for entire OpenAPIv3 schema`;
    at.forbidden('', tooDear(all, total, SCHEMA_LIMIT));
  }

  /** @param often How many values of the schema there may be in an object; undefined: nothing bounds it. */
  #walk(at: At, schema: Structural, often: number | undefined, isRoot: boolean, found: Dear[]): void {
    schema.rules.forEach((rule, i) => {
      const costs = costOfRule(rule, schema, isRoot);
      if (costs === undefined) return;
      const ruleAt = at.child(this.#word('validations')).index(i);
      found.push({ at: ruleAt, member: 'rule', cost: times(costs.rule, often ?? mostOften(schema, isRoot)) });
      // Only of one value is a message made: the first that breaks the rule.
      if (costs.message !== undefined) found.push({ at: ruleAt, member: 'messageExpression', cost: costs.message });
    });
    const below = mostBelow(schema);
    const inside = often === undefined || below === undefined ? undefined : times(often, below);
    for (const [name, property] of schema.properties) {
      this.#walk(at.child('properties').key(name), property, inside, false, found);
    }
    const { additional, items } = schema;
    if (typeof additional === 'object') this.#walk(at.child('additionalProperties'), additional, inside, false, found);
    if (items !== undefined) this.#walk(at.child('items'), items, inside, false, found);
  }
}

function tooDear(what: string, cost: number, limit: number): string {
  const factor = Math.min(cost, MOST) / limit;
  const times = factor > 100 ? 'more than 100' : fixedText(factor, factor < 1.5 ? 6 : 1);
  return `${what} exceeds budget by factor of ${times}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
