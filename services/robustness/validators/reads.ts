import { keyOf, outcomeOf, type History, type Item, type Operation, type State } from '../history/history.js';
import { livesOf, type Life } from '../history/presence.js';
import { firstAbove, Highest } from '../history/search.js';
import type { Violation } from './violation.js';

const NOT_FOUND = 404;
const CONFLICT = 409;

/**
 * Reads of the newest state show at least what was known before they began, and nobody is told that something is not there,
 * or is, or has changed, when it cannot be so.
 */
export function* reads(history: History): Generator<Violation> {
  for (const item of history.items.values()) {
    if (history.poolOf(item.ns) === 'family') continue; // controllers delete there
    const lives = livesOf(item);
    yield* stale(item, lives);
    for (const op of item.others) yield* wronglyRefused(op, lives);
    yield* ghosts(item);
    yield* conflicts(item, lives);
  }
}

const about = (op: Operation, rv?: number): Omit<Violation, 'promise' | 'message'> => ({
  object: keyOf(op.ns, op.name),
  at: op.end,
  operations: [op.id],
  ...(rv === undefined ? {} : { rv }),
});

function* stale(item: Item, lives: readonly Life[]): Generator<Violation> {
  const highest = new Highest(item.states.map(({ knownAt: at, rv }) => ({ at, rv })));
  const endOfLife = new Map(lives.map((life) => [life.uid, endedAt(item, life)]));
  for (const op of [...item.others, ...item.writes]) {
    const [seen] = op.states;
    if (seen === undefined || op.read === 'any') continue;
    const known = highest.before(op.start);
    if (op.verb === 'get' && seen.rv < known) {
      const message = `Version ${seen.rv} was read, when ${known} was known before it began`;
      yield { promise: 'no stale reads', message, ...about(op, seen.rv) };
    }
    const ended = endOfLife.get(seen.body?.uid ?? '') ?? Infinity;
    if (ended >= op.start) continue;
    const message = `A ${op.verb} found what a delete had ended before it began`;
    yield { promise: 'no lost writes', message, ...about(op, seen.rv) };
  }
}

/** When the first delete was answered that ended a life for sure. */
function endedAt({ writes }: Item, { uid, knownFrom }: Life): number {
  let first = Infinity;
  for (const op of writes) {
    if (op.verb !== 'delete' || outcomeOf(op) !== 'done') continue;
    if (op.ifUid === uid || (op.ifUid === undefined && knownFrom < op.start)) first = Math.min(first, op.end);
  }
  return first;
}

/** Not found, though it was there all the time. */
function* wronglyRefused(op: Operation, lives: readonly Life[]): Generator<Violation> {
  if (op.code !== NOT_FOUND || op.read === 'any') return;
  const life = lives.findLast(({ knownFrom }) => knownFrom < op.start);
  if (life === undefined || life.surelyUntil <= op.end) return;
  const message = `A ${op.verb} did not find what was there from before it began until after it ended`;
  yield { promise: 'no stale reads', message, ...about(op) };
}

/** A create is refused for an object that cannot be there. */
function* ghosts({ writes, others }: Item): Generator<Violation> {
  const refusals = others.filter(({ verb, code }) => verb === 'create' && code === CONFLICT);
  if (refusals.length === 0) return;
  const makers = writes.filter(({ verb }) => verb === 'create' || verb === 'apply').sort((a, b) => a.start - b.start);
  let end = -Infinity;
  const overAt = makers.map((op) => (end = Math.max(end, outcomeOf(op) === 'unknown' ? Infinity : op.end)));
  const absences = [...writes, ...others].filter(showsAbsence).map(({ start, end: at }) => ({ at, rv: start }));
  const absentFrom = new Highest(absences);
  for (const op of refusals) {
    const lastMade = overAt[firstAbove(makers, op.end, ({ start }) => start) - 1] ?? -Infinity;
    const absent = absentFrom.before(op.start);
    if (absent === 0 || absent <= lastMade) continue;
    yield { promise: 'no stale reads', message: 'A create was refused for what cannot be there', ...about(op) };
  }
}

/** At some time in the operation, so after its start, the object was not there. */
function showsAbsence(op: Operation): boolean {
  if (op.verb === 'delete' && outcomeOf(op) === 'done') return true;
  return op.code === NOT_FOUND && op.read !== 'any';
}

/** When it may have been made at the earliest. Ends are looked at by themselves. */
const startOf = (state: State | undefined): number =>
  state?.gone === true ? Infinity : (state?.by?.start ?? -Infinity);

/** A write is refused for its version, though that was the newest one all the time. */
function* conflicts(item: Item, lives: readonly Life[]): Generator<Violation> {
  if (item.unknown.unseen.some(({ verb }) => verb !== 'delete') || item.unknown.seen.length > 0) return;
  const changedFrom: number[] = [];
  let first = Infinity;
  for (let i = item.states.length - 1; i >= 0; i--) {
    changedFrom[i] = first;
    first = Math.min(first, startOf(item.states[i]));
  }
  const at = new Map(item.states.map(({ rv }, i) => [rv, i]));
  for (const op of item.others) {
    if (op.code !== CONFLICT || op.ifRv === undefined || op.verb === 'create') continue;
    const index = at.get(op.ifRv) ?? -1;
    const state = item.states[index];
    if (state === undefined || state.gone || state.knownAt >= op.start) continue;
    const life = lives.find(({ uid }) => uid === state.body?.uid);
    if ((changedFrom[index] ?? 0) <= op.end || (life?.surelyUntil ?? 0) <= op.end) continue;
    const message = `A ${op.verb} of version ${op.ifRv} was refused, though no other was there`;
    yield { promise: 'preconditions', message, ...about(op, op.ifRv) };
  }
}
