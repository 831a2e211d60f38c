/** Numbers that follow from a seed, so that a run can be had again. */
export interface Random {
  /** 0 to 1, without 1. */
  next(): number;
  /** A whole number, 0 to `count` - 1. */
  below(count: number): number;
  /** One of them. @throws {RangeError} when there are none */
  pick<T>(items: readonly T[]): T;
  /** By weights: the more, the likelier. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T;
  /** Another sequence, which does not depend on how much is taken from this one later. */
  fork(): Random;
}

const TWO_32 = 2 ** 32;

/** SplitMix with 32 bits of state (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
class SplitMix implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / TWO_32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('There is nothing to pick from');
    return items[this.below(items.length)] as T; // within its length
  }

  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][]; // the keys of a record of T
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries.at(-1);
    if (found === undefined) throw new RangeError('There is nothing to pick from');
    return found[0];
  }

  fork(): Random {
    return new SplitMix(Math.floor(this.next() * TWO_32));
  }
}

export const randomOf = (seed: number): Random => new SplitMix(seed);
