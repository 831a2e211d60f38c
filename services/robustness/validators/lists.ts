import { chainsOf, type Chains } from '../history/chain.js';
import { keyOf, type History, type Operation, type State } from '../history/history.js';
import { matches } from '../history/matches.js';
import { livesOf, type Life } from '../history/presence.js';
import { firstAbove, Highest, stateAt } from '../history/search.js';
import type { Violation } from './violation.js';

/** A list is what was there at its version, all of it and nothing else, pages and selectors or not. */
export function* lists(history: History): Generator<Violation> {
  const chains = chainsOf(history);
  for (const ns of Object.keys(history.run.pools)) {
    const all = history.operations.filter((op) => op.verb === 'list' && op.ns === ns && op.rv !== undefined);
    if (all.length === 0) continue;
    yield* fresh(history.changesOf(ns), all);
    yield* exact({ history, chains, ns, all });
  }
}

const about = (op: Operation): Omit<Violation, 'promise' | 'message'> => ({
  at: op.end,
  operations: [op.id],
  ...(op.rv === undefined ? {} : { rv: op.rv }),
});

function* fresh(changes: readonly State[], all: readonly Operation[]): Generator<Violation> {
  const highest = new Highest(changes.map(({ knownAt: at, rv }) => ({ at, rv })));
  for (const op of all) {
    const known = highest.before(op.start);
    if (op.read === 'any' || (op.rv ?? 0) >= known) continue;
    const message = `A list of version ${op.rv ?? 0}, when ${known} was known before it began`;
    yield { promise: 'no stale reads', message, ...about(op) };
  }
}

interface Scene {
  readonly history: History;
  readonly chains: Chains;
  readonly ns: string;
  readonly all: readonly Operation[];
}

/** Goes through lists and changes by version, so that each list is held beside what was there then. */
function* exact({ history, chains, ns, all }: Scene): Generator<Violation> {
  const changes = history.changesOf(ns);
  const there = new Map<string, State>();
  const lives = new Map<string, ReadonlyMap<string, Life>>();
  let next = 0;
  const lifeOf = (state: State): Life | undefined => {
    const { name } = state.item;
    const known = lives.get(name) ?? new Map(livesOf(state.item).map((life) => [life.uid, life]));
    lives.set(name, known);
    return known.get(state.body?.uid ?? '');
  };
  for (const op of [...all].sort((a, b) => (a.rv ?? 0) - (b.rv ?? 0))) {
    for (let it = changes[next]; it !== undefined && it.rv <= (op.rv ?? 0); it = changes[++next]) {
      if (it.gone) there.delete(it.item.name);
      else there.set(it.item.name, it);
    }
    yield* wrongItems(op);
    if (history.poolOf(ns) !== 'family') yield* missing({ op, there, chains, lifeOf });
  }
}

function* wrongItems(op: Operation): Generator<Violation> {
  const rv = op.rv ?? 0;
  const names = new Set<string>();
  for (const state of op.states) {
    const { item, body } = state;
    const object = keyOf(item.ns, item.name);
    if (names.has(item.name)) yield { promise: 'atomic', message: 'Twice in one list', ...about(op), object };
    names.add(item.name);
    const then = stateAt(item.states, rv);
    if (then !== state) {
      const message = `A list of version ${rv} shows version ${state.rv} where ${then?.rv ?? 0} was there`;
      yield { promise: 'atomic', message, ...about(op), object };
    }
    const { selector = '' } = op;
    if (body === undefined || matches(selector, body.labels)) continue;
    const message = `A list by ${selector} shows what does not match`;
    yield { promise: 'selectors', message, ...about(op), object };
  }
}

interface MissingScene {
  readonly op: Operation;
  /** What was there at the version of the list, as far as it is known. */
  readonly there: ReadonlyMap<string, State>;
  readonly chains: Chains;
  readonly lifeOf: (state: State) => Life | undefined;
}

/** What was there for sure, and is not in the list. */
function* missing({ op, there, chains, lifeOf }: MissingScene): Generator<Violation> {
  const shown = new Set(op.states.map(({ item }) => item.name));
  const selector = op.selector ?? '';
  for (const state of there.values()) {
    const { item, body } = state;
    if (shown.has(item.name) || body === undefined || !matches(selector, body.labels)) continue;
    const life = lifeOf(state);
    if (life === undefined || !wasThere(op, state, life)) continue;
    const next = nextOf(state);
    if (selector !== '' && !isLabelSure(state, next, chains)) continue;
    const message = `A list of version ${op.rv ?? 0} lacks what was there since version ${state.rv}`;
    yield {
      promise: selector === '' ? 'atomic' : 'selectors',
      message,
      ...about(op),
      object: keyOf(item.ns, item.name),
    };
  }
}

const nextOf = ({ item: { states }, rv }: State): State | undefined => states[firstAbove(states, rv, (it) => it.rv)];

/** Its life goes on after the version of the list, or no delete can have ended it by the end of the request. */
function wasThere(op: Operation, { rv }: State, { states, surelyUntil }: Life): boolean {
  const list = op.rv ?? 0;
  if (rv === list || (states.at(-1)?.rv ?? 0) > list) return true;
  return surelyUntil === Infinity || (op.read !== 'any' && surelyUntil > op.end);
}

/** Whether no write can have changed the labels unseen. */
function isLabelSure(state: State, next: State | undefined, chains: Chains): boolean {
  if (next !== undefined && next.body?.uid === state.body?.uid) return chains.linkOf(next).isSure;
  return state.item.unknown.unseen.length === 0;
}
