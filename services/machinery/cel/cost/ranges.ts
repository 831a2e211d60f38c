/** As much as counts: more than that is no more. */
export const MOST = 2 ** 64;

/** How long a text, a list or a map may be at least and at most. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const fixed = (size: number): Range => ({ min: size, max: size });
export const ANY_SIZE: Range = { min: 0, max: MOST };

export const plus = (a: number, b: number): number => Math.min(MOST, a + b);
export const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.min(MOST, a * b));

/** A part of a size, rounded up: what is paid for looking at each character, say. */
export const share = (size: number, factor: number): number => Math.min(MOST, Math.ceil(size * factor));

const both =
  (of: (a: number, b: number) => number) =>
  (a: Range, b: Range): Range => ({ min: of(a.min, b.min), max: of(a.max, b.max) });

export const added = both(plus);
export const multiplied = both(times);

/** As long as either. */
export const either = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

/** What accessing, making and reading costs, in steps of some 50 ns. */
export const COSTS = {
  access: 1,
  list: 10,
  map: 30,
  struct: 40,
  /** For each character of a text. */
  character: 0.1,
  /** For each character of a regular expression: four of them are a state or so. */
  pattern: 0.25,
} as const;
