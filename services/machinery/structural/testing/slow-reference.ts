import { isJsonObject, jsonEqual, setOwn } from '../../meta/own.js';
import { isOfFormat } from '../formats.js';

/*
 * What the rules for structural schemas say, written down as they are read: by recursion over the schema as it was
 * written, with copies at each step. It is held beside the code that the server runs.
 */

export type Schema = Readonly<Record<string, unknown>>;
type Members = Record<string, unknown>;

const IDENTITY = ['apiVersion', 'kind', 'metadata'];

const propertyOf = (schema: Schema, name: string): Schema | undefined => {
  const properties = (schema['properties'] ?? {}) as Members;
  return Object.hasOwn(properties, name) ? (properties[name] as Schema) : undefined;
};

const valuesOf = (schema: Schema): Schema | undefined =>
  isJsonObject(schema['additionalProperties']) ? schema['additionalProperties'] : undefined;

/** The schema of a member, or undefined where nothing is said of it. */
const ofMember = (schema: Schema, name: string): Schema | undefined => propertyOf(schema, name) ?? valuesOf(schema);

/** The object without what its schema does not know. */
export function pruned(value: unknown, schema: Schema | undefined, isRoot: boolean, keeps = false): unknown {
  const isKeeping = keeps || schema?.['x-platform-preserve-unknown-fields'] === true;
  if (isKeeping && schema === undefined) return value;
  if (Array.isArray(value)) {
    return value.map((item) => pruned(item, schema?.['items'] as Schema | undefined, false, isKeeping));
  }
  if (!isJsonObject(value)) return value;
  const out: Members = {};
  for (const [name, member] of Object.entries(value)) {
    const isIdentity = isRoot || schema?.['x-platform-embedded-resource'] === true;
    if (isIdentity && IDENTITY.includes(name)) setOwn(out, name, member);
    else if (schema !== undefined && propertyOf(schema, name) !== undefined) {
      setOwn(out, name, pruned(member, propertyOf(schema, name), false));
    } else if (schema?.['additionalProperties'] !== undefined)
      setOwn(out, name, pruned(member, valuesOf(schema), false));
    else if (isKeeping) setOwn(out, name, member);
  }
  return out;
}

/** The object with its defaults. */
export function defaulted(value: unknown, schema: Schema | undefined): unknown {
  return filled(withoutNulls(value, schema), schema);
}

const hasDefault = (schema: Schema): boolean => schema['default'] !== undefined && schema['default'] !== null;
const isForbiddenNull = (value: unknown, schema: Schema | undefined): boolean =>
  value === null && schema !== undefined && schema['nullable'] !== true;

function withoutNulls(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, schema?.['items'] as Schema | undefined));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const known = schema === undefined ? undefined : ofMember(schema, name);
      if (known !== undefined && isForbiddenNull(member, known) && !hasDefault(known)) return [];
      return [[name, withoutNulls(member, known)]];
    }),
  );
}

function filled(value: unknown, schema: Schema | undefined): unknown {
  if (schema === undefined) return value;
  const orDefault = (member: unknown, known: Schema | undefined): unknown =>
    known !== undefined && isForbiddenNull(member, known) && hasDefault(known) ? known['default'] : member;
  if (Array.isArray(value)) {
    const items = schema['items'] as Schema | undefined;
    return value.map((item) => filled(orDefault(item, items), items));
  }
  if (!isJsonObject(value)) return value;
  const out: Members = { ...value };
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    if (hasDefault(property) && (!Object.hasOwn(out, name) || isForbiddenNull(out[name], property))) {
      setOwn(out, name, property['default']);
    }
  }
  for (const name of Object.keys(out)) {
    const known = ofMember(schema, name);
    setOwn(out, name, filled(orDefault(out[name], known), known));
  }
  return out;
}

/** Whether a value is all that a schema asks of it. */
export function isValid(value: unknown, schema: Schema): boolean {
  return RULES.every((rule) => rule(value, schema));
}

const typeOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : typeof value === 'number'
        ? Number.isInteger(value)
          ? 'integer'
          : 'number'
        : typeof value;

function isOfType(value: unknown, schema: Schema): boolean {
  const types =
    schema['x-platform-int-or-string'] === true
      ? ['integer', 'string']
      : schema['type'] === undefined
        ? []
        : [schema['type']];
  if (types.length === 0) return true;
  if (value === null) return schema['nullable'] === true;
  // A list passes for a text where there is a format.
  if (Array.isArray(value) && types.includes('string') && schema['format'] !== undefined) return true;
  return types.includes(typeOf(value)) || (types.includes('number') && typeOf(value) === 'integer');
}

const bound = (schema: Schema, name: string): number | undefined => schema[name] as number | undefined;
const atLeast = (value: number, least: number | undefined): boolean => least === undefined || value >= least;
const atMost = (value: number, most: number | undefined): boolean => most === undefined || value <= most;

type RuleOf = (value: unknown, schema: Schema) => boolean;

const all = (schemas: unknown): readonly Schema[] => (schemas ?? []) as readonly Schema[];

const RULES: readonly RuleOf[] = [
  isOfType,
  (value, schema) => {
    const allowed = (schema['enum'] ?? []) as readonly unknown[];
    return allowed.length === 0 || allowed.some((it) => jsonEqual(it, value));
  },
  (value, schema) =>
    typeof value !== 'string' ||
    (atLeast(Array.from(value).length, bound(schema, 'minLength')) &&
      atMost(Array.from(value).length, bound(schema, 'maxLength')) &&
      (schema['pattern'] === undefined || new RegExp(schema['pattern'] as string, 'u').test(value)) &&
      (schema['format'] === undefined || isOfFormat(schema['format'] as string, value))),
  (value, schema) => {
    if (typeof value !== 'number') return true;
    const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
    const isAbove = minimum === undefined || (schema['exclusiveMinimum'] === true ? value > minimum : value >= minimum);
    const isBelow = maximum === undefined || (schema['exclusiveMaximum'] === true ? value < maximum : value <= maximum);
    const factor = bound(schema, 'multipleOf');
    return isAbove && isBelow && (factor === undefined || value % factor === 0);
  },
  (value, schema) =>
    !Array.isArray(value) ||
    (atLeast(value.length, bound(schema, 'minItems')) &&
      atMost(value.length, bound(schema, 'maxItems')) &&
      (schema['items'] === undefined || value.every((item) => isValid(item, schema['items'] as Schema)))),
  (value, schema) => {
    if (!isJsonObject(value)) return true;
    const names = Object.keys(value);
    return (
      atLeast(names.length, bound(schema, 'minProperties')) &&
      atMost(names.length, bound(schema, 'maxProperties')) &&
      ((schema['required'] ?? []) as readonly string[]).every((name) => Object.hasOwn(value, name)) &&
      names.every((name) => {
        const known = ofMember(schema, name);
        return known === undefined ? schema['additionalProperties'] !== false : isValid(value[name], known);
      })
    );
  },
  (value, schema) => value === null || all(schema['allOf']).every((it) => isValid(value, it)),
  (value, schema) =>
    value === null || all(schema['anyOf']).length === 0 || all(schema['anyOf']).some((it) => isValid(value, it)),
  (value, schema) =>
    value === null ||
    all(schema['oneOf']).length === 0 ||
    all(schema['oneOf']).filter((it) => isValid(value, it)).length === 1,
  (value, schema) => value === null || schema['not'] === undefined || !isValid(value, schema['not'] as Schema),
];
