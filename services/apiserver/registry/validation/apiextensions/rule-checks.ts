import { readSchema } from '../../../../machinery/structural/read-schema.js';
import { compileRule } from '../../../../machinery/structural/rules.js';
import type { Structural } from '../../../../machinery/structural/structural.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import type { Schema } from './schemas.js';

/** Asks of the rules of a schema whether each could be asked of a value. The schema itself has to be right. */
export class RuleChecks {
  readonly #word: Vocabulary['openApiExtension'];

  constructor({ openApiExtension }: Vocabulary) {
    this.#word = openApiExtension;
  }

  check(at: At, schema: Schema): void {
    this.#walk(at, readSchema(schema, this.#word), undefined, true);
  }

  /** @param uncorrelated The place of what keeps values from being told to be those of before. */
  #walk(at: At, schema: Structural, uncorrelated: string | undefined, isRoot: boolean): void {
    const { properties, items, additional, mapType, listType } = schema;
    schema.rules.forEach((_, i) =>
      this.#rule(at.child(this.#word('validations')).index(i), schema, { i, uncorrelated, isRoot }),
    );
    const members = mapType === 'atomic' ? (uncorrelated ?? at.path) : uncorrelated;
    for (const [name, property] of properties) this.#walk(at.child('properties').key(name), property, members, false);
    if (typeof additional === 'object') this.#walk(at.child('additionalProperties'), additional, members, false);
    if (items !== undefined) {
      this.#walk(at.child('items'), items, listType === 'map' ? uncorrelated : (uncorrelated ?? at.path), false);
    }
  }

  #rule(
    at: At,
    schema: Structural,
    o: { readonly i: number; readonly uncorrelated: string | undefined; readonly isRoot: boolean },
  ): void {
    const rule = schema.rules[o.i];
    if (rule === undefined) return;
    const made = compileRule(rule, schema, o.isRoot);
    if ('why' in made) {
      at.invalid(made.member, rule, made.why);
      return;
    }
    const { isTransition } = made.rule;
    if (rule.optionalOldSelf === true && !isTransition) {
      at.invalid('optionalOldSelf', true, 'may not be set if oldSelf is not used in rule');
    }
    if (isTransition && o.uncorrelated !== undefined) {
      at.invalid(
        'rule',
        rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${o.uncorrelated}`,
      );
    }
  }
}
