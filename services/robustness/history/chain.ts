import { Coverage } from './coverage.js';
import { type History, type Item, type Operation, type State } from './history.js';

/** A state and the one before it. */
export interface Link {
  readonly state: State;
  /** undefined: it is the first of its name. */
  readonly before: State | undefined;
  /** Of the same life. */
  readonly previous: State | undefined;
  /** Whether nothing can have been between them: no unanswered write is left that nobody saw, or a watch saw everything. */
  readonly isSure: boolean;
}

/** The states of objects as chains. Made when they are asked for, and kept. */
class Chains {
  readonly #history: History;
  readonly #coverage = new Map<string, Coverage>();
  readonly #links = new Map<Item, ReadonlyMap<State, Link>>();

  constructor(history: History) {
    this.#history = history;
  }

  of(item: Item): ReadonlyMap<State, Link> {
    const known = this.#links.get(item);
    if (known !== undefined) return known;
    const coverage = this.#coverageOf(item.ns);
    const hiddenFrom = firstHidden(item);
    const links = new Map<State, Link>();
    let before: State | undefined;
    for (const state of item.states) {
      const previous = isOfOneLife(before, state) ? before : undefined;
      const isSure = state.knownAt <= hiddenFrom || (before !== undefined && coverage.covers(before.rv, state.rv));
      links.set(state, { state, before, previous, isSure });
      before = state;
    }
    this.#links.set(item, links);
    return links;
  }

  linkOf(state: State): Link {
    const link = this.of(state.item).get(state);
    if (link === undefined) throw new Error('A state that is none of its object');
    return link;
  }

  #coverageOf(ns: string): Coverage {
    const known = this.#coverage.get(ns) ?? new Coverage(this.#history, ns);
    this.#coverage.set(ns, known);
    return known;
  }
}

function isOfOneLife(before: State | undefined, { body }: State): boolean {
  if (before === undefined || before.gone) return false;
  return before.body === undefined || body === undefined || before.body.uid === body.uid;
}

/** When the first write began of which nobody knows whether it was done, and which may lie between any two states. */
function firstHidden({ unknown, states }: Item): number {
  const shown = new Set(states.map(({ by }) => by));
  const hidden = [...unknown.unseen, ...unknown.seen].filter((op) => op.verb !== 'delete' && !shown.has(op));
  return hidden.reduce((first: number, op: Operation) => Math.min(first, op.start), Infinity);
}

export type { Chains };

const made = new WeakMap<History, Chains>();

/** All validators of a history share them. */
export function chainsOf(history: History): Chains {
  const known = made.get(history) ?? new Chains(history);
  made.set(history, known);
  return known;
}
