import { isJsonObject, setOwn } from '../meta/own.js';
import type { Structural } from './structural.js';

/**
 * Writes the defaults of members that are absent, and those inside of what was written. A null where the schema does
 * not allow one means absent: it becomes the default, or goes where there is none.
 *
 * Members stay in the order of their names, so that equal objects are written with the same bytes.
 *
 * @param object Its members are in order. Changed in place.
 */
export function fillDefaults(object: Record<string, unknown>, schema: Structural): void {
  dropNulls(object, schema);
  if (!schema.hasDefaults || !fillMembers(object, schema)) return;
  const members = sorted(object);
  for (const name of Object.keys(object)) Reflect.deleteProperty(object, name);
  for (const [name, member] of Object.entries(members)) setOwn(object, name, member);
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

/** @returns The value, or a copy with its members in order. */
function fill(value: unknown, schema: Structural): unknown {
  if (Array.isArray(value)) fillItems(value, schema);
  else if (isJsonObject(value)) return fillMembers(value, schema) ? sorted(value) : value;
  return value;
}

/** @returns Whether members came, which stand behind the others. */
function fillMembers(value: Record<string, unknown>, schema: Structural): boolean {
  let hasMore = false;
  for (const [name, property] of schema.properties) {
    if (property.default === undefined) continue;
    const isThere = Object.hasOwn(value, name);
    const present = isThere ? value[name] : undefined;
    if (present === undefined || (present === null && !property.nullable)) {
      setOwn(value, name, inOrder(property.default));
      hasMore ||= !isThere;
    }
  }
  for (const name of Object.keys(value)) {
    const known = memberSchema(schema, name);
    if (known === undefined || !known.hasDefaults) continue;
    if (value[name] === null && !known.nullable && known.default !== undefined) {
      setOwn(value, name, inOrder(known.default));
    }
    setOwn(value, name, fill(value[name], known));
  }
  return hasMore;
}

function fillItems(value: unknown[], { items }: Structural): void {
  if (items === undefined || !items.hasDefaults) return;
  for (const [i, item] of value.entries()) {
    if (item === null && !items.nullable && items.default !== undefined) value[i] = inOrder(items.default);
    value[i] = fill(value[i], items);
  }
}

function sorted(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) setOwn(copy, name, value[name]);
  return copy;
}

/** A copy of a value whose members are in order everywhere. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const copy = sorted(value);
  for (const name of Object.keys(copy)) setOwn(copy, name, inOrder(copy[name]));
  return copy;
}
