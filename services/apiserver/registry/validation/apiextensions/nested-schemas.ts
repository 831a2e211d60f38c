import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { whatIsWrong } from '../../../../machinery/structural/pattern.js';
import { type At, eachEntry } from '../checks/at.js';
import { eachInside, isSaid, isSchema, type Schema } from './schemas.js';

const COMBINATIONS = ['allOf', 'anyOf', 'oneOf'] as const;

type Nested = readonly (readonly [schema: Schema, at: At])[];

/** Schemas inside of combinations, each with its place. */
export function combined(at: At, schema: Schema): Nested {
  const found: [Schema, At][] = [];
  for (const name of COMBINATIONS) {
    const list = schema[name];
    if (Array.isArray(list)) list.forEach((it: Schema, i) => found.push([it, at.child(name).index(i)]));
  }
  const { not } = schema as { readonly not?: Schema | null };
  if (not !== undefined && not !== null) found.push([not, at.child('not')]);
  return found;
}

/** What makes a value more than questioned: members that only schemas outside of combinations may have. */
interface Structure {
  readonly member: string;
  readonly detail: string;
}

const EMPTY = 'must be empty to be structural';
const ABSENT = 'must be undefined to be structural';
const FALSE = 'must be false to be structural';

/**
 * Asks of schemas inside of combinations whether they say only what is asked of values, and of those alone that the
 * schema around them knows.
 */
export class NestedSchemas {
  readonly #structure: readonly Structure[];

  constructor({ openApiExtension: word }: Vocabulary) {
    this.#structure = [
      { member: 'additionalProperties', detail: ABSENT },
      { member: 'default', detail: ABSENT },
      { member: 'title', detail: EMPTY },
      { member: 'description', detail: EMPTY },
      { member: 'nullable', detail: FALSE },
      { member: word('preserve-unknown-fields'), detail: FALSE },
      { member: word('embedded-resource'), detail: FALSE },
      { member: word('int-or-string'), detail: FALSE },
      { member: word('list-map-keys'), detail: EMPTY },
      { member: word('list-type'), detail: ABSENT },
      { member: word('map-type'), detail: ABSENT },
      { member: word('validations'), detail: EMPTY },
    ];
  }

  /** Asks it of a schema and of those of its members and items. */
  walk(at: At, schema: Schema): void {
    this.#check(at, schema);
    eachInside(at, schema, (insideAt, inside) => this.walk(insideAt, inside));
  }

  /** @param around The schema that tells what the values are. */
  #check(at: At, around: Schema): void {
    const isEither = eitherOf(around);
    for (const [schema, nestedAt] of combined(at, around)) {
      const mayHaveTypes = isEither.has(schema);
      this.#nested(nestedAt, schema, mayHaveTypes);
      this.#known(nestedAt, schema, around, at);
    }
    checkPattern(at, around);
  }

  #nested(at: At, schema: Schema, mayHaveTypes: boolean): void {
    if (isSaid(schema.type) && !mayHaveTypes) at.forbidden('type', EMPTY);
    for (const { member, detail } of this.#structure) if (isSaid(schema[member])) at.forbidden(member, detail);
    if (schema.properties !== undefined && Object.hasOwn(schema.properties, 'metadata')) {
      at.child('properties').key('metadata').forbidden('', 'must not be specified in a nested context');
    }
    const isEither = eitherOf(schema);
    for (const [inner, innerAt] of combined(at, schema)) this.#nested(innerAt, inner, isEither.has(inner));
    const { items } = schema;
    if (isSchema(items)) this.#nested(at.child('items'), items, false);
    eachEntry(at, 'properties', schema.properties, (property, _, propertyAt) =>
      this.#nested(propertyAt, property, false),
    );
    checkPattern(at, schema);
  }

  /** Whether all that is asked of members and items is asked of those that there are. */
  #known(at: At, schema: Schema, around: Schema | undefined, aroundAt: At): void {
    if (around === undefined) {
      aroundAt.required('', `because it is defined in ${at.path}`);
      return;
    }
    for (const [inner, innerAt] of combined(at, schema)) this.#known(innerAt, inner, around, aroundAt);
    const { items } = schema;
    if (isSchema(items))
      this.#known(at.child('items'), items, isSchema(around.items) ? around.items : undefined, aroundAt.child('items'));
    eachEntry(at, 'properties', schema.properties, (property, name, propertyAt) => {
      const known =
        around.properties !== undefined && Object.hasOwn(around.properties, name) ? around.properties[name] : undefined;
      this.#known(propertyAt, property, known, aroundAt.child('properties').key(name));
    });
  }
}

/** The one place where schemas in combinations may have types: `anyOf: [{type: integer}, {type: string}]`. */
function eitherOf(schema: Schema): ReadonlySet<Schema> {
  const allOf = schema['allOf'];
  const first: unknown = Array.isArray(allOf) ? allOf[0] : undefined;
  for (const holder of [schema, first]) {
    const anyOf: unknown = isSchema(holder) ? holder['anyOf'] : undefined;
    if (Array.isArray(anyOf) && isEither(anyOf as Schema[])) return new Set(anyOf as Schema[]);
  }
  return NONE;
}
const NONE: ReadonlySet<Schema> = new Set();

const isEither = (anyOf: readonly Schema[]): boolean =>
  anyOf.length === 2 &&
  anyOf.every((it) => Object.keys(it).length === 1) &&
  anyOf[0]?.type === 'integer' &&
  anyOf[1]?.type === 'string';

function checkPattern(at: At, { ['pattern']: pattern }: Schema): void {
  const why = typeof pattern === 'string' && pattern !== '' ? whatIsWrong(pattern) : undefined;
  if (why !== undefined) at.invalid('pattern', pattern, `must be a valid regular expression, but isn't: ${why}`);
}
