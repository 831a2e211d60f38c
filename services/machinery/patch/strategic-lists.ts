import { getOwn, isJsonObject } from '../meta/own.js';
import type { Json, JsonObject } from '../meta/object.js';
import { refused } from './strategic-errors.js';

type List = readonly Json[];

/** The identity of an item: the item itself, or its member of that name. */
type KeyOf = (item: Json) => Json;

/** The rest of a merge, as merging lists sees it. */
export interface ListMerge {
  readonly mergeKey: string | undefined;
  /** An item with what a patch says about it; undefined: there is no such item yet. */
  readonly mergedItem: (before: JsonObject | undefined, patch: JsonObject) => Json;
  /** Counts the items gone through. @throws {StatusError} when there are too many. */
  readonly spend: (items: number) => void;
}

export const DIRECTIVE = '$patch';

const isObject = (value: Json | undefined): value is JsonObject => isJsonObject(value);
const itself: KeyOf = (item) => item;

function keyFrom(mergeKey: string): KeyOf {
  return (item) => {
    if (!isObject(item)) throw refused.notAMap(item);
    const key = getOwn(item, mergeKey) as Json | undefined;
    if (key === undefined || key === null || typeof key === 'object') throw refused.noMergeKey(item, mergeKey);
    return key;
  };
}

/** How items of these lists are told apart: all of them are objects with that key, or all are scalars of one type. */
function keyFor(mergeKey: string | undefined, ...lists: readonly List[]): KeyOf {
  let kind: string | undefined;
  for (const list of lists) {
    for (const item of list) {
      if (Array.isArray(item)) throw refused.listOfLists();
      const its = item === null ? 'null' : typeof item;
      kind ??= its;
      if (its !== kind) throw refused.mixedList(lists);
    }
  }
  if (kind !== 'object') return itself;
  if (mergeKey === undefined) throw refused.noKeyDeclared();
  return keyFrom(mergeKey);
}

/**
 * A list that is merged by its declaration, and not replaced. Items of the patch come in the patch's order; those that
 * only `before` has keep their places among them as far as that can be.
 *
 * @param before Undefined: there was no list. Then items need no key, and are not compared with each other.
 */
export function mergedList(before: List | undefined, patch: List, merge: ListMerge): List {
  if (before === undefined) return newList(patch, merge);
  if (patch.length === 0) return before;
  merge.spend(before.length + patch.length);
  const keyOf = keyFor(merge.mergeKey, before, patch);
  if (keyOf === itself) return orSame(before, ordered([...new Set([...before, ...patch])], patch, before, itself));
  const { kept, items, isReplaced } = directed(before, patch, keyOf);
  if (isReplaced) return items.map((item) => merge.mergedItem(undefined, item));
  return orSame(before, ordered(withItems(kept, items, keyOf, merge), items.map(keyOf), kept.map(keyOf), keyOf));
}

/** An unchanged list is the same list, so that the object around it stays the same, too. */
const orSame = (before: List, after: List): List =>
  after.length === before.length && after.every((item, i) => item === before[i]) ? before : after;

function newList(patch: List, { mergedItem }: ListMerge): List {
  if (!patch.some(isObject)) return patch;
  const items = patch.filter((item) => !isObject(item) || directiveOf(item) === undefined);
  return items.map((item) => (isObject(item) ? mergedItem(undefined, item) : item));
}

/** The directive of an item of a list, which says what becomes of others. */
function directiveOf(item: JsonObject): 'delete' | 'replace' | undefined {
  const directive = getOwn(item, DIRECTIVE) as Json | undefined;
  if (directive === undefined || directive === 'delete' || directive === 'replace') return directive;
  throw directive === 'merge' ? refused.listMerge() : refused.directive(directive, item);
}

interface Directed {
  /** Items that the patch does not delete. */
  readonly kept: readonly JsonObject[];
  /** Items of the patch without a directive. */
  readonly items: readonly JsonObject[];
  /** Nothing stays but the patch's items. */
  readonly isReplaced: boolean;
}

function directed(before: List, patch: List, keyOf: KeyOf): Directed {
  const deleted = new Set<Json>();
  const items: JsonObject[] = [];
  let isReplaced = false;
  for (const item of patch as readonly JsonObject[]) {
    const directive = directiveOf(item);
    if (directive === undefined) items.push(item);
    else if (directive === 'replace') isReplaced = true;
    else deleted.add(keyOf(item));
  }
  const present = before as readonly JsonObject[]; // all items are objects, or there would be no merge key
  return {
    kept: deleted.size === 0 ? present : present.filter((item) => !deleted.has(keyOf(item))),
    items,
    isReplaced,
  };
}

/** Where several items have a key, the first one is meant. */
function withItems(kept: List, items: readonly JsonObject[], keyOf: KeyOf, { mergedItem }: ListMerge): List {
  const out = [...kept];
  const places = placesOf(kept.map(keyOf));
  for (const item of items) {
    const key = keyOf(item);
    const place = places.get(key);
    const present = place === undefined ? undefined : out[place];
    if (place !== undefined && isObject(present)) {
      out[place] = mergedItem(present, item);
    } else {
      places.set(key, out.length);
      out.push(mergedItem(undefined, item));
    }
  }
  return out;
}

const placesOf = (keys: List): Map<Json, number> => {
  const places = new Map<Json, number>();
  for (const [i, key] of keys.entries()) if (!places.has(key)) places.set(key, i);
  return places;
};

/**
 * Sorts items that `wanted` names by it, the others by `present`, and joins the two: an item of the others comes before
 * one that is named, if it did so in `present`.
 */
function ordered(items: List, wanted: List, present: List, keyOf: KeyOf): List {
  const wantedPlaces = placesOf(wanted);
  const presentPlaces = placesOf(present);
  if (isOrdered(items.map(keyOf), wanted, present, presentPlaces)) return items;
  const sorted = (list: List, places: ReadonlyMap<Json, number>): List => {
    const place = (item: Json): number => places.get(keyOf(item)) ?? places.size;
    return list.toSorted((a, b) => place(a) - place(b));
  };
  const named = sorted(
    items.filter((item) => wantedPlaces.has(keyOf(item))),
    wantedPlaces,
  );
  const others = sorted(
    items.filter((item) => !wantedPlaces.has(keyOf(item))),
    presentPlaces,
  );
  const out: Json[] = [];
  let next = 0;
  for (const item of named) {
    const place = presentPlaces.get(keyOf(item));
    for (let other = others[next]; other !== undefined && isBefore(presentPlaces.get(keyOf(other)), place);) {
      out.push(other);
      other = others[++next];
    }
    out.push(item);
  }
  return [...out, ...others.slice(next)];
}

/** The usual case: items stay where they are, and the patch names them in that order. */
function isOrdered(keys: List, wanted: List, present: List, places: ReadonlyMap<Json, number>): boolean {
  if (keys.length !== places.size || !keys.every((key, i) => key === present[i])) return false;
  let last = -1;
  return wanted.every((key) => {
    const place = places.get(key) ?? last; // what is not there has no place
    const isNext = place >= last;
    last = place;
    return isNext;
  });
}

const isBefore = (a: number | undefined, b: number | undefined): boolean => a !== undefined && b !== undefined && a < b;

/**
 * A list in the order that a directive wants: the items it names come in its order.
 *
 * @param before The list before the patch, and
 * @param patch what the patch says about it; undefined where there is none.
 * @returns Undefined: there is no list at all.
 * @throws {StatusError} when the patch's own order is another one.
 */
export function listInOrder(
  before: List | undefined,
  patch: List | undefined,
  order: List,
  merge: ListMerge,
): List | undefined {
  merge.spend(order.length + (before?.length ?? 0));
  const items = patch === undefined ? before : mergedList(before, patch, merge);
  if (patch !== undefined) refuseOtherOrder(patch, order, merge.mergeKey);
  if (items === undefined) return undefined;
  const keyOf = keyFor(merge.mergeKey, items, order);
  return orSame(before ?? items, ordered(items, order.map(keyOf), (before ?? items).map(keyOf), keyOf));
}

/** Items that the patch keeps have to be in the order as well, one after the other. */
function refuseOtherOrder(patch: List, order: List, mergeKey: string | undefined): void {
  if (order.length === 0) return;
  const items = patch.filter((item) => !isObject(item) || directiveOf(item) === undefined);
  const keyOf = keyFor(mergeKey, items, order);
  let next = 0;
  for (const item of order) {
    const due = items[next];
    if (due !== undefined && keyOf(due) === keyOf(item)) next++;
  }
  if (next < items.length) throw refused.orderMismatch(patch, order);
}
