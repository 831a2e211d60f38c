import { isJsonObject } from '../../machinery/meta/own.js';
import type { Schema } from './dialect.js';

/** The names of members that schemas of custom objects extend JSON Schema by. */
export interface CustomWords {
  readonly preserve: string;
  readonly embedded: string;
  readonly intOrString: string;
}

type Json = Readonly<Record<string, unknown>>;

/** The members that every object has, as the document describes them. */
export type Identity = Readonly<Record<'apiVersion' | 'kind' | 'metadata', Schema>>;

/** The schema of a custom kind as version 3 has it: as it was written, and what every object has. */
export const customSchema3 = (schema: Json, words: CustomWords, identity: Identity): Schema =>
  withIdentity(schema, words, identity, true);

/**
 * The same as version 2 can have it: without combinations of schemas, and without the members of values whose type it
 * cannot tell. Clients of that time stumble over those.
 */
export function customSchema2(schema: Json, words: CustomWords, identity: Identity): Schema {
  if (schema[words.preserve] === true) return { type: 'object' };
  return withIdentity(simplified(schema, words), words, identity, true);
}

function mapMembers(schema: Json, each: (member: Json) => Json): Json {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(isJsonObject(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, isJsonObject(member) ? each(member) : member]),
          ),
        }
      : {}),
    ...(isJsonObject(items) ? { items: each(items) } : {}),
    ...(isJsonObject(additionalProperties) ? { additionalProperties: each(additionalProperties) } : {}),
  };
}

function withIdentity(schema: Json, words: CustomWords, identity: Identity, isRoot: boolean): Schema {
  const inside = mapMembers(schema, (member) => withIdentity(member, words, identity, false));
  if (!isRoot && schema[words.embedded] !== true) return inside;
  const properties = isJsonObject(inside['properties']) ? inside['properties'] : {};
  return { ...inside, properties: { ...properties, ...identity } };
}

const COMBINATIONS = ['allOf', 'oneOf', 'anyOf', 'not'] as const;

function simplified(schema: Json, words: CustomWords): Json {
  const { type, nullable, items, properties, required, ...rest } = schema;
  const isUntold = nullable === true || schema[words.preserve] === true;
  const kept = { ...rest };
  for (const name of COMBINATIONS) Reflect.deleteProperty(kept, name);
  if (isUntold) return mapMembers(kept, (member) => simplified(member, words));
  const mayBeNull = new Set(
    Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, member]) =>
      isJsonObject(member) && member['nullable'] === true ? [name] : [],
    ),
  );
  const needed = Array.isArray(required) ? required.filter((name) => !mayBeNull.has(String(name))) : [];
  const hasItems = items !== undefined && items !== null;
  const told = {
    ...kept,
    ...(type === undefined || (type === 'array' && !hasItems) || schema[words.intOrString] === true ? {} : { type }),
    ...(hasItems ? { items } : {}),
    ...(properties === undefined ? {} : { properties }),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
  return mapMembers(told, (member) => simplified(member, words));
}
