import type { History } from '../history/history.js';
import { livesOf } from '../history/presence.js';
import type { Violation } from './violation.js';

interface Step {
  readonly rv: number;
  readonly by: 1 | -1;
  readonly at: number;
}

/** At no version there were more objects than the quota allows; those count that were there for sure. */
export function* quota(history: History): Generator<Violation> {
  const limit = history.run.quota;
  if (limit === undefined) return;
  let count = 0;
  let isOver = false;
  for (const { rv, by, at } of steps(history)) {
    count += by;
    if (count > limit && !isOver) {
      const message = `${count} objects were there at version ${rv}, and the quota allows ${limit}`;
      yield { promise: 'quota', message, rv, at };
    }
    isOver = count > limit; // once each time
  }
}

/** Beginnings and ends of lives by version, ends first. */
function steps(history: History): Step[] {
  const all: Step[] = [];
  for (const item of history.items.values()) {
    if (history.poolOf(item.ns) !== 'quota') continue;
    for (const { states, surelyUntil } of livesOf(item)) {
      const [first, last] = [states[0], states.at(-1)];
      if (first === undefined || last === undefined || first.gone) continue;
      all.push({ rv: first.rv, by: 1, at: first.knownAt });
      if (last.gone) all.push({ rv: last.rv, by: -1, at: last.knownAt });
      else if (surelyUntil !== Infinity) all.push({ rv: last.rv + 0.5, by: -1, at: last.knownAt }); // an end nobody saw
    }
  }
  return all.sort((a, b) => a.rv - b.rv || a.by - b.by);
}
