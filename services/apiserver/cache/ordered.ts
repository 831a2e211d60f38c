import type { CachedObject } from './cached-object.js';
import { GenerationBudget, Generations } from './generations.js';

/** Half of it is left in each part when a leaf splits. 64 objects of 1 KB make a leaf's list bytes one good write. */
const LEAF_MAX = 64;
/** Filters whose answers a leaf keeps; one more starts afresh. */
const KEPT_FILTERS_MAX = 4;
/** Items above this are not joined: with large objects the copy would double the memory. */
const KEPT_ITEMS_MAX_BYTES = 256 * 1024;

/** Some neighbours in key order. Never changed once a snapshot may hold it; see `owner`. */
interface Leaf {
  objects: CachedObject[];
  /** Only the tree with this mark may change the leaf in place. */
  owner: object;
}

/**
 * List items of a leaf joined by commas: of those that a filter lets through by the filter's id, of all by ''. Filters
 * come again more often than objects change.
 */
export type Joined = ReadonlyMap<string, Buffer>;

export const joinedIn = (budget: GenerationBudget): Generations<object, Joined> =>
  new Generations((joined) => [...joined.values()].reduce((sum, items) => sum + items.length, 0), budget);

/**
 * Of all resources. A list of 5,000 objects of 1 KB is written in a third of the time when its leaves are joined
 * already;
 * 16 MB are three of those.
 */
const JOINED = joinedIn(new GenerationBudget({ maxBytes: 16 << 20, turnMs: 60_000 }));

/** Tells which objects a list shows. Equal ids mean equal answers. */
export interface ObjectFilter {
  readonly id: string;
  /** It asks for one name: nothing else of most objects is looked at. */
  readonly byName?: boolean;
  matches(object: CachedObject): boolean;
}

/** A read-only state of the collection. Costs nothing to hold but the memory of what has changed since. */
export interface Snapshot {
  readonly size: number;
  /** Objects with `from` <= key < `to`, in order. '' as `to` means no end. */
  between(from: string, to: string): Iterable<CachedObject>;
  /** Those in whose neighbourhood nothing is kept of what the filter lets through: `items` has to ask it about them. */
  unlisted(from: string, to: string, filter: ObjectFilter): Iterable<CachedObject>;
  /** How many there are. O(log n) after one pass over the leaves. */
  count(from: string, to: string): number;
  /** The key that `n` keys lie before, counted from `from`; undefined when there are not that many. O(log n). */
  keyAfter(from: string, n: number): string | undefined;
  /**
   * Their list items, each with a comma in front, in pieces: the caller may do other work between two. The
   * pieces are shared: do not write to them. With a filter, those that it lets through; O(leaves) when it was asked
   * before, but for the leaves that changed since.
   */
  items(from: string, to: string, filter?: ObjectFilter): Iterable<Buffer>;
}

/**
 * Objects in key order with copy-on-write snapshots: two levels, an array of leaves. A change costs a search and a
 * splice of 64; the first change after a snapshot also copies the array of leaves (n / 64 pointers) and one leaf.
 */
export class OrderedObjects implements Snapshot {
  readonly #joined: Generations<object, Joined>;
  #leaves: Leaf[] = [];
  #owner: object = {};
  #rootShared = false;
  #size = 0;
  /** Number of objects before each leaf; undefined after a change of size. */
  #before: number[] | undefined;

  /** @param joined Where list items are kept. */
  constructor(joined: Generations<object, Joined> = JOINED) {
    this.#joined = joined;
  }

  get size(): number {
    return this.#size;
  }

  /** The present state, unaffected by later changes. */
  snapshot(): Snapshot {
    const copy = new OrderedObjects(this.#joined);
    copy.#leaves = this.#leaves;
    copy.#size = this.#size;
    copy.#before = this.#before;
    this.#rootShared = true;
    this.#owner = {}; // leaves made before now are shared: the next change copies them
    return copy;
  }

  /** Puts the object at its key, in place of what was there. */
  set(object: CachedObject): void {
    const at = this.#leafFor(object.key);
    if (at < 0) {
      this.#ownRoot();
      this.#leaves.push({ objects: [object], owner: this.#owner });
      this.#grown(1);
      return;
    }
    const leaf = this.#ownLeaf(at);
    const i = lowerBound(leaf.objects, object.key);
    if (leaf.objects[i]?.key === object.key) {
      leaf.objects[i] = object;
      return;
    }
    leaf.objects.splice(i, 0, object);
    this.#grown(1);
    if (leaf.objects.length > LEAF_MAX) this.#split(at, leaf);
  }

  delete(key: string): boolean {
    const at = this.#leafFor(key);
    const found = at < 0 ? undefined : this.#leaves[at];
    if (found === undefined || found.objects[lowerBound(found.objects, key)]?.key !== key) return false;
    const leaf = this.#ownLeaf(at);
    leaf.objects.splice(lowerBound(leaf.objects, key), 1);
    if (leaf.objects.length === 0) this.#leaves.splice(at, 1);
    this.#grown(-1);
    return true;
  }

  *between(from: string, to: string): Generator<CachedObject> {
    const leaves = this.#leaves; // a change during the iteration replaces the array or is the caller's own doing
    for (let l = Math.max(0, this.#leafFor(from)); l < leaves.length; l++) {
      const objects = leaves[l]?.objects ?? [];
      for (let i = lowerBound(objects, from); i < objects.length; i++) {
        const object = objects[i];
        if (object === undefined || (to !== '' && object.key >= to)) return;
        yield object;
      }
    }
  }

  *unlisted(from: string, to: string, filter: ObjectFilter): Generator<CachedObject> {
    for (let l = Math.max(0, this.#leafFor(from)); l < this.#leaves.length; l++) {
      const leaf = this.#leaves[l];
      if (leaf === undefined || (to !== '' && (leaf.objects[0]?.key ?? '') >= to)) return;
      if (this.#joined.get(leaf)?.has(filter.id) === true) continue;
      for (const object of leaf.objects) if (object.key >= from && (to === '' || object.key < to)) yield object;
    }
  }

  count(from: string, to: string): number {
    return (to === '' ? this.#size : this.#rank(to)) - this.#rank(from);
  }

  keyAfter(from: string, n: number): string | undefined {
    let rank = this.#rank(from) + n;
    this.#before ??= runningTotals(this.#leaves);
    const leaf = lastNotAbove(this.#before, rank);
    rank -= this.#before[leaf] ?? 0;
    return this.#leaves[leaf]?.objects[rank]?.key;
  }

  *items(from: string, to: string, filter?: ObjectFilter): Generator<Buffer, void> {
    const leaves = this.#leaves;
    for (let l = Math.max(0, this.#leafFor(from)); l < leaves.length; l++) {
      const leaf = leaves[l];
      if (leaf === undefined) break;
      const lo = lowerBound(leaf.objects, from);
      const hi = to === '' ? leaf.objects.length : lowerBound(leaf.objects, to);
      const whole = lo === 0 && hi === leaf.objects.length;
      const kept = whole ? this.#leafItems(leaf, filter) : undefined;
      if (kept === undefined) yield* listItems(matching(whole ? leaf.objects : leaf.objects.slice(lo, hi), filter));
      else if (kept.length > 0) yield kept;
      if (hi < leaf.objects.length) break;
    }
  }

  /** undefined: they are too long to be joined and kept. */
  #leafItems(leaf: Leaf, filter: ObjectFilter | undefined): Buffer | undefined {
    const id = filter?.id ?? '';
    const joined = this.#joined.get(leaf);
    const kept = joined?.get(id);
    if (kept !== undefined) return kept;
    const objects = matching(leaf.objects, filter);
    if (lengthOf(objects) > KEPT_ITEMS_MAX_BYTES) return undefined;
    const items = joinItems(objects);
    const others = joined === undefined || joined.size > KEPT_FILTERS_MAX ? [] : joined;
    this.#joined.set(leaf, new Map([...others, [id, items]]));
    return items;
  }

  /** How many keys are below `key`. */
  #rank(key: string): number {
    const at = this.#leafFor(key);
    const leaf = this.#leaves[at];
    if (leaf === undefined) return 0;
    this.#before ??= runningTotals(this.#leaves);
    return (this.#before[at] ?? 0) + lowerBound(leaf.objects, key);
  }

  /** The last leaf whose first key is not above `key`; the first leaf when all are; -1 when there is none. */
  #leafFor(key: string): number {
    let lo = 0;
    let hi = this.#leaves.length;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      const first = this.#leaves[mid]?.objects[0];
      if (first !== undefined && first.key <= key) lo = mid + 1;
      else hi = mid;
    }
    return this.#leaves.length === 0 ? -1 : Math.max(0, lo - 1);
  }

  #ownRoot(): void {
    if (!this.#rootShared) return;
    this.#leaves = this.#leaves.slice();
    this.#rootShared = false;
  }

  #ownLeaf(at: number): Leaf {
    this.#ownRoot();
    const leaf = this.#leaves[at] as Leaf; // callers took `at` from #leafFor
    if (leaf.owner === this.#owner) {
      this.#joined.delete(leaf);
      return leaf;
    }
    const own: Leaf = { objects: leaf.objects.slice(), owner: this.#owner };
    this.#leaves[at] = own;
    return own;
  }

  #split(at: number, leaf: Leaf): void {
    // Keys often come in rising order: a full last leaf stays nearly full instead of being halved.
    const last = at === this.#leaves.length - 1;
    const right = leaf.objects.splice(last ? LEAF_MAX : LEAF_MAX / 2);
    this.#leaves.splice(at + 1, 0, { objects: right, owner: this.#owner });
  }

  #grown(by: number): void {
    this.#size += by;
    this.#before = undefined;
  }
}

const matching = (objects: readonly CachedObject[], filter: ObjectFilter | undefined): readonly CachedObject[] =>
  filter === undefined ? objects : objects.filter((o) => filter.matches(o));

function lowerBound(objects: readonly CachedObject[], key: string): number {
  let lo = 0;
  let hi = objects.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if ((objects[mid]?.key ?? '') < key) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Index of the last number that is not above `n`; 0 when all are. */
function lastNotAbove(rising: readonly number[], n: number): number {
  let lo = 0;
  let hi = rising.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if ((rising[mid] ?? Infinity) <= n) lo = mid + 1;
    else hi = mid;
  }
  return Math.max(0, lo - 1);
}

function runningTotals(leaves: readonly Leaf[]): number[] {
  let total = 0;
  return leaves.map(({ objects }) => {
    const before = total;
    total += objects.length;
    return before;
  });
}

const EMPTY = Buffer.alloc(0);
/** The bytes before the metadata of a list item. */
const ITEM_START = Buffer.from(',{');

/** Of the list items of objects, joined. */
function lengthOf(objects: readonly CachedObject[]): number {
  let size = 0;
  for (const o of objects) size += ITEM_START.length + o.bytes.length - o.layout.itemStart;
  return size;
}

/**
 * `,{"metadata":…},{"metadata":…}`: the objects without kind and apiVersion, as they stand in a list. With the comma in
 * front pieces follow each other as they are; a list drops the first.
 */
function joinItems(objects: readonly CachedObject[]): Buffer {
  if (objects.length === 0) return EMPTY;
  const out = Buffer.allocUnsafeSlow(lengthOf(objects)); // kept with the leaf: not from the shared pool
  let at = 0;
  for (const o of objects) {
    at += ITEM_START.copy(out, at);
    at += o.bytes.copy(out, at, o.layout.itemStart);
  }
  return out;
}

/** The same in pieces, of which none is a copy. */
export function* listItems(objects: Iterable<CachedObject>): Generator<Buffer, void> {
  for (const { bytes, layout } of objects) {
    yield ITEM_START;
    yield bytes.subarray(layout.itemStart);
  }
}
