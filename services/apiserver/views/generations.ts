/**
 * Values made of objects, kept for as long as the objects are and at most about twice as many as one generation takes:
 * when the young one is full it becomes the old one, and what nobody asked for since the last time is forgotten.
 */
export class Generations<K extends object, V> {
  readonly #max: number;
  #young = new WeakMap<K, V>();
  #old = new WeakMap<K, V>();
  #size = 0;

  /** @param max Sum of the sizes in one generation. */
  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V, size: number): void {
    if (this.#size + size > this.#max) {
      this.#old = this.#young;
      this.#young = new WeakMap<K, V>();
      this.#size = 0;
    }
    this.#young.set(key, value);
    this.#size += size;
  }
}
