import { getOwn, isJsonObject, setOwn } from '../meta/own.js';
import {
  inOrder,
  isLeaf,
  isMember,
  LEAF,
  mapChildren,
  SELF,
  type FieldsTree,
  type TreeDraft,
  printElement,
  keyElement,
  valueElement,
} from './fields-tree.js';
import { mergeLists } from './merge-lists.js';
import type { ListKey } from './shape.js';
import {
  diffLeaves,
  diffMembers,
  isKept,
  pruningOf,
  NotApplicable,
  type Difference,
  type Pruning,
  type Steps,
  type Walker,
} from './walker.js';

type List = readonly unknown[];
const NONE: List = [];
const listOf = (value: unknown): List => (Array.isArray(value) ? value : NONE);

/**
 * Items with one name on the two sides. More than one on a side: written before the list had names, or not validated.
 */
interface Group {
  readonly before: unknown[];
  readonly after: unknown[];
}

/** Lists whose items have owners of their own. */
export class ListWalker implements Walker {
  readonly #names: ItemNames;
  readonly #items: Walker;

  constructor(names: ItemNames, items: Walker) {
    this.#names = names;
    this.#items = items;
  }

  diff(before: unknown, after: unknown, out: Difference): void {
    const left = listOf(before);
    const right = listOf(after);
    if (left.length === 0 && right.length === 0) diffLeaves(before, after, out);
    else if (!this.#isInStep(left, right) || !this.#diffInStep(left, right, out)) this.#diffGroups(left, right, out);
  }

  #isInStep(left: List, right: List): boolean {
    if (left.length !== right.length) return false;
    const { id } = this.#names;
    return left.every((item, i) => item === right[i] || id(item) === id(right[i]));
  }

  /** The usual case: the same names in the same order. False when items share a name. */
  #diffInStep(left: List, right: List, out: Difference): boolean {
    const changed: TreeDraft = {};
    const removed: TreeDraft = {};
    let differs = false;
    for (let i = 0; i < left.length; i++) {
      const item = right[i];
      diffMembers(this.#items, left[i], item, out);
      if (out.changed === undefined && out.removed === undefined) continue;
      differs = true;
      const element = this.#names.element(item);
      if (out.changed !== undefined) changed[element] = out.changed;
      if (out.removed !== undefined) removed[element] = out.removed;
    }
    if (differs && left.length > 1 && new Set(left.map(this.#names.id)).size < left.length) return false;
    setTrees(out, changed, removed);
    return true;
  }

  #diffGroups(left: List, right: List, out: Difference): void {
    const groups = new Map<unknown, Group>();
    const groupOf = (item: unknown): Group => {
      const id = this.#names.id(item);
      let group = groups.get(id);
      if (group === undefined) groups.set(id, (group = { before: [], after: [] }));
      return group;
    };
    for (const item of left) groupOf(item).before.push(item);
    for (const item of right) groupOf(item).after.push(item);
    const changed: TreeDraft = {};
    const removed: TreeDraft = {};
    for (const group of groups.values()) {
      this.#diffGroup(group, out);
      if (out.changed === undefined && out.removed === undefined) continue;
      const element = this.#names.element(group.before[0] ?? group.after[0]);
      if (out.changed !== undefined) changed[element] = out.changed;
      if (out.removed !== undefined) removed[element] = out.removed;
    }
    setTrees(out, changed, removed);
  }

  /** Items that share a name are one atomic thing under that name, with no owners inside. */
  #diffGroup({ before, after }: Group, out: Difference): void {
    const wasMany = before.length > 1;
    const isMany = after.length > 1;
    if (wasMany && isMany) {
      out.changed = out.removed = undefined;
      diffLeaves(before, after, out);
      return;
    }
    diffMembers(this.#items, wasMany ? undefined : before[0], isMany ? undefined : after[0], out);
    if (wasMany) out.removed = LEAF;
    if (isMany) out.changed = LEAF;
  }

  fields(value: unknown, isItem: boolean, applied: Steps | undefined): FieldsTree | undefined {
    if (!Array.isArray(value)) return LEAF;
    if (value.length === 0) return isItem ? LEAF : undefined;
    const out: TreeDraft = isItem ? { [SELF]: LEAF } : {};
    (value as List).forEach((item, i) => {
      if (applied !== undefined) this.#refuse(item, i, applied);
      const element = this.#names.element(item);
      if (out[element] === undefined) {
        applied?.push(element);
        out[element] = this.#items.fields(item, true, applied) ?? LEAF;
        applied?.pop();
      } else if (applied === undefined) {
        out[element] = LEAF;
      } else {
        throw new NotApplicable(applied, `duplicate entries for key ${printElement(element)}`);
      }
    });
    return inOrder(out);
  }

  #refuse(item: unknown, index: number, applied: Steps): void {
    const problem = this.#names.problem(item);
    if (problem !== undefined) throw new NotApplicable(applied, `element ${index}: ${problem}`);
  }

  /** An empty or null configuration leaves a list as it is. */
  merge(live: unknown, config: unknown): unknown {
    if (!Array.isArray(live)) return config;
    if (!Array.isArray(config)) return config === null && live.length > 0 ? live : config;
    if (config.length === 0 && live.length > 0) return live;
    const merged = mergeLists(live, config, this.#names.id, (was, is) => this.#items.merge(was, is));
    const isSame = merged.length === live.length && merged.every((item, i) => item === live[i]);
    return isSame ? live : merged;
  }

  prune(value: unknown, pruning: Pruning): unknown {
    if (!Array.isArray(value)) return value;
    const left: unknown[] = [];
    let isSame = true;
    for (const item of value as List) {
      const after = this.#prunedItem(item, pruning);
      isSame &&= after === item;
      if (after !== undefined) left.push(after);
    }
    if (isSame) return value;
    return left.length === 0 && !isKept(pruning) ? undefined : left;
  }

  #prunedItem(item: unknown, pruning: Pruning): unknown {
    const element = this.#names.element(item);
    const below = pruningOf(pruning, element);
    if (below === undefined) return item;
    if (isMember(below.dropped) && !isKept(below)) return undefined;
    const left = isLeaf(below.dropped) ? item : this.#items.prune(item, below);
    return left === item ? item : this.#names.named(left, item);
  }

  lift(tree: FieldsTree): FieldsTree {
    return mapChildren(tree, (_element, child) => this.#items.lift(child));
  }
}

function setTrees(out: Difference, changed: TreeDraft, removed: TreeDraft): void {
  out.changed = isLeaf(changed) ? undefined : inOrder(changed);
  out.removed = isLeaf(removed) ? undefined : inOrder(removed);
}

/** How the items of a list are told apart. */
interface ItemNames {
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

/** Keys are put back into an item whose fields were taken out: it stays the same item. */
function withKeys(pruned: unknown, item: unknown, keys: readonly ListKey[]): unknown {
  if (!isJsonObject(item)) return pruned;
  const out: Record<string, unknown> = isJsonObject(pruned) ? { ...pruned } : {};
  for (const { name } of keys) {
    const value = getOwn(item, name);
    if (value !== undefined) setOwn(out, name, value);
  }
  return out;
}
