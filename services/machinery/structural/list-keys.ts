import { getOwn, isJsonObject, jsonEqual, setOwn } from '../meta/own.js';
import { field, type FieldError } from '../meta/status.js';
import type { Structural } from './structural.js';

/** An object of the values of an item's keys; what the item does not have is left out. */
function keysOf(item: unknown, names: readonly string[]): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  if (isJsonObject(item)) {
    for (const name of names) if (Object.hasOwn(item, name)) setOwn(keys, name, item[name]);
  }
  return keys;
}

/** A text that two JSON values share exactly if they are equal. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** The items of a stored list by their keys: made once for all items that are looked up in it. */
const indexes = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>();

function indexOf(list: readonly unknown[], names: readonly string[]): ReadonlyMap<string, unknown> {
  let index = indexes.get(list);
  if (index === undefined) {
    index = new Map(list.map((item) => [canonical(keysOf(item, names)), item]));
    indexes.set(list, index);
  }
  return index;
}

/** The item that was there before under the same keys. Items of other lists cannot be told to be the same. */
export function correlatedItem(
  { listType, listMapKeys }: Structural,
  item: unknown,
  before: { readonly value: unknown } | undefined,
): { readonly value: unknown } | undefined {
  if (listType !== 'map' || !Array.isArray(before?.value) || !isJsonObject(item)) return undefined;
  const found = indexOf(before.value, listMapKeys).get(canonical(keysOf(item, listMapKeys)));
  return found === undefined ? undefined : { value: found };
}

/**
 * Asks whether the items of sets, and the keys of items of maps, are each there once.
 *
 * @param before As for `validate`: lists that did not change break no rule.
 */
export function duplicateItems(object: unknown, schema: Structural, before?: unknown): FieldError[] {
  const problems: FieldError[] = [];
  walk(object, schema, '', before, problems);
  return problems;
}

function walk(value: unknown, schema: Structural, path: string, before: unknown, problems: FieldError[]): void {
  if (Array.isArray(value)) {
    if (schema.listType !== undefined && (before === undefined || !jsonEqual(before, value))) {
      checkList(value, schema, path, problems);
    }
    if (schema.items === undefined) return;
    for (const [i, item] of value.entries()) {
      const was = correlatedItem(schema, item, { value: before })?.value;
      walk(item, schema.items, `${path}[${i}]`, was, problems);
    }
  } else if (isJsonObject(value)) {
    const { properties, additional } = schema;
    for (const name of Object.keys(value)) {
      const was = isJsonObject(before) ? getOwn(before, name) : undefined;
      const property = properties.get(name);
      if (property !== undefined) walk(value[name], property, path === '' ? name : `${path}.${name}`, was, problems);
      else if (typeof additional === 'object') walk(value[name], additional, `${path}[${name}]`, was, problems);
    }
  }
}

function checkList(list: readonly unknown[], { listType, listMapKeys }: Structural, path: string, out: FieldError[]) {
  if (listType === 'atomic') return;
  if (listType === 'set') {
    tellRepeated(list, (item) => item, path, out);
    return;
  }
  const odd = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (odd >= 0) {
    out.push(field.invalid(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map'));
  } else tellRepeated(list, (item) => keysOf(item, listMapKeys), path, out);
}

/** Of items that are there several times the second is told. */
function tellRepeated(list: readonly unknown[], key: (item: unknown) => unknown, path: string, out: FieldError[]) {
  const times = new Map<string, number>();
  for (const [i, item] of list.entries()) {
    const id = canonical(key(item));
    const seen = times.get(id) ?? 0;
    times.set(id, seen + 1);
    if (seen === 1) out.push(field.duplicate(`${path}[${i}]`, key(item)));
  }
}
