import { setOwn } from '../meta/own.js';

/** A decoded object of a declared type, or a map. */
export type Members = Record<string, unknown>;

/** A value of its own for each object that gets it. */
export function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const out: Members = {};
  for (const [key, member] of Object.entries(value)) setOwn(out, key, copied(member));
  return out;
}

/** A map with further entries, its keys in the order of their text, as maps are written. */
export function withEntries(map: Members, more: readonly (readonly [key: string, value: unknown])[]): Members {
  const entries = [...Object.entries(map), ...more].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const out: Members = {};
  for (const [key, value] of entries) setOwn(out, key, value);
  return out;
}

/** The members of a type in declared order. */
export interface Order {
  readonly names: readonly string[];
  readonly places: ReadonlyMap<string, number>;
}

export const orderOf = (names: readonly string[]): Order => ({
  names,
  places: new Map(names.map((name, i) => [name, i])),
});

/** The object with its members as declared; what is not declared stands at the end. */
export function inOrder(object: Members, { names, places }: Order): Members {
  const values = new Array<unknown>(names.length);
  const others: string[] = [];
  for (const name in object) {
    const place = places.get(name);
    if (place === undefined) others.push(name);
    else values[place] = object[name];
  }
  const out: Members = {};
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== undefined) out[names[i] ?? ''] = value;
  }
  for (const name of others) setOwn(out, name, object[name]);
  return out;
}

/** The same for an object that others hold. Last members first: taking out others makes an object slow for good. */
export function putInOrder(object: Members, order: Order): void {
  const ordered = inOrder(object, order);
  for (const name of Object.keys(object).reverse()) Reflect.deleteProperty(object, name);
  for (const [name, value] of Object.entries(ordered)) setOwn(object, name, value);
}
