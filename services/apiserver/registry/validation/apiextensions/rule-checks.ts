import { hasRules } from '../../../../machinery/structural/rules.js';
import type { Structural } from '../../../../machinery/structural/structural.js';
import type { Checked } from '../../../../machinery/structural/compile-rule.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { Work } from '../../../../machinery/work/work.js';
import type { At } from '../checks/at.js';
import type { ReadSchemas } from './read-schemas.js';

/** A schema that has rules. */
interface Ruled {
  readonly at: At;
  readonly schema: Structural;
  /** The place of what keeps values from being told to be those of before. */
  readonly uncorrelated: string | undefined;
}

/** Asks of the rules of a schema whether each could be asked of a value. The schema itself has to be right. */
export class RuleChecks {
  readonly #word: Vocabulary['openApiExtension'];
  readonly #read: ReadSchemas;

  constructor({ openApiExtension }: Vocabulary, read: ReadSchemas) {
    this.#word = openApiExtension;
    this.#read = read;
  }

  *check(at: At, root: Structural): Work<void> {
    const found: Ruled[] = [];
    walk({ at, schema: root, uncorrelated: undefined }, found);
    for (const ruled of found) {
      const rulesAt = ruled.at.child(this.#word('validations'));
      for (const [i, rule] of this.#read.rulesOf(ruled.schema, ruled.schema === root).entries()) {
        checkRule(rulesAt.index(i), rule, ruled, i);
      }
      yield;
    }
  }
}

function walk(it: Ruled, found: Ruled[]): void {
  const { at, schema, uncorrelated } = it;
  if (!hasRules(schema)) return;
  if (schema.rules.length > 0) found.push(it);
  const { properties, items, additional, mapType, listType } = schema;
  const members = mapType === 'atomic' ? (uncorrelated ?? at.path) : uncorrelated;
  for (const [name, property] of properties) {
    walk({ at: at.child('properties').key(name), schema: property, uncorrelated: members }, found);
  }
  if (typeof additional === 'object') {
    walk({ at: at.child('additionalProperties'), schema: additional, uncorrelated: members }, found);
  }
  if (items !== undefined) {
    const inItems = listType === 'map' ? uncorrelated : (uncorrelated ?? at.path);
    walk({ at: at.child('items'), schema: items, uncorrelated: inItems }, found);
  }
}

function checkRule(at: At, made: Checked, { schema, uncorrelated }: Ruled, i: number): void {
  if ('why' in made) {
    at.invalid(made.member, schema.rules[i], made.why);
    return;
  }
  const { rule, isTransition } = made.rule;
  if (rule.optionalOldSelf === true && !isTransition) {
    at.invalid('optionalOldSelf', true, 'may not be set if oldSelf is not used in rule');
  }
  if (isTransition && uncorrelated !== undefined) {
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
    at.invalid('rule', rule, why);
  }
}
