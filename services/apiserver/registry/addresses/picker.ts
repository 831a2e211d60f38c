import { randomInt } from 'node:crypto';

/** Offsets to choose from. */
export interface Choosable {
  readonly size: number;
  /** The first so many are chosen when nothing else is free. */
  readonly lastChosen: number;
}

/** Looks at random places before going through all: enough for a range that is not nearly full. */
const RANDOM_LOOKS = 16;

/**
 * Chooses a free offset at random, so that servers that choose at the same time seldom choose the same.
 *
 * @param random A whole number from 0 on, below its argument.
 * @returns undefined when nothing is free
 */
export function pick(
  { size, lastChosen }: Choosable,
  isFree: (offset: number) => boolean,
  random: (below: number) => number = randomInt,
): number | undefined {
  return pickBetween(lastChosen, size, isFree, random) ?? pickBetween(0, lastChosen, isFree, random);
}

function pickBetween(
  from: number,
  to: number,
  isFree: (offset: number) => boolean,
  random: (below: number) => number,
): number | undefined {
  const count = to - from;
  if (count <= 0) return undefined;
  for (let look = 0; look < RANDOM_LOOKS; look++) {
    const offset = from + random(count);
    if (isFree(offset)) return offset;
  }
  const start = random(count);
  for (let i = 0; i < count; i++) {
    const offset = from + ((start + i) % count);
    if (isFree(offset)) return offset;
  }
  return undefined;
}
