import { fixedText } from '../../../../machinery/cel/libraries/decimals.js';
import { MOST, plus, times } from '../../../../machinery/cel/cost/ranges.js';
import { costOfRule, mostBelow } from '../../../../machinery/structural/rule-costs.js';
import { hasRules } from '../../../../machinery/structural/rules.js';
import { mostOften } from '../../../../machinery/structural/schema-sizes.js';
import type { Structural } from '../../../../machinery/structural/structural.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { Work } from '../../../../machinery/work/work.js';
import type { At } from '../checks/at.js';
import type { ReadSchemas } from './read-schemas.js';

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

/** A schema that has rules. */
interface Ruled {
  readonly at: At;
  readonly schema: Structural;
  /** How many values of the schema there may be in an object; undefined: nothing bounds it. */
  readonly often: number | undefined;
}

/** Estimates what the rules of a schema cost at most. The schema itself has to be right; rules that are not cost nothing. */
export class RuleCosts {
  readonly #word: Vocabulary['openApiExtension'];
  readonly #read: ReadSchemas;

  constructor({ openApiExtension }: Vocabulary, read: ReadSchemas) {
    this.#word = openApiExtension;
    this.#read = read;
  }

  *check(at: At, root: Structural): Work<void> {
    const ruled: Ruled[] = [];
    walk({ at, schema: root, often: 1 }, ruled);
    const found: Dear[] = [];
    for (const it of ruled) {
      found.push(...this.#costsOf(it, it.schema === root));
      yield;
    }
    this.#tell(at, found);
  }

  #costsOf({ at, schema, often }: Ruled, isRoot: boolean): Dear[] {
    return this.#read.rulesOf(schema, isRoot).flatMap((made, i) => {
      if (!('rule' in made)) return [];
      const costs = costOfRule(made.rule, schema, isRoot);
      const ruleAt = at.child(this.#word('validations')).index(i);
      const rule: Dear = { at: ruleAt, member: 'rule', cost: times(costs.rule, often ?? mostOften(schema, isRoot)) };
      // Only of one value is a message made: the first that breaks the rule.
      const { message } = costs;
      return message === undefined ? [rule] : [rule, { at: ruleAt, member: 'messageExpression', cost: message }];
    });
  }

  #tell(at: At, found: readonly Dear[]): void {
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
}

function walk(it: Ruled, found: Ruled[]): void {
  const { at, schema, often } = it;
  if (!hasRules(schema)) return;
  if (schema.rules.length > 0) found.push(it);
  const below = mostBelow(schema);
  const inside = often === undefined || below === undefined ? undefined : times(often, below);
  const { properties, additional, items } = schema;
  for (const [name, property] of properties) {
    walk({ at: at.child('properties').key(name), schema: property, often: inside }, found);
  }
  if (typeof additional === 'object') {
    walk({ at: at.child('additionalProperties'), schema: additional, often: inside }, found);
  }
  if (items !== undefined) walk({ at: at.child('items'), schema: items, often: inside }, found);
}

function tooDear(what: string, cost: number, limit: number): string {
  const factor = Math.min(cost, MOST) / limit;
  const times = factor > 100 ? 'more than 100' : fixedText(factor, factor < 1.5 ? 6 : 1);
  return `${what} exceeds budget by factor of ${times}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
