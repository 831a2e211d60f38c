import { seenTo } from '../history/coverage.js';
import { isRead, keyOf, outcomeOf, type History, type Operation, type Session } from '../history/history.js';
import { firstAbove, Highest } from '../history/search.js';
import type { Violation } from './violation.js';

/**
 * A delete that was answered is seen by every watcher that was there before and after. Its version is in no answer: it lies
 * above all that was known before it began, and below what was written after it was answered.
 */
export function* deletions(history: History): Generator<Violation> {
  const known: { at: number; rv: number }[] = [];
  for (const { states } of history.items.values()) for (const { knownAt: at, rv } of states) known.push({ at, rv });
  const highest = new Highest(known);
  const upper = new LaterWrites(history.operations);
  const plain = history.sessions.filter(({ selector }) => selector === '').map((it) => ({ it, to: seenTo(it) }));
  for (const op of history.operations) {
    if (op.verb !== 'delete' || outcomeOf(op) !== 'done' || history.poolOf(op.ns) === 'family') continue;
    const [from, to] = [highest.before(op.start), upper.lowest(op.end)];
    if (endIsSeen(history, op, from, to)) continue; // who has not seen it lacks an event
    const witness = plain.find(({ it, to: last }) => it.ns === op.ns && it.from <= from && last >= to);
    if (witness !== undefined) yield unseen(op, witness.it);
  }
}

function endIsSeen({ items }: History, op: Operation, from: number, to: number): boolean {
  const states = items.get(keyOf(op.ns, op.name))?.states ?? [];
  for (let i = firstAbove(states, from, ({ rv }) => rv); i < states.length; i++) {
    const state = states[i];
    if (state === undefined || state.rv >= to) return false;
    if (state.gone && (op.ifUid === undefined || state.body?.uid === op.ifUid)) return true;
  }
  return false;
}

const unseen = (op: Operation, { watcher }: Session): Violation => ({
  promise: 'reliable',
  message: `Watcher ${watcher}: no event for a delete that was answered`,
  object: keyOf(op.ns, op.name),
  at: op.end,
  operations: [op.id],
});

/** The lowest version of what was written after a time. */
class LaterWrites {
  readonly #writes: readonly { readonly start: number; readonly lowest: number }[];

  constructor(operations: readonly Operation[]) {
    let lowest = Infinity;
    this.#writes = operations
      .filter((op) => !isRead(op) && op.verb !== 'delete' && op.states.length > 0)
      .sort((a, b) => b.start - a.start)
      .map(({ start, states }) => ({ start, lowest: (lowest = Math.min(lowest, states[0]?.rv ?? Infinity)) }))
      .reverse();
  }

  lowest(after: number): number {
    return this.#writes[firstAbove(this.#writes, after, ({ start }) => start)]?.lowest ?? Infinity;
  }
}
