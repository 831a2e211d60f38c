import { isJsonObject, setOwn } from '../meta/own.js';
import type { Structural } from './structural.js';

/**
 * Writes the defaults of members that are absent, and those inside of what was written. A null where the schema does
 * not allow one means absent: it becomes the default, or goes where there is none.
 *
 * @param object Changed in place.
 */
export function fillDefaults(object: Record<string, unknown>, schema: Structural): void {
  dropNulls(object, schema);
  if (schema.hasDefaults) fill(object, schema);
}

/** Most values are of schemas without a default, in which only nulls are looked for. */
function dropNulls(value: unknown, schema: Structural | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') dropNulls(item, schema.items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member !== 'object') continue;
    const known = memberSchema(schema, name);
    if (member !== null) dropNulls(member, known);
    else if (known !== undefined && !known.nullable && known.default === undefined) {
      Reflect.deleteProperty(value, name);
    }
  }
}

function memberSchema({ properties, additional }: Structural, name: string): Structural | undefined {
  return properties.get(name) ?? (typeof additional === 'object' ? additional : undefined);
}

function fill(value: unknown, schema: Structural): void {
  if (Array.isArray(value)) fillItems(value, schema);
  else if (isJsonObject(value)) fillMembers(value, schema);
}

function fillMembers(value: Record<string, unknown>, schema: Structural): void {
  for (const [name, property] of schema.properties) {
    if (property.default === undefined) continue;
    const present = Object.hasOwn(value, name) ? value[name] : undefined;
    if (present === undefined || (present === null && !property.nullable)) {
      setOwn(value, name, structuredClone(property.default));
    }
  }
  for (const name of Object.keys(value)) {
    const known = memberSchema(schema, name);
    if (known === undefined || !known.hasDefaults) continue;
    if (value[name] === null && !known.nullable && known.default !== undefined) {
      setOwn(value, name, structuredClone(known.default));
    }
    fill(value[name], known);
  }
}

function fillItems(value: unknown[], { items }: Structural): void {
  if (items === undefined || !items.hasDefaults) return;
  for (const [i, item] of value.entries()) {
    if (item === null && !items.nullable && items.default !== undefined) value[i] = structuredClone(items.default);
    fill(value[i], items);
  }
}
