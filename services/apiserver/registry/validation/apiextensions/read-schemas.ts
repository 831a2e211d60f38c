import { checkRule, type Checked } from '../../../../machinery/structural/compile-rule.js';
import { readSchema } from '../../../../machinery/structural/read-schema.js';
import type { Structural } from '../../../../machinery/structural/structural.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { Schema } from './schemas.js';

/** Schemas as they are read, and their rules as they are checked: once for all that ask, as long as somebody holds the schema. */
export class ReadSchemas {
  readonly #word: Vocabulary['openApiExtension'];
  readonly #read = new WeakMap<Schema, Structural>();
  readonly #rules = new WeakMap<Structural, readonly Checked[]>();

  constructor({ openApiExtension }: Vocabulary) {
    this.#word = openApiExtension;
  }

  /** @param schema One that is right. */
  of(schema: Schema): Structural {
    let read = this.#read.get(schema);
    if (read === undefined) this.#read.set(schema, (read = readSchema(schema, this.#word)));
    return read;
  }

  /** The rules of a schema that was read, in their order. @param isRoot It is of whole objects; a schema is so or not. */
  rulesOf(schema: Structural, isRoot: boolean): readonly Checked[] {
    let rules = this.#rules.get(schema);
    if (rules === undefined) {
      this.#rules.set(schema, (rules = schema.rules.map((rule) => checkRule(rule, schema, isRoot))));
    }
    return rules;
  }
}
