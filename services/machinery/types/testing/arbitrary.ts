import fc from 'fast-check';
import type { Catalog } from '../declarations.js';
import type { Field, Type } from '../graph.js';

export interface ArbitraryOptions {
  /** Structures below this depth have only the members that are always written. */
  readonly maxDepth?: number;
  /** Arbitraries to use instead of the declaration's, by type key: for what must hold together to be valid. */
  readonly instead?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
}

const word = fc.string({ minLength: 1, maxLength: 8 });
const date = fc.date({
  min: new Date('2000-01-01T00:00:00Z'),
  max: new Date('2100-01-01T00:00:00Z'),
  noInvalidDate: true,
});
const positive = fc.integer({ min: 1, max: 999 });

/** JSON forms that are not the zero value, as a server writes them. */
const NON_ZERO: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: word,
  bool: fc.constant(true),
  int32: fc.integer().map((n) => n || 1),
  int64: fc.maxSafeInteger().map((n) => n || 1),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n || 0.5), // no -0: JSON has none
  bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  time: date.map((d) => d.toISOString().replace(/\.\d+Z$/, 'Z')),
  microTime: date.map((d) => d.toISOString().replace('Z', '456Z')),
  duration: positive.map((n) => `${String(n)}ms`),
  quantity: fc
    .tuple(positive, fc.constantFrom('', 'm', 'k', 'Mi', 'Gi'))
    .map(([n, unit]) => `${String(n * 2 - 1)}${unit}`),
  intOrString: fc.oneof(positive, fc.constant('25%'), word),
  rawJSON: fc.record({ name: word, sizes: fc.array(positive, { maxLength: 2 }) }, { noNullPrototype: true }),
};

/** The values that only a pointer or a member that is always written can show. */
const ZERO: Readonly<Record<string, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  intOrString: 0,
};

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,4}$/);
const mapOf = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.dictionary(label, value, { minKeys: 1, maxKeys: 2, noNullPrototype: true });
const listOf = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(value, { minLength: 1, maxLength: 2 });

/** Unions whose JSON form is not that of their fields, by `jsonForm`; of the schema that they hold. */
type Union = (schema: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>;
const UNIONS: Readonly<Record<string, Union>> = {
  'object or array of JSONSchemaProps': (schema) => fc.oneof(schema, listOf(schema)),
  'boolean or JSONSchemaProps': (schema) => fc.oneof(fc.boolean(), schema),
  'array of string or JSONSchemaProps': (schema) => fc.oneof(listOf(word), schema),
};

/** Builds arbitraries; keeps what it has built, by type and depth. */
class Builder {
  readonly #built = new Map<string, fc.Arbitrary<unknown>>();
  readonly #instead: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  readonly #maxDepth: number;

  constructor({ maxDepth = 5, instead = {} }: ArbitraryOptions) {
    this.#maxDepth = maxDepth;
    this.#instead = instead;
  }

  type(type: Type, depth: number): fc.Arbitrary<unknown> {
    const own = this.#instead[type.key] ?? NON_ZERO[type.scalar ?? ''];
    if (own !== undefined) return own;
    const id = `${String(depth)} ${type.key}`;
    const known = this.#built.get(id);
    if (known !== undefined) return known;
    const built = this.#declared(type, depth);
    this.#built.set(id, built);
    return built;
  }

  #declared(type: Type, depth: number): fc.Arbitrary<unknown> {
    if (type.form === 'list') return listOf(this.type(type.items, depth));
    const union = UNIONS[type.declaration.jsonForm ?? ''];
    const schema = type.declared.find(({ name }) => name === 'schema');
    if (union !== undefined && schema !== undefined) return union(this.type(schema.type, depth + 1));
    const isAlways = ({ declaration }: Field): boolean => declaration.alwaysEmit === true;
    const fields = type.fields.filter(
      (field) => field.owner.key !== 'meta/v1.TypeMeta' && (isAlways(field) || depth < this.#maxDepth),
    );
    const model = Object.fromEntries(fields.map((field) => [field.name, this.#field(field, depth)]));
    const requiredKeys = fields.filter(isAlways).map(({ name }) => name);
    return fc.record(model, { requiredKeys, noNullPrototype: true });
  }

  #field(field: Field, depth: number): fc.Arbitrary<unknown> {
    const value = this.#value(field, depth);
    if (field.holds === 'one') return value;
    return field.holds === 'list' ? listOf(value) : mapOf(value);
  }

  #value({ type, holds, declaration }: Field, depth: number): fc.Arbitrary<unknown> {
    const words = (declaration.enum ?? declaration.known ?? []).filter((w) => w !== '');
    if (words.length > 0) return fc.constantFrom(...words);
    const value = this.type(type, depth + 1);
    const showsZero = declaration.nullable === true || declaration.alwaysEmit === true;
    const zero = ZERO[type.key];
    if (!showsZero || zero === undefined || holds !== 'one') return value;
    return fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(zero) });
  }
}

/**
 * Objects of a declared type in the JSON form that a server writes: members that are always written are there, others
 * are there only with a value that says something (a pointer may show a zero). A kind gets its apiVersion and kind.
 * Cross-field rules are not kept, unless `instead` does.
 */
export function arbitraryOf(
  catalog: Catalog,
  key: string,
  options: ArbitraryOptions = {},
): fc.Arbitrary<Record<string, unknown>> {
  const type = catalog.types.of(key);
  const built = new Builder(options).type(type, 0) as fc.Arbitrary<Record<string, unknown>>; // a structure
  if (type.declaration.kind !== true) return built;
  const dot = key.lastIndexOf('.');
  const [groupVersion, kind] = [key.slice(0, dot), key.slice(dot + 1)];
  const apiVersion = groupVersion.replace(/^(core|meta)\//, '');
  return built.map((object) => ({ kind, apiVersion, ...object }));
}
