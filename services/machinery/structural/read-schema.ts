import { getOwn, isJsonObject } from '../meta/own.js';
import { pattern } from './pattern.js';
import type { Checks, Rule, SchemaType, Structural } from './structural.js';

/** A schema as definitions have it: JSON, its extensions named in the words of the installation. */
export type SchemaJson = Readonly<Record<string, unknown>>;

/** e.g. `list-type` to `x-platform-list-type` */
export type ExtensionName = (name: string) => string;

/**
 * Reads a schema that has been validated. What is of another JSON kind than it should be counts as absent: an old
 * definition is served as far as it can be understood.
 */
export function readSchema(schema: SchemaJson, extension: ExtensionName): Structural {
  const read = (value: unknown): Structural => readNode(isJsonObject(value) ? value : {}, extension, read);
  return read(schema);
}

type Read = (value: unknown) => Structural;

function readNode(schema: SchemaJson, extension: ExtensionName, read: Read): Structural {
  const own = (name: string): unknown => getOwn(schema, name);
  const ext = (name: string): unknown => getOwn(schema, extension(name));
  const properties = new Map<string, Structural>();
  const declared = own('properties');
  if (isJsonObject(declared)) for (const name of Object.keys(declared)) properties.set(name, read(declared[name]));
  const additional = own('additionalProperties');
  const byDefault = own('default') ?? undefined; // null says nothing
  const below = {
    properties,
    additional: isJsonObject(additional) ? read(additional) : typeof additional === 'boolean' ? additional : undefined,
    items: isJsonObject(own('items')) ? read(own('items')) : undefined,
  };
  return {
    ...below,
    type: typeOf(own('type')),
    intOrString: ext('int-or-string') === true,
    preserves: ext('preserve-unknown-fields') === true,
    embedded: ext('embedded-resource') === true,
    nullable: own('nullable') === true,
    listType: oneOf(ext('list-type'), LIST_TYPES),
    listMapKeys: texts(ext('list-map-keys')),
    mapType: oneOf(ext('map-type'), MAP_TYPES),
    default: byDefault,
    checks: readChecks(schema, read),
    rules: list(ext('validations')).filter(isJsonObject).map(readRule),
    hasDefaults: byDefault !== undefined || hasDefaultsBelow(below),
  };
}

function hasDefaultsBelow({ properties, additional, items }: Pick<Structural, 'properties' | 'additional' | 'items'>) {
  if (items?.hasDefaults === true || (typeof additional === 'object' && additional.hasDefaults)) return true;
  for (const property of properties.values()) if (property.hasDefaults) return true;
  return false;
}

const TYPES = new Set<SchemaType>(['object', 'array', 'string', 'integer', 'number', 'boolean']);
const LIST_TYPES = new Set(['atomic', 'set', 'map'] as const);
const MAP_TYPES = new Set(['granular', 'atomic'] as const);

const oneOf = <T>(value: unknown, known: ReadonlySet<T>): T | undefined =>
  known.has(value as T) ? (value as T) : undefined;
const typeOf = (value: unknown): SchemaType | undefined => oneOf(value, TYPES);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): readonly string[] => list(value).filter((it) => typeof it === 'string');
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** The members of a schema that ask something of a value; of a schema with none of them nothing is kept. */
const ASKING = [
  'enum',
  'format',
  'pattern',
  'maximum',
  'minimum',
  'multipleOf',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'required',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
] as const;

function readChecks(schema: SchemaJson, read: Read): Checks | undefined {
  if (!ASKING.some((name) => Object.hasOwn(schema, name))) return undefined;
  const own = (name: string): unknown => getOwn(schema, name);
  const source = text(own('pattern'));
  return {
    enum: list(own('enum')),
    format: text(own('format')),
    pattern: source === '' ? undefined : pattern(source),
    maximum: number(own('maximum')),
    exclusiveMaximum: own('exclusiveMaximum') === true,
    minimum: number(own('minimum')),
    exclusiveMinimum: own('exclusiveMinimum') === true,
    multipleOf: number(own('multipleOf')),
    maxLength: number(own('maxLength')),
    minLength: number(own('minLength')),
    maxItems: number(own('maxItems')),
    minItems: number(own('minItems')),
    maxProperties: number(own('maxProperties')),
    minProperties: number(own('minProperties')),
    required: texts(own('required')),
    allOf: list(own('allOf')).map(read),
    anyOf: list(own('anyOf')).map(read),
    oneOf: list(own('oneOf')).map(read),
    not: isJsonObject(own('not')) ? read(own('not')) : undefined,
  };
}

function readRule(rule: SchemaJson): Rule {
  const optional = Object.fromEntries(
    ['message', 'messageExpression', 'reason', 'fieldPath']
      .map((name) => [name, text(getOwn(rule, name))])
      .filter(([, value]) => value !== ''),
  ) as Partial<Rule>;
  return {
    rule: text(getOwn(rule, 'rule')),
    ...optional,
    ...(getOwn(rule, 'optionalOldSelf') === true ? { optionalOldSelf: true } : {}),
  };
}
