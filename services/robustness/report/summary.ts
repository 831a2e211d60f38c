import { outcomeOf, type History } from '../history/history.js';
import type { Found, Verdict } from '../validators/validators.js';

/** What a run did, and what was found in it. */
export interface Summary {
  readonly seed: number;
  readonly options: Readonly<Record<string, string>>;
  readonly counts: Readonly<Record<string, number>>;
  /** How often each was injected; of pairs the two together. */
  readonly faults: Readonly<Record<string, number>>;
  /** By validator. */
  readonly violations: Readonly<Record<string, number>>;
  readonly found: readonly Found[];
}

export function summaryOf(history: History, { counts, found }: Verdict): Summary {
  const { operations, sessions, turns, run } = history;
  const of = (wanted: string): number => operations.filter((op) => outcomeOf(op) === wanted).length;
  const last = operations.reduce((end, op) => Math.max(end, op.end), 0);
  const verbs = new Map<string, number>();
  for (const { verb } of operations) verbs.set(verb, (verbs.get(verb) ?? 0) + 1);
  const faults = new Map<string, number>();
  for (const { name } of history.faults) faults.set(name, (faults.get(name) ?? 0) + 1);
  const inOrder = (map: ReadonlyMap<string, number>): Record<string, number> => Object.fromEntries([...map].sort());
  return {
    seed: run.seed,
    options: run.options,
    counts: {
      operations: operations.length,
      ...inOrder(verbs),
      done: of('done'),
      refused: of('refused'),
      unanswered: of('unknown'),
      'operations a second': Math.round((operations.length * 1000) / Math.max(1, last)),
      'watch sessions': sessions.length,
      streams: sessions.reduce((sum, { streams }) => sum + streams.length, 0),
      events: sessions.reduce((sum, { events }) => sum + events.length, 0),
      'leases taken': turns.length,
    },
    faults: inOrder(faults),
    violations: counts,
    found,
  };
}

export const violationsIn = ({ violations }: Summary): number =>
  Object.values(violations).reduce((sum, count) => sum + count, 0);
