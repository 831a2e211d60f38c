import type { CachedObject } from './cached-object.js';

/** Half of it is left in each part when a leaf splits. 64 objects of 1 KB make a leaf's list bytes one good write. */
const LEAF_MAX = 64;
/** Filters whose answers a leaf keeps; one more starts afresh. */
const KEPT_FILTERS_MAX = 4;
/** Joined items above this are made again for each list: with large objects the copy would double the memory. */
const KEPT_ITEMS_MAX_BYTES = 256 * 1024;

/** Some neighbours in key order. Never changed once a snapshot may hold it; see `owner`. */
interface Leaf {
  objects: CachedObject[];
  /** Their list items joined by commas, once somebody listed them whole. */
  items: Buffer | undefined;
  /** Items of those that some filters let through, by the filter's id; filters come again more often than objects change. */
  matching: Map<string, Buffer> | undefined;
  /** Only the tree with this mark may change the leaf in place. */
  owner: object;
}

/** Tells which objects a list shows. Equal ids mean equal answers. */
export interface ObjectFilter {
  readonly id: string;
  matches(object: CachedObject): boolean;
}

/** A read-only state of the collection. Costs nothing to hold but the memory of what has changed since. */
export interface Snapshot {
  readonly size: number;
  /** Objects with `from` <= key < `to`, in order. '' as `to` means no end. */
  between(from: string, to: string): Iterable<CachedObject>;
  /** How many there are. O(log n) after one pass over the leaves. */
  count(from: string, to: string): number;
  /** The key that `n` keys lie before, counted from `from`; undefined when there are not that many. O(log n). */
  keyAfter(from: string, n: number): string | undefined;
  /**
   * Their list items, each with a comma in front, in pieces. The pieces are shared: do not write to them. With a filter, those that it lets through; O(leaves) when it was asked before, but for the leaves that changed since.
   */
  items(from: string, to: string, filter?: ObjectFilter): Buffer[];
}

/**
 * Objects in key order with copy-on-write snapshots: two levels, an array of leaves. A change costs a search and a
 * splice of 64; the first change after a snapshot also copies the array of leaves (n / 64 pointers) and one leaf.
 */
export class OrderedObjects implements Snapshot {
  #leaves: Leaf[] = [];
  #owner: object = {};
  #rootShared = false;
  #size = 0;
  /** Number of objects before each leaf; undefined after a change of size. */
  #before: number[] | undefined;

  get size(): number {
    return this.#size;
  }

  /** The present state, unaffected by later changes. */
  snapshot(): Snapshot {
    const copy = new OrderedObjects();
    copy.#leaves = this.#leaves;
    copy.#size = this.#size;
    copy.#before = this.#before;
    this.#rootShared = true;
    this.#owner = {}; // leaves made before now belong to nobody: the next change copies them
    return copy;
  }

  /** Puts the object at its key, in place of what was there. */
  set(object: CachedObject): void {
    const at = this.#leafFor(object.key);
    if (at < 0) {
      this.#ownRoot();
      this.#leaves.push({ objects: [object], items: undefined, matching: undefined, owner: this.#owner });
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

  items(from: string, to: string, filter?: ObjectFilter): Buffer[] {
    const pieces: Buffer[] = [];
    for (let l = Math.max(0, this.#leafFor(from)); l < this.#leaves.length; l++) {
      const leaf = this.#leaves[l];
      if (leaf === undefined) break;
      const lo = lowerBound(leaf.objects, from);
      const hi = to === '' ? leaf.objects.length : lowerBound(leaf.objects, to);
      const whole = lo === 0 && hi === leaf.objects.length;
      const piece = whole ? leafItems(leaf, filter) : joinMatching(leaf.objects.slice(lo, hi), filter);
      if (piece.length > 0) pieces.push(piece);
      if (hi < leaf.objects.length) break;
    }
    return pieces;
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
      leaf.items = undefined;
      leaf.matching = undefined;
      return leaf;
    }
    const own: Leaf = { objects: leaf.objects.slice(), items: undefined, matching: undefined, owner: this.#owner };
    this.#leaves[at] = own;
    return own;
  }

  #split(at: number, leaf: Leaf): void {
    // Keys often come in rising order: a full last leaf stays nearly full instead of being halved.
    const last = at === this.#leaves.length - 1;
    const right = leaf.objects.splice(last ? LEAF_MAX : LEAF_MAX / 2);
    this.#leaves.splice(at + 1, 0, { objects: right, items: undefined, matching: undefined, owner: this.#owner });
  }

  #grown(by: number): void {
    this.#size += by;
    this.#before = undefined;
  }
}

function leafItems(leaf: Leaf, filter: ObjectFilter | undefined): Buffer {
  const kept = filter === undefined ? leaf.items : leaf.matching?.get(filter.id);
  if (kept !== undefined) return kept;
  const items = joinMatching(leaf.objects, filter);
  if (items.length > KEPT_ITEMS_MAX_BYTES) return items;
  if (filter === undefined) return (leaf.items = items);
  if (leaf.matching === undefined || leaf.matching.size >= KEPT_FILTERS_MAX) leaf.matching = new Map<string, Buffer>();
  leaf.matching.set(filter.id, items);
  return items;
}

const joinMatching = (objects: readonly CachedObject[], filter: ObjectFilter | undefined): Buffer =>
  joinItems(filter === undefined ? objects : objects.filter((o) => filter.matches(o)));

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

/**
 * `,{"metadata":…},{"metadata":…}`: the objects without kind and apiVersion, as they stand in a list. With the comma in
 * front pieces follow each other as they are; a list drops the first.
 */
export function joinItems(objects: readonly CachedObject[]): Buffer {
  if (objects.length === 0) return EMPTY;
  let size = 0;
  for (const o of objects) size += 2 + o.bytes.length - o.layout.itemStart;
  const out = Buffer.allocUnsafeSlow(size); // kept with the leaf: not from the shared pool
  let at = 0;
  for (const o of objects) {
    out[at++] = 0x2c; // ,
    out[at++] = 0x7b; // {
    at += o.bytes.copy(out, at, o.layout.itemStart);
  }
  return out;
}
