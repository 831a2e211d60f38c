import { endOf, outcomeOf, type Item, type Operation, type State } from './history.js';
import { firstAbove } from './search.js';

/** One life of an object: from its creation to its deletion. */
export interface Life {
  readonly uid: string;
  /** By version; the body of each is known. */
  readonly states: readonly State[];
  /** When somebody knew first that it lives. */
  readonly knownFrom: number;
  /** When it began at the earliest. */
  readonly from: number;
  /** Until when it goes on for sure, whatever requests without an answer have done. */
  readonly surelyUntil: number;
  /** The version of its end, where it was seen. */
  readonly goneRv: number | undefined;
}

/** The lives of one name, in their order. */
export function livesOf(item: Item): Life[] {
  const byUid = new Map<string, State[]>();
  for (const state of item.states) {
    if (state.body === undefined) continue;
    const all = byUid.get(state.body.uid);
    if (all === undefined) byUid.set(state.body.uid, [state]);
    else all.push(state);
  }
  const lived = lastSeenAlive(item);
  const threats = new Threats(item);
  return [...byUid].map(([uid, states]) => lifeOf(uid, states, lived.get(uid) ?? -Infinity, threats));
}

function lifeOf(uid: string, states: readonly State[], livedAt: number, threats: Threats): Life {
  const made = states[0]?.by;
  const from = made !== undefined && outcomeOf(made) === 'done' && made.verb !== 'update' ? made.start : -Infinity;
  const threatened = threats.first(uid, Math.max(livedAt, from));
  const goneRv = states.find(({ gone }) => gone)?.rv;
  // An end that was seen, and that no client has asked for: only what was seen of the life counts.
  const isUnasked = goneRv !== undefined && threatened === Infinity;
  return {
    uid,
    states,
    knownFrom: states.reduce((first, { knownAt }) => Math.min(first, knownAt), Infinity),
    from,
    surelyUntil: isUnasked ? livedAt : Math.max(livedAt, threatened),
    goneRv,
  };
}

/** The latest moment at which each life went on for sure: it was answered at some time in an operation, so after its start. */
function lastSeenAlive({ writes, others }: Item): Map<string, number> {
  const lived = new Map<string, number>();
  for (const op of [...writes, ...others]) {
    const uid = op.states[0]?.body?.uid;
    if (uid === undefined || op.read === 'any') continue;
    lived.set(uid, Math.max(lived.get(uid) ?? -Infinity, op.start));
  }
  return lived;
}

/** When deletes may have begun that end a life. One without an answer may be done at any time after its start. */
class Threats {
  readonly #byUid = new Map<string, number>();
  /** Without a precondition and an answer: the first start. */
  #anyUnknown = Infinity;
  /** Without a precondition and done, by their ends, with the first start of all that end then or later. */
  readonly #any: readonly { readonly end: number; readonly start: number }[];

  constructor({ writes }: Item) {
    const any: Operation[] = [];
    for (const op of writes) {
      if (op.verb !== 'delete') continue;
      if (op.ifUid !== undefined) this.#byUid.set(op.ifUid, Math.min(this.#byUid.get(op.ifUid) ?? Infinity, op.start));
      else if (outcomeOf(op) === 'unknown') this.#anyUnknown = Math.min(this.#anyUnknown, op.start);
      else any.push(op);
    }
    let start = Infinity;
    this.#any = any
      .sort((a, b) => endOf(b) - endOf(a))
      .map((op) => ({ end: op.end, start: (start = Math.min(start, op.start)) }))
      .reverse();
  }

  /** @param after Deletes that were over by then did not hit it. */
  first(uid: string, after: number): number {
    const later = this.#any[firstAbove(this.#any, after, ({ end }) => end)];
    return Math.min(this.#byUid.get(uid) ?? Infinity, this.#anyUnknown, later?.start ?? Infinity);
  }
}
