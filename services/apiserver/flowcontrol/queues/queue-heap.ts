/** An entry of a heap. */
export interface HeapItem {
  /** Where it stands in its heap; -1 when it is in none. Written by the heap only. */
  place: number;
}

/** The least of its items at hand; a change costs O(log n). */
export class Heap<T extends HeapItem> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get top(): T | undefined {
    return this.#items[0];
  }

  /** Puts an item in, or moves it to where it belongs after it has changed. */
  settle(item: T): void {
    if (item.place < 0) {
      item.place = this.#items.length;
      this.#items.push(item);
    }
    this.#up(item);
    this.#down(item);
  }

  /** Does nothing to an item that is not in. */
  remove(item: T): void {
    if (item.place < 0) return;
    const at = item.place;
    item.place = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, at);
    this.#up(last);
    this.#down(last);
  }

  #put(item: T, at: number): void {
    item.place = at;
    this.#items[at] = item;
  }

  #up(item: T): void {
    let at = item.place;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || !this.#before(item, parent)) break;
      this.#put(parent, at);
      at = above;
    }
    this.#put(item, at);
  }

  #down(item: T): void {
    let at = item.place;
    for (;;) {
      const child = this.#lesserChild(at);
      if (child === undefined || !this.#before(child, item)) break;
      const below = child.place;
      this.#put(child, at);
      at = below;
    }
    this.#put(item, at);
  }

  #lesserChild(at: number): T | undefined {
    const left = this.#items[2 * at + 1];
    const right = this.#items[2 * at + 2];
    return left !== undefined && right !== undefined && this.#before(right, left) ? right : left;
  }
}
