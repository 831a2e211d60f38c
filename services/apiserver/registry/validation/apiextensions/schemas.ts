import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, eachEntry } from '../checks/at.js';

/** As much of a schema as says what its values are; its extensions are named in the words of the installation. */
export interface Schema {
  readonly type?: string;
  readonly items?: Schema | readonly Schema[] | null;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean | null;
  readonly [extension: string]: unknown;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schemas of the members, items and further members of a value, each with its place. */
export function eachInside(at: At, schema: Schema, visit: (at: At, inside: Schema) => void): void {
  const { properties, items, additionalProperties } = schema;
  eachEntry(at, 'properties', properties, (property, _, propertyAt) => visit(propertyAt, property));
  if (isSchema(items)) visit(at.child('items'), items);
  if (isSchema(additionalProperties)) visit(at.child('additionalProperties'), additionalProperties);
}

/** Where a schema stands, which is how messages tell them apart. */
type Level = 'root' | 'item' | 'field';

const NO_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** Members of every object, and what they are everywhere. */
const IDENTITY = [
  ['kind', 'string'],
  ['apiVersion', 'string'],
  ['metadata', 'object'],
] as const;

/**
 * Asks whether schemas are structural: whether they say of each value what it is, so that what they do not know can be
 * told from what they do. What they ask of values beside that (`allOf`, patterns, bounds, defaults) is not looked at.
 */
export class StructuralSchemas {
  readonly #embedded: string;
  readonly #intOrString: string;
  readonly #preserve: string;

  constructor({ openApiExtension }: Vocabulary) {
    this.#embedded = openApiExtension('embedded-resource');
    this.#intOrString = openApiExtension('int-or-string');
    this.#preserve = openApiExtension('preserve-unknown-fields');
  }

  /** @param at Where the schema of whole objects stands. */
  check(at: At, schema: Schema): void {
    this.#schema(at, schema, 'root');
  }

  /** Recurses: how deep a body may nest is bounded where it is parsed. */
  #schema(at: At, schema: Schema, level: Level): void {
    this.#parts(at, schema, level);
    this.#type(at, schema, level);
    const isEmbedded = schema[this.#embedded] === true;
    if (schema[this.#intOrString] === true) {
      const why = `must be false if ${this.#intOrString} is true`;
      for (const other of [this.#preserve, this.#embedded]) if (schema[other] === true) at.invalid(other, true, why);
    }
    if (isEmbedded) this.#embeddedParts(at, schema);
    if (isEmbedded || level === 'root') checkIdentity(at, schema);
    if (level === 'root') checkMetadata(at, schema);
  }

  #parts(at: At, { type, items, properties, additionalProperties }: Schema, level: Level): void {
    if (isList(items)) at.forbidden('items', 'items must be a schema object and not an array');
    else if (items !== undefined && items !== null) this.#schema(at.child('items'), items, 'item');
    else if (type === 'array') at.required('items', 'must be specified');
    eachEntry(at, 'properties', properties, (property, _, propertyAt) => this.#schema(propertyAt, property, 'field'));
    if (additionalProperties === undefined || additionalProperties === null) return;
    if (level === 'root') at.forbidden('additionalProperties', 'must not be used at the root');
    if (typeof additionalProperties === 'object') {
      this.#schema(at.child('additionalProperties'), additionalProperties, 'field');
    }
  }

  #type(at: At, schema: Schema, level: Level): void {
    const { type = '' } = schema;
    if (schema[this.#embedded] === true) {
      const why = `must be object if ${this.#embedded} is true`;
      if (type === '') at.required('type', why);
      else if (type !== 'object') at.invalid('type', type, why);
    } else if (type === '' && schema[this.#intOrString] !== true && schema[this.#preserve] !== true) {
      at.required('type', NO_TYPE[level]);
    }
    if (level === 'root' && type !== '' && type !== 'object') at.invalid('type', type, 'must be object at the root');
  }

  #embeddedParts(at: At, schema: Schema): void {
    const { additionalProperties = null, properties = {} } = schema;
    if (additionalProperties !== null)
      at.forbidden('additionalProperties', `must not be used if ${this.#embedded} is set`);
    if (schema[this.#preserve] !== true && Object.keys(properties).length === 0) {
      at.required('properties', `must not be empty if ${this.#embedded} is true without ${this.#preserve}`);
    }
  }
}

const isList = (items: Schema['items']): items is readonly Schema[] => Array.isArray(items);

function checkIdentity(at: At, { properties = {} }: Schema): void {
  for (const [name, type] of IDENTITY) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined || schema.type === type) continue;
    at.child('properties')
      .key(name)
      .invalid('type', schema.type ?? '', `must be ${type}`);
  }
}

/** Members of the metadata of which a schema may say more: how objects are called. */
const NAMES: ReadonlySet<string> = new Set(['name', 'generateName']);

function checkMetadata(at: At, { properties = {} }: Schema): void {
  const metadata = Object.hasOwn(properties, 'metadata') ? properties['metadata'] : undefined;
  if (metadata === undefined) return;
  const { type: _, default: __, properties: members = {}, additionalProperties = null, ...others } = metadata;
  if (
    additionalProperties === null &&
    Object.keys(members).every((name) => NAMES.has(name)) &&
    !Object.values(others).some(isSaid)
  )
    return;
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  at.child('properties').key('metadata').forbidden('', why);
}

/** Whether a member of a schema says anything. */
export const isSaid = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);
