import { getOwn, isJsonObject, setOwn } from '../meta/own.js';
import { keyElement, valueElement } from './path-element.js';
import type { ListKey } from './shape.js';

/** How the items of a list are told apart. */
export interface ItemNames {
  /** The same for items with the same name, and cheaper than the name: a scalar, for a Map. */
  readonly id: (item: unknown) => unknown;
  /** The path element. */
  readonly element: (item: unknown) => string;
  /** Why an applied item has no name; undefined when it has. */
  readonly problem: (item: unknown) => string | undefined;
  /** `pruned` with what names the item put back. */
  readonly named: (pruned: unknown, item: unknown) => unknown;
}

/** Items of a set are their own names. */
export const setNames: ItemNames = {
  id: (item) => (typeof item === 'object' ? valueElement(item) : item),
  element: valueElement,
  problem(item) {
    if (item === null) return "associative list without keys has an element that's an explicit null";
    if (typeof item !== 'object') return undefined;
    return Array.isArray(item)
      ? 'not supported: associative list with lists as elements'
      : "associative list without keys has an element that's a map type";
  },
  named: (pruned) => pruned,
};

/** Items of a list with keys are named by the values of those. */
export function keyNames(listKeys: readonly ListKey[]): ItemNames {
  const keys = [...listKeys].sort((a, b) => (a.name < b.name ? -1 : 1));
  const [only] = keys;
  const element = (item: unknown): string => keyElement(keys.map((key) => [key.name, valueOf(item, key)]));
  const idOfOne = (key: ListKey) => (item: unknown) => {
    const value = valueOf(item, key);
    return typeof value === 'object' ? element(item) : value;
  };
  return {
    id: only !== undefined && keys.length === 1 ? idOfOne(only) : element,
    element,
    problem: (item) => problemOf(item, listKeys),
    named: (pruned, item) => withKeys(pruned, item, keys),
  };
}

function valueOf(item: unknown, { name, default: byDefault, zero }: ListKey): unknown {
  const value = isJsonObject(item) ? getOwn(item, name) : undefined;
  return value ?? byDefault ?? zero;
}

function problemOf(item: unknown, keys: readonly ListKey[]): string | undefined {
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements';
  const missing = keys.find((key) => !Object.hasOwn(item, key.name) && key.default === undefined);
  if (missing === undefined) return undefined;
  const name = JSON.stringify(missing.name);
  return `associative list with keys has an element that omits key field ${name} (and doesn't have default value)`;
}

/** Whoever takes fields out of an item does not make another item of it. */
function withKeys(pruned: unknown, item: unknown, keys: readonly ListKey[]): unknown {
  if (!isJsonObject(item)) return pruned;
  const out: Record<string, unknown> = isJsonObject(pruned) ? { ...pruned } : {};
  for (const { name } of keys) {
    const value = getOwn(item, name);
    if (value !== undefined) setOwn(out, name, value);
  }
  return out;
}
