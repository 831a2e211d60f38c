/** The index of the first that is greater than `limit` in a list that rises by `of`; its length when there is none. */
export function firstAbove<T>(items: readonly T[], limit: number, of: (item: T) => number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(items[middle] as T) > limit)
      high = middle; // between low and high
    else low = middle + 1;
  }
  return low;
}

/** What was known at a time: the greatest version of all that came before. */
export class Highest {
  readonly #at: number[] = [];
  readonly #highest: number[] = [];

  /** @param known In any order. */
  constructor(known: readonly { readonly at: number; readonly rv: number }[]) {
    let highest = 0;
    for (const { at, rv } of [...known].sort((a, b) => a.at - b.at)) {
      highest = Math.max(highest, rv);
      this.#at.push(at);
      this.#highest.push(highest);
    }
  }

  /** Of what came before `time`, not at it. 0: nothing did. */
  before(time: number): number {
    let low = 0;
    let high = this.#at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#at[middle] ?? Infinity) >= time) high = middle;
      else low = middle + 1;
    }
    return this.#highest[low - 1] ?? 0;
  }
}

/** The state that holds at a version: the last one that is not later. */
export function stateAt<T extends { readonly rv: number }>(states: readonly T[], rv: number): T | undefined {
  return states[firstAbove(states, rv, (it) => it.rv) - 1];
}
