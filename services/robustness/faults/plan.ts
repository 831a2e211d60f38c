import type { Random } from '../random/random.js';
import { FAULTS } from './fault-table.js';

/** The names that are broken next: each has its turn before one has a second. */
export function* plan(
  names: readonly string[],
  isInPairs: boolean,
  random: Random,
): Generator<readonly string[], never> {
  let left: string[] = [];
  for (;;) {
    if (left.length === 0) left = shuffled(names, random);
    const first = left.shift() ?? '';
    const group = FAULTS.get(first)?.group;
    const fitting = names.filter((name) => name !== first && FAULTS.get(name)?.group !== group);
    yield isInPairs && fitting.length > 0 ? [first, random.pick(fitting)] : [first];
  }
}

function shuffled(names: readonly string[], random: Random): string[] {
  const keyed = names.map((name) => ({ name, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ name }) => name);
}
