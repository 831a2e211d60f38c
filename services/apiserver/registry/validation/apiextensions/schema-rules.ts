import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, eachEntry } from '../checks/at.js';
import { combined } from './nested-schemas.js';
import { isSchema, type Schema } from './schemas.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const;
const LIST_TYPES = ['atomic', 'set', 'map'] as const;
const MAP_TYPES = ['atomic', 'granular'] as const;
/** Members of JSON Schema that no server of this API understands. */
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'] as const;
const IDENTITY: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

interface Where {
  readonly isRoot: boolean;
  /** Why there may be no defaults; undefined: there may. */
  readonly noDefaults: string | undefined;
  readonly insideMetadata: boolean;
}

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : []);
const isOneOf = (known: readonly string[], value: unknown): boolean => known.includes(value as string);

/** Rules for what stands in schemas, wherever it does. */
export class SchemaRules {
  readonly #word: Vocabulary['openApiExtension'];

  constructor({ openApiExtension }: Vocabulary) {
    this.#word = openApiExtension;
  }

  check(at: At, schema: Schema): void {
    if (schema['nullable'] === true) at.forbidden('nullable', 'nullable cannot be true at the root');
    this.#schema(at, schema, { isRoot: true, noDefaults: undefined, insideMetadata: false });
  }

  #schema(at: At, schema: Schema, where: Where): void {
    this.#members(at, schema, where);
    this.#additional(at, schema, where);
    eachEntry(at, 'properties', schema.properties, (property, name, propertyAt) => {
      this.#schema(propertyAt, property, this.#below(schema, name, where));
    });
    const inner = { ...where, isRoot: false };
    for (const [nested, nestedAt] of combined(at, schema)) this.#schema(nestedAt, nested, inner);
    if (isSchema(schema.items)) this.#schema(at.child('items'), schema.items, inner);
    this.#mapMarkers(at, schema);
    this.#listMarkers(at, schema);
    this.#rules(at, schema);
  }

  #below(schema: Schema, name: string, where: Where): Where {
    const isIdentity = IDENTITY.has(name) && (where.isRoot || schema[this.#word('embedded-resource')] === true);
    if (!isIdentity) return { ...where, isRoot: false };
    const noDefaults = where.isRoot ? `in top-level ${name}` : where.noDefaults;
    return { isRoot: false, insideMetadata: true, noDefaults };
  }

  #members(at: At, schema: Schema, { noDefaults, insideMetadata }: Where): void {
    const { type } = schema;
    if (type === 'null') at.forbidden('type', 'type cannot be set to null, use nullable as an alternative');
    if (type !== undefined && type !== '' && !isOneOf(TYPES, type)) at.notSupported('type', type, TYPES);
    if ((schema['default'] ?? undefined) !== undefined && noDefaults !== undefined) {
      at.forbidden('default', `must not be set ${noDefaults}`);
    }
    for (const name of UNSUPPORTED) if ((schema[name] ?? '') !== '') at.forbidden(name, `${name} is not supported`);
    const embedded = this.#word('embedded-resource');
    if (insideMetadata && schema[embedded] === true) at.forbidden(embedded, 'must not be used inside of resource meta');
    const preserve = this.#word('preserve-unknown-fields');
    if (schema[preserve] === false) at.invalid(preserve, false, 'must be true or undefined');
    if (schema['uniqueItems'] === true) {
      at.forbidden('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
    }
  }

  #additional(at: At, { additionalProperties, properties = {} }: Schema, where: Where): void {
    if (additionalProperties === undefined || additionalProperties === null) return;
    if (Object.keys(properties).length > 0 && additionalProperties !== true) {
      at.forbidden('additionalProperties', 'additionalProperties and properties are mutual exclusive');
    }
    if (!isSchema(additionalProperties)) return;
    const noDefaults = where.insideMetadata
      ? 'inside additionalProperties applying to object metadata'
      : where.noDefaults;
    this.#schema(at.child('additionalProperties'), additionalProperties, { ...where, isRoot: false, noDefaults });
  }

  #mapMarkers(at: At, schema: Schema): void {
    const name = this.#word('map-type');
    const marker = schema[name];
    if (marker === undefined || marker === null) return;
    this.#requireType(at, schema, 'object', name);
    if (!isOneOf(MAP_TYPES, marker)) at.notSupported(name, marker, MAP_TYPES);
  }

  #requireType(at: At, { type = '' }: Schema, wanted: string, marker: string): void {
    const why = `must be ${wanted} if ${marker} is specified`;
    if (type === '') at.required('type', why);
    else if (type !== wanted) at.invalid('type', type, why);
  }

  #listMarkers(at: At, schema: Schema): void {
    const name = this.#word('list-type');
    const keysName = this.#word('list-map-keys');
    const marker = schema[name] ?? undefined;
    const keys = textsOf(schema[keysName]);
    if (marker !== undefined) {
      this.#requireType(at, schema, 'array', name);
      if (!isOneOf(LIST_TYPES, marker)) at.notSupported(name, marker, LIST_TYPES);
      if (marker === 'set' && isSchema(schema.items)) this.#setItems(at.child('items'), schema.items);
      if (marker === 'set' || marker === 'map') this.#namedItems(at, schema, marker);
    }
    const wantsMap = `must be map if ${keysName} is non-empty`;
    if (keys.length > 0 && marker === undefined) at.required(name, wantsMap);
    else if (keys.length > 0 && marker !== 'map') at.invalid(name, marker, wantsMap);
    if (marker === 'map') this.#mapItems(at, schema, keys);
  }

  /** What is compared as a whole has one owner. */
  #setItems(at: At, items: Schema): void {
    const why = `must be atomic as item of a list with ${this.#word('list-type')}=set`;
    const listType = this.#word('list-type');
    const mapType = this.#word('map-type');
    if (items.type === 'array' && (items[listType] ?? 'atomic') !== 'atomic')
      at.invalid(listType, items[listType], why);
    if (items.type === 'object' && items[mapType] !== 'atomic') at.invalid(mapType, items[mapType] ?? null, why);
  }

  #namedItems(at: At, { items }: Schema, marker: 'set' | 'map'): void {
    if (!isSchema(items) || items['nullable'] !== true) return;
    at.child('items').forbidden('nullable', `cannot be nullable when ${this.#word('list-type')} is ${marker}`);
  }

  #mapItems(at: At, { items }: Schema, keys: readonly string[]): void {
    const listType = this.#word('list-type');
    const keysName = this.#word('list-map-keys');
    if (keys.length === 0) at.required(keysName, `must not be empty if ${listType} is map`);
    if (!isSchema(items)) {
      at.required('items', `must have a schema if ${listType} is map`);
      return;
    }
    const isMap = `if parent array's ${listType} is map`;
    if (items.type !== 'object') {
      at.child('items').invalid('type', items.type ?? '', `must be object ${isMap}`);
      return;
    }
    if (new Set(keys).size < keys.length) at.invalid(keysName, keys, 'must not contain duplicate entries');
    for (const key of keys) this.#mapKey(at, items, key, isMap);
  }

  #mapKey(at: At, items: Schema, key: string, isMap: string): void {
    const keysName = this.#word('list-map-keys');
    const { properties = {} } = items;
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      at.invalid(keysName, [key], 'entries must all be names of item properties');
      return;
    }
    const keyAt = at.child('items').child('properties').key(key);
    if (property.type === 'array' || property.type === 'object') {
      keyAt.invalid('type', property.type, `must be a scalar type ${isMap}`);
    }
    const said = `this property is in ${keysName}, so it`;
    const isRequired = textsOf(items['required']).includes(key);
    if (!isRequired && (property['default'] ?? undefined) === undefined) {
      keyAt.required('default', `${said} must have a default or be a required property`);
    }
    if (property['nullable'] === true) keyAt.forbidden('nullable', `${said} cannot be nullable`);
  }

  /** The form of rules; what they say is looked at where they are compiled. */
  #rules(at: At, schema: Schema): void {
    const rules = schema[this.#word('validations')];
    if (!Array.isArray(rules)) return;
    rules.forEach((rule: Readonly<Record<string, unknown>>, i) =>
      checkRule(at.child(this.#word('validations')).index(i), rule),
    );
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const isBlank = (text: string): boolean => text !== '' && text.trim() === '';
const hasLines = (text: string): boolean => /[\r\n]/.test(text);

function checkRule(at: At, it: Readonly<Record<string, unknown>>): void {
  const [rule, message, expression, path] = ['rule', 'message', 'messageExpression', 'fieldPath'].map((name) =>
    textOf(it[name]),
  ) as [string, string, string, string]; // four of four
  if (rule.trim() === '') at.required('rule', 'rule is not specified');
  else if (isBlank(message)) at.invalid('message', message, 'must be non-empty if specified');
  else if (hasLines(message.trim())) at.invalid('message', message, 'must not contain line breaks');
  else if (hasLines(rule.trim()) && message.trim() === '') {
    at.required('message', 'message must be specified if rule contains line breaks');
  }
  if (isBlank(expression)) at.required('messageExpression', 'messageExpression must be non-empty if specified');
  const { reason } = it;
  if (reason !== undefined && reason !== null && !isOneOf(REASONS, reason)) at.notSupported('reason', reason, REASONS);
  if (isBlank(path)) at.invalid('fieldPath', path, 'must be non-empty if specified');
  if (hasLines(path)) at.invalid('fieldPath', path, 'must not contain line breaks');
}
