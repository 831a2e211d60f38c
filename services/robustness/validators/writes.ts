import { changed, differences } from '../history/body.js';
import { chainsOf, type Link } from '../history/chain.js';
import { keyOf, outcomeOf, type History, type Item, type Operation, type State } from '../history/history.js';
import { Highest } from '../history/search.js';
import type { Violation } from './violation.js';

/**
 * Writes have one order, that of their versions: it agrees with the time in which they were answered, each works on what the
 * one before has left, those with a precondition on nothing else, and no state comes from nowhere.
 */
export function* writes(history: History): Generator<Violation> {
  yield* inTime(history);
  const chains = chainsOf(history);
  const refused = refusedTokens(history);
  for (const item of history.items.values()) {
    if (history.poolOf(item.ns) === 'family') continue; // controllers write there as well
    for (const link of chains.of(item).values()) yield* checkLink(link, refused);
  }
}

/** What was written later has a higher version than all that was known before it began. */
function* inTime({ operations, items }: History): Generator<Violation> {
  const known: { at: number; rv: number }[] = [];
  for (const { states } of items.values()) for (const { knownAt: at, rv } of states) known.push({ at, rv });
  const highest = new Highest(known);
  for (const op of operations) {
    const [made] = op.states;
    if (op.verb === 'get' || op.verb === 'list' || made === undefined) continue;
    const about = { object: keyOf(op.ns, op.name), at: op.end, rv: made.rv, operations: [op.id] };
    const before = highest.before(op.start);
    if (made.rv <= before) {
      const message = `A ${op.verb} was answered with version ${made.rv}, when ${before} was known before it began`;
      yield { promise: 'ordered writes', message, ...about };
    }
    if (made.by === op || made.by === undefined) continue;
    const message = `Two writes were answered with version ${made.rv}`;
    yield { promise: 'ordered writes', message, ...about, operations: [made.by.id, op.id] };
  }
}

type Refused = ReadonlyMap<string, Operation>;

/** What refused writes would have written. */
function refusedTokens({ operations }: History): Refused {
  const tokens = new Map<string, Operation>();
  for (const op of operations) {
    if (outcomeOf(op) === 'refused' && op.token !== undefined) tokens.set(op.token, op);
  }
  return tokens;
}

function* checkLink(link: Link, refused: Refused): Generator<Violation> {
  const { state } = link;
  const about = { object: keyOf(state.item.ns, state.item.name), at: state.knownAt, rv: state.rv };
  if (state.gone) {
    yield* checkEnd(link, about);
  } else if (state.by !== undefined) {
    yield* checkWrite(link, state.by, { ...about, operations: [state.by.id] });
  } else if (state.body !== undefined) {
    const op = Object.values(state.body.data)
      .map((token) => refused.get(token))
      .find((it) => it !== undefined && it.name === state.item.name);
    if (op === undefined) yield { promise: 'no phantoms', message: 'No client has written this state', ...about };
    else yield { promise: 'no phantoms', message: 'A write that was refused was done', ...about, operations: [op.id] };
  }
}

type About = Pick<Violation, 'object' | 'at' | 'rv' | 'operations'>;

function* checkWrite({ state, before, previous, isSure }: Link, op: Operation, about: About): Generator<Violation> {
  if (op.verb === 'create' && previous !== undefined && isSure) {
    yield { promise: 'no lost writes', message: `Created over what was there at version ${previous.rv}`, ...about };
  }
  if (op.ifRv !== undefined && before !== undefined && before.rv > op.ifRv) {
    const message = `Updated from version ${op.ifRv}, when version ${before.rv} was there: that one is lost`;
    yield { promise: 'preconditions', message, ...about };
  }
  if (op.verb === 'update' && previous === undefined && before !== undefined && isSure) {
    yield { promise: 'preconditions', message: 'Updated what was not there', ...about };
  }
  if (!isSure || state.body === undefined || (previous !== undefined && previous.body === undefined)) return;
  const isWhole = op.verb === 'create' || op.verb === 'update';
  const wanted = changed(previous?.body, op.sent ?? {}, isWhole ? 'whole' : 'merge');
  const wrong = differences(wanted, state.body);
  if (wrong.length === 0) return;
  const from = previous === undefined ? 'nothing' : `version ${previous.rv}`;
  const message = `A ${op.verb} of ${from} made something else of ${wrong.join(', ')}`;
  yield { promise: 'no lost writes', message, ...about };
}

/** An object ends as it was last, and because somebody wants it. */
function* checkEnd({ state, previous, isSure }: Link, about: About): Generator<Violation> {
  if (isSure && previous !== undefined && previous.digest !== state.digest) {
    const message = `What was deleted is not what was there at version ${previous.rv}`;
    yield { promise: 'previous state', message, ...about };
  }
  const asked = deletesBefore(state.item, state);
  if (asked.length === 0) yield { promise: 'no phantoms', message: 'No client has deleted it', ...about };
  const [only] = asked;
  if (asked.length !== 1 || only?.ifRv === undefined || previous === undefined || previous.rv <= only.ifRv) return;
  const message = `Deleted as version ${only.ifRv}, when version ${previous.rv} was there`;
  yield { promise: 'preconditions', message, ...about, operations: [only.id] };
}

const asking = new WeakMap<Item, ReadonlyMap<string, Operation[]>>();

/** Deletes by the life that they are for; '' for those that say none. */
function deletesOf(item: Item): ReadonlyMap<string, Operation[]> {
  const known = asking.get(item);
  if (known !== undefined) return known;
  const deletes = new Map<string, Operation[]>();
  for (const op of item.writes) {
    if (op.verb !== 'delete') continue;
    const uid = op.ifUid ?? '';
    deletes.set(uid, [...(deletes.get(uid) ?? []), op]);
  }
  asking.set(item, deletes);
  return deletes;
}

/** Those that may have been what ended a life. */
function deletesBefore(item: Item, { body, knownAt }: State): readonly Operation[] {
  const deletes = deletesOf(item);
  const any = deletes.get('') ?? [];
  const own = body === undefined ? [] : (deletes.get(body.uid) ?? []);
  return [...any, ...own].filter(({ start }) => start < knownAt);
}
