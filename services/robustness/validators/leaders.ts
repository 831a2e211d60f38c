import { keyOf, type History, type Item } from '../history/history.js';
import type { TurnLine } from '../history/lines.js';
import type { Violation } from './violation.js';

/** What leaders write into the objects of the pool `fence`: how often their lease had changed hands. */
export const TRANSITIONS = 'transitions';

/** A lease has one holder at a time, and what its holders write is in the order of their turns. */
export function* leaders(history: History): Generator<Violation> {
  const byLease = new Map<string, TurnLine[]>();
  for (const turn of history.turns) byLease.set(turn.lease, [...(byLease.get(turn.lease) ?? []), turn]);
  for (const turns of byLease.values()) yield* oneAtATime(turns);
  for (const item of history.items.values()) if (history.poolOf(item.ns) === 'fence') yield* rising(item);
}

function* oneAtATime(turns: readonly TurnLine[]): Generator<Violation> {
  let last: TurnLine | undefined;
  for (const turn of [...turns].sort((a, b) => a.from - b.from)) {
    if (last !== undefined && turn.from < last.to) {
      const message = `${turn.holder} held ${turn.lease} ${Math.ceil(last.to - turn.from)} ms before the turn of ${last.holder} ended`;
      yield { promise: 'one leader', message, at: turn.from };
    }
    if (last !== undefined && turn.transitions <= last.transitions) {
      const message = `${turn.lease} had changed hands ${last.transitions} times, and then ${turn.transitions}`;
      yield { promise: 'one leader', message, at: turn.from };
    }
    last = last === undefined || turn.to > last.to ? turn : last;
  }
}

function* rising({ ns, name, states }: Item): Generator<Violation> {
  let highest = 0;
  for (const { body, rv, knownAt, by } of states) {
    const transitions = Number(body?.data[TRANSITIONS] ?? highest);
    if (transitions < highest) {
      const message = `A leader of turn ${transitions} wrote after one of turn ${highest}`;
      const operations = by === undefined ? [] : [by.id];
      yield { promise: 'one leader', message, object: keyOf(ns, name), rv, at: knownAt, operations };
    }
    highest = Math.max(highest, transitions);
  }
}
