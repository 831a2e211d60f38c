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
  const words = wordsOf(extension);
  const read = (value: unknown): Structural => readNode(isJsonObject(value) ? value : {}, words, read);
  return read(schema);
}

type Read = (value: unknown) => Structural;

/** The names of the extensions that are read. */
const wordsOf = (extension: ExtensionName) => ({
  intOrString: extension('int-or-string'),
  preserves: extension('preserve-unknown-fields'),
  embedded: extension('embedded-resource'),
  listType: extension('list-type'),
  listMapKeys: extension('list-map-keys'),
  mapType: extension('map-type'),
  rules: extension('validations'),
});

const NO_PROPERTIES: ReadonlyMap<string, Structural> = new Map();
const NONE: readonly never[] = [];

/** Definitions have tens of thousands of schemas: what most of them do not have is one value for all, and nothing is copied. */
function readNode(schema: SchemaJson, words: ReturnType<typeof wordsOf>, read: Read): Structural {
  const properties = readProperties(getOwn(schema, 'properties'), read);
  const more = getOwn(schema, 'additionalProperties');
  const additional = isJsonObject(more) ? read(more) : typeof more === 'boolean' ? more : undefined;
  const each = getOwn(schema, 'items');
  const items = isJsonObject(each) ? read(each) : undefined;
  const byDefault = getOwn(schema, 'default') ?? undefined; // null says nothing
  return {
    properties,
    additional,
    items,
    type: typeOf(getOwn(schema, 'type')),
    intOrString: getOwn(schema, words.intOrString) === true,
    preserves: getOwn(schema, words.preserves) === true,
    embedded: getOwn(schema, words.embedded) === true,
    nullable: getOwn(schema, 'nullable') === true,
    listType: oneOf(getOwn(schema, words.listType), LIST_TYPES),
    listMapKeys: texts(getOwn(schema, words.listMapKeys)),
    mapType: oneOf(getOwn(schema, words.mapType), MAP_TYPES),
    default: byDefault,
    checks: readChecks(schema, read),
    rules: readRules(getOwn(schema, words.rules)),
    hasDefaults: byDefault !== undefined || hasDefaultsBelow(properties, additional, items),
  };
}

function readProperties(declared: unknown, read: Read): ReadonlyMap<string, Structural> {
  if (!isJsonObject(declared)) return NO_PROPERTIES;
  const properties = new Map<string, Structural>();
  for (const name of Object.keys(declared)) properties.set(name, read(declared[name]));
  return properties;
}

function hasDefaultsBelow(
  properties: Structural['properties'],
  additional: Structural['additional'],
  items: Structural['items'],
): boolean {
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
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE);
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((it) => typeof it === 'string') : NONE;
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
    allOf: readEach(own('allOf'), read),
    anyOf: readEach(own('anyOf'), read),
    oneOf: readEach(own('oneOf'), read),
    not: isJsonObject(own('not')) ? read(own('not')) : undefined,
  };
}

const readEach = (value: unknown, read: Read): readonly Structural[] =>
  Array.isArray(value) ? value.map((it) => read(it)) : NONE;

const readRules = (value: unknown): readonly Rule[] =>
  Array.isArray(value) ? value.filter(isJsonObject).map(readRule) : NONE;

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
