import { keyOf, outcomeOf, type History, type Operation } from '../history/history.js';
import type { FaultLine } from '../history/lines.js';
import type { Limits, Violation } from './violation.js';

/** How many servers a run has is in its options. */
const servers = ({ run }: History): number => Math.max(1, Number(run.options['servers'] ?? 1));

/** No client goes without an answer for longer than allowed, but for times in which no server was well. */
export function* availability(history: History, { outageMs }: Limits): Generator<Violation> {
  if (outageMs === undefined) return;
  const ill = new IllTimes(history);
  /** Since when each client goes without an answer. */
  const waiting = new Map<number, number>();
  for (const op of history.operations.filter(isOfClient).sort((a, b) => a.end - b.end)) {
    const since = Math.min(waiting.get(op.client) ?? op.start, op.start);
    const isAnswered = outcomeOf(op) !== 'unknown';
    if (isAnswered) waiting.delete(op.client);
    else waiting.set(op.client, since);
    const isOver = outageMs === 0 ? !isAnswered : op.end - since > outageMs;
    if (!isOver || ill.touch(since, op.end)) continue;
    waiting.delete(op.client); // told once
    yield violation(op, since, outageMs);
  }
}

/** Watchers and contenders have numbers below 0: they ask now and then, so that the time between says nothing. */
const isOfClient = ({ client }: Operation): boolean => client >= 0;

function violation(op: Operation, since: number, outageMs: number): Violation {
  const message =
    outageMs === 0
      ? `A ${op.verb} failed (${op.code === 0 ? 'no answer' : op.code})`
      : `Client ${op.client} went without an answer for ${Math.round(op.end - since)} ms, while a server was well`;
  return { promise: 'available', message, object: keyOf(op.ns, op.name), at: op.end, operations: [op.id] };
}

/** When no server was well. */
class IllTimes {
  readonly #spans: readonly { readonly from: number; readonly to: number }[];

  constructor(history: History) {
    const all = servers(history);
    const edges = [...new Set(history.faults.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
    this.#spans = edges
      .slice(1)
      .map((to, i) => ({ from: edges[i] ?? to, to }))
      .filter(({ from, to }) => hitBetween(history.faults, from, to) >= all);
  }

  touch(from: number, to: number): boolean {
    return this.#spans.some((it) => it.from < to && from < it.to);
  }
}

/** How many servers faults hit that last over all of a time. */
function hitBetween(faults: readonly FaultLine[], from: number, to: number): number {
  const hit = new Set<number>();
  for (const fault of faults) {
    if (fault.from > from || fault.to < to) continue;
    if (fault.hits === 'all') return Infinity;
    for (const server of fault.hits) hit.add(server);
  }
  return hit.size;
}
