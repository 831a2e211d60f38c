import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from './slow-reference.js';

const NAMES = ['a', 'b', 'c', 'kind', 'metadata', '__proto__', 'constructor'] as const;
export const name = fc.constantFrom(...NAMES);

const text = fc.constantFrom('', 'a', 'ab', 'é', '😀', '2024-01-31', '10.0.0.1', 'x y');
const number = fc.constantFrom(-3, 0, 1, 2, 6, 2.5);

const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));

/** Values of any shape, of names and scalars that schemas know of. */
export const value: Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([key]) => key }).map(objectOf),
  ),
})).value;

/** Own members, also where the name is one that objects inherit. */
export function objectOf(members: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, member] of members) {
    Object.defineProperty(out, key, { value: member, writable: true, enumerable: true, configurable: true });
  }
  return out;
}

const small = fc.nat({ max: 3 });
const optional = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 4 });

const asked = (inner: Arbitrary<Schema>): Arbitrary<Record<string, unknown>> =>
  fc.record({
    enum: optional(fc.array(scalar, { minLength: 1, maxLength: 2 })),
    pattern: optional(fc.constantFrom('a', '^b?$', '[0-9]+')),
    format: optional(fc.constantFrom('date', 'ipv4')),
    minLength: optional(small),
    maxLength: optional(small),
    minimum: optional(number),
    maximum: optional(number),
    exclusiveMinimum: optional(fc.boolean()),
    exclusiveMaximum: optional(fc.boolean()),
    multipleOf: optional(fc.constantFrom(1, 2, 3)),
    minItems: optional(small),
    maxItems: optional(small),
    minProperties: optional(small),
    maxProperties: optional(small),
    required: optional(fc.uniqueArray(name, { maxLength: 2 })),
    allOf: optional(fc.array(inner, { minLength: 1, maxLength: 2 })),
    anyOf: optional(fc.array(inner, { minLength: 1, maxLength: 2 })),
    oneOf: optional(fc.array(inner, { minLength: 1, maxLength: 2 })),
    not: optional(inner),
  });

const withoutAbsent = (schema: Record<string, unknown>): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([, it]) => it !== undefined));

/** Formats say something of texts alone. */
const withFormat = ({ format, ...schema }: Schema): Schema =>
  format !== undefined && schema['type'] === 'string' ? { ...schema, format } : schema;

/** Schemas that are structural: types and members outside, questions inside of combinations. */
export const schema: Arbitrary<Schema> = fc.letrec<{ schema: Schema; nested: Schema }>((tie) => ({
  nested: fc.oneof(
    { maxDepth: 2 },
    fc.record({ required: fc.constant(['a']) }),
    fc
      .tuple(asked(tie('nested')), fc.dictionary(fc.constantFrom('a', 'b'), tie('nested'), { maxKeys: 1 }))
      .map(([questions, properties]) => withFormat(withoutAbsent({ ...questions, properties }))),
  ),
  schema: fc
    .tuple(
      fc.constantFrom('object', 'object', 'array', 'string', 'integer', 'number', 'boolean', 'either', 'any'),
      asked(tie('nested')),
      fc.uniqueArray(fc.tuple(name, fc.oneof({ maxDepth: 3 }, fc.constant({ type: 'string' }), tie('schema'))), {
        maxLength: 3,
        selector: ([key]) => key,
      }),
      fc.oneof({ maxDepth: 3 }, fc.constant({ type: 'integer', default: 7 }), tie('schema')),
      fc.record({
        nullable: fc.boolean(),
        preserves: fc.boolean(),
        embedded: fc.boolean(),
        more: fc.constantFrom('none', 'true', 'false', 'schema'),
      }),
      optional(value),
    )
    .map(([type, questions, properties, inner, is, byDefault]) =>
      withFormat(
        withoutAbsent({
          ...questions,
          ...(type === 'either'
            ? { 'x-platform-int-or-string': true }
            : type === 'any'
              ? { 'x-platform-preserve-unknown-fields': true }
              : { type }),
          ...(type === 'array' ? { items: inner } : {}),
          ...(type === 'object' ? members(properties, inner, is.more) : {}),
          ...(type === 'object' && is.preserves ? { 'x-platform-preserve-unknown-fields': true } : {}),
          ...(type === 'object' && is.embedded ? { 'x-platform-embedded-resource': true } : {}),
          ...(is.nullable ? { nullable: true } : {}),
          default: byDefault ?? undefined,
        }),
      ),
    ),
})).schema;

function members(properties: readonly (readonly [string, Schema])[], inner: Schema, more: string): Schema {
  if (more === 'none') return { properties: objectOf(properties) };
  return { additionalProperties: more === 'schema' ? inner : more === 'true' };
}
