import { RESERVED } from './parse.js';
import { formatOf } from '../structural/check-type.js';
import type { Structural } from '../structural/structural.js';
import { CelError, CelMap, Duration, Timestamp, type Value } from './values.js';
import { getOwn, isJsonObject } from '../meta/own.js';
import { parseDuration, parseTimestamp } from './libraries/times.js';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  type CelType,
  type ObjectType,
} from './types.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);

/** A member's name as expressions write it; undefined for one that they cannot name. */
export function escapedName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  return NAME.test(name) ? name.replaceAll(/__|[./-]/g, (it) => ESCAPES.get(it) ?? it) : undefined;
}

const types = new WeakMap<Structural, CelType>();
const rootTypes = new WeakMap<Structural, CelType>();

/** The type of values of a schema; undefined where expressions cannot look into them. */
export function typeOfSchema(schema: Structural, isRoot = false): CelType | undefined {
  const known = isRoot ? rootTypes : types;
  const found = known.get(schema);
  if (found !== undefined) return found;
  const type = makeType(schema, isRoot);
  if (type !== undefined) known.set(schema, type);
  return type;
}

function makeType(schema: Structural, isRoot: boolean): CelType | undefined {
  if (schema.intOrString) return DYN;
  switch (schema.type) {
    case 'array': {
      const item = schema.items === undefined ? undefined : typeOfSchema(schema.items);
      return item === undefined ? undefined : listOf(item);
    }
    case 'object': {
      if (typeof schema.additional !== 'object') return objectType(schema, isRoot || schema.embedded);
      const value = typeOfSchema(schema.additional);
      return value === undefined ? undefined : mapOf(STRING, value);
    }
    case 'string':
      return textType(schema);
    case 'boolean':
      return BOOL;
    case 'integer':
      return INT;
    case 'number':
      return DOUBLE;
    case undefined:
      return undefined;
  }
}

const TEXT_FORMATS: ReadonlyMap<string, CelType> = new Map([
  ['byte', BYTES],
  ['duration', DURATION],
  ['date', TIMESTAMP],
  ['date-time', TIMESTAMP],
]);

const textType = (schema: Structural): CelType => TEXT_FORMATS.get(formatOf(schema)) ?? STRING;

const METADATA: ObjectType = {
  kind: 'object',
  name: 'metadata',
  fields: () =>
    new Map([
      ['name', STRING],
      ['generateName', STRING],
    ]),
};

let objects = 0;

function objectType(schema: Structural, hasIdentity: boolean): CelType {
  let fields: ReadonlyMap<string, CelType> | undefined;
  return { kind: 'object', name: `object#${++objects}`, fields: () => (fields ??= fieldsOf(schema, hasIdentity)) };
}

function fieldsOf(schema: Structural, hasIdentity: boolean): ReadonlyMap<string, CelType> {
  const fields = new Map<string, CelType>();
  for (const [name, property] of schema.properties) {
    const escaped = escapedName(name);
    const type = typeOfSchema(property);
    if (escaped !== undefined && type !== undefined) fields.set(escaped, type);
  }
  if (!hasIdentity) return fields;
  return fields.set('apiVersion', STRING).set('kind', STRING).set('metadata', METADATA);
}

/** A JSON value as one of expressions. What is of another JSON type than the schema says is what it looks like. */
export function valueOf(json: unknown, schema: Structural | undefined, isRoot = false): Value {
  if (json === null || json === undefined) return null;
  if (Array.isArray(json)) return json.map((item) => valueOf(item, schema?.items));
  if (isJsonObject(json)) return objectOf(json, schema, isRoot);
  if (typeof json === 'string') return schema === undefined ? json : textOf(json, schema);
  if (typeof json !== 'number') return json as boolean;
  return Number.isInteger(json) && schema?.type !== 'number' ? BigInt(json) : json;
}

function textOf(text: string, schema: Structural): Value {
  if (schema.type !== 'string') return text;
  switch (formatOf(schema)) {
    case 'byte':
      return Buffer.from(text, 'base64');
    case 'duration':
      return orText(text, () => new Duration(parseDuration(text)));
    case 'date':
      return orText(text, () => new Timestamp(parseTimestamp(`${text}T00:00:00Z`)));
    case 'date-time':
      return orText(text, () => new Timestamp(parseTimestamp(text)));
    default:
      return text;
  }
}

/** One that is of another form was told of where formats are checked. */
function orText(text: string, read: () => Value): Value {
  try {
    return read();
  } catch (err) {
    if (err instanceof CelError) return text;
    throw err;
  }
}

function objectOf(json: Record<string, unknown>, schema: Structural | undefined, isRoot: boolean): CelMap {
  const isMap = schema === undefined || typeof schema.additional === 'object';
  const entries: [string, Value][] = [];
  for (const name of Object.keys(json)) {
    const property = schema?.properties.get(name);
    const known = property ?? (typeof schema?.additional === 'object' ? schema.additional : undefined);
    const key = isMap ? name : escapedName(name);
    if (key === undefined) continue;
    const member = getOwn(json, name);
    const isMetadata = name === 'metadata' && (isRoot || schema?.embedded === true);
    entries.push([key, isMetadata ? valueOf(member, undefined) : valueOf(member, known)]);
  }
  return CelMap.of(entries);
}
