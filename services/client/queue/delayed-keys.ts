interface Delayed {
  readonly key: string;
  readonly atMs: number;
}

/** setTimeout takes no longer ones. */
const MOST_MS = 2 ** 31 - 1;

/** Keys that are due at a time each, under one timer. Of two times of a key the sooner counts. */
export class DelayedKeys {
  readonly #due: (key: string) => void;
  readonly #now: () => number;
  readonly #times = new Map<string, number>();
  /** A binary heap by time. What is not the time of its key any more is passed over. */
  #heap: Delayed[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  /** @param now Milliseconds that only rise. */
  constructor(due: (key: string) => void, now: () => number) {
    this.#due = due;
    this.#now = now;
  }

  get size(): number {
    return this.#times.size;
  }

  add(key: string, ms: number): void {
    const atMs = this.#now() + ms;
    if ((this.#times.get(key) ?? Infinity) <= atMs) return;
    this.#times.set(key, atMs);
    if (this.#heap.length > 2 * this.#times.size + 64) this.#sweep();
    push(this.#heap, { key, atMs });
    this.#wind();
  }

  clear(): void {
    this.#times.clear();
    this.#heap = [];
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
  }

  /** Leaves out what was replaced by a sooner time; a sorted array is a heap. */
  #sweep(): void {
    this.#heap = this.#heap.filter(({ key, atMs }) => this.#times.get(key) === atMs).sort((a, b) => a.atMs - b.atMs);
  }

  #wind(): void {
    const next = this.#heap[0]?.atMs ?? Infinity;
    if (next >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = next;
    const ms = Math.min(MOST_MS, Math.max(0, Math.ceil(next - this.#now())));
    this.#timer = setTimeout(() => this.#fire(), ms);
  }

  #fire(): void {
    this.#timerAt = Infinity;
    const now = this.#now();
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= now; first = this.#heap[0]) {
      pop(this.#heap);
      if (this.#times.get(first.key) !== first.atMs) continue;
      this.#times.delete(first.key);
      this.#due(first.key);
    }
    this.#wind();
  }
}

function push(heap: Delayed[], one: Delayed): void {
  let i = heap.length;
  heap.push(one);
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above.atMs <= one.atMs) break;
    heap[i] = above;
    i = parent;
  }
  heap[i] = one;
}

function pop(heap: Delayed[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let i = 0;
  for (;;) {
    const left = 2 * i + 1;
    const right = heap[left + 1];
    const child = right !== undefined && right.atMs < (heap[left]?.atMs ?? Infinity) ? left + 1 : left;
    const below = heap[child];
    if (below === undefined || below.atMs >= last.atMs) break;
    heap[i] = below;
    i = child;
  }
  heap[i] = last;
}
