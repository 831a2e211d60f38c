import { chainsOf, type Chains, type Link } from '../history/chain.js';
import { seenTo } from '../history/coverage.js';
import { keyOf, type History, type Session, type State, type WatchEvent } from '../history/history.js';
import { matches } from '../history/matches.js';
import { firstAbove } from '../history/search.js';
import type { Violation } from './violation.js';

/** The promises of etcd's watches, as the API makes them; what a selector shows is among them. */
export function* watches(history: History): Generator<Violation> {
  const chains = chainsOf(history);
  for (const session of history.sessions) {
    yield* inOrder(session);
    yield* whole(session, history.changesOf(session.ns), chains);
  }
}

const about = (session: Session, name: string, rv: number, at: number): Omit<Violation, 'promise' | 'message'> => ({
  ...(name === '' ? {} : { object: keyOf(session.ns, name) }),
  rv,
  at,
});

const who = ({ watcher, selector }: Session): string => `Watcher ${watcher}${selector === '' ? '' : ` (${selector})`}`;

/** Ordered, unique, bookmarkable. */
function* inOrder(session: Session): Generator<Violation> {
  let last = session.from;
  let bookmark = 0;
  const seen = new Set<number>();
  for (const { type, rv, name, at } of session.events) {
    const its = about(session, name, rv, at);
    if (type === 'B') {
      if (rv < last)
        yield { promise: 'ordered', message: `${who(session)}: a bookmark of ${rv} after ${last}`, ...its };
      bookmark = Math.max(bookmark, rv);
    } else if (seen.has(rv)) {
      yield { promise: 'unique', message: `${who(session)}: version ${rv} came twice`, ...its };
    } else if (rv <= bookmark) {
      const message = `${who(session)}: version ${rv} came after a bookmark of ${bookmark}`;
      yield { promise: 'bookmarkable', message, ...its };
    } else if (rv <= last) {
      yield { promise: 'ordered', message: `${who(session)}: version ${rv} came after ${last}`, ...its };
    }
    if (type !== 'B') seen.add(rv);
    last = Math.max(last, rv);
  }
}

/** Reliable, resumable, with the right types: every change that matches has its event, and no other has. */
function* whole(session: Session, changes: readonly State[], chains: Chains): Generator<Violation> {
  const to = seenTo(session);
  const events = new Map<number, WatchEvent>();
  for (const event of session.events) if (event.type !== 'B') events.set(event.rv, event);
  for (let i = firstAbove(changes, session.from, ({ rv }) => rv); i < changes.length; i++) {
    const state = changes[i];
    if (state === undefined || state.rv > to) break;
    const event = events.get(state.rv);
    yield* compare(session, chains.linkOf(state), event?.name === state.item.name ? event : undefined);
  }
}

type Expected = 'A' | 'M' | 'D' | 'none' | 'any';

/** What a watcher with a selector is shown of a change. `any`: that depends on what nobody saw. */
function expected({ state, previous, isSure }: Link, selector: string): Expected {
  const isShown = !state.gone && fits(state, selector);
  const wasShown = previous !== undefined && fits(previous, selector);
  if (isShown === undefined || wasShown === undefined) return 'any';
  if (!isSure && state.by?.verb !== 'create') return selector === '' && state.gone ? 'D' : 'any';
  if (isShown) return wasShown ? 'M' : 'A';
  return wasShown ? 'D' : 'none';
}

function fits({ body }: State, selector: string): boolean | undefined {
  if (selector === '') return true;
  return body === undefined ? undefined : matches(selector, body.labels);
}

function* compare(session: Session, link: Link, event: WatchEvent | undefined): Generator<Violation> {
  const { state } = link;
  const { selector } = session;
  const type = expected(link, selector);
  const its = about(session, state.item.name, state.rv, event?.at ?? state.knownAt);
  const mustBeThere = !state.gone && fits(state, selector) === true;
  if (event === undefined) {
    if (type === 'none' || (type === 'any' && !mustBeThere)) return;
    const promise = isAtResume(session, state.rv) ? 'resumable' : 'reliable';
    yield { promise, message: `${who(session)}: no event for version ${state.rv}`, ...its };
    return;
  }
  if (type !== 'any' && event.type !== type) {
    const promise = selector === '' ? 'previous state' : 'selectors';
    yield { promise, message: `${who(session)}: ${NAMES[event.type]} where ${NAMES[type]} was due`, ...its };
  } else if (event.type !== 'D' && event.digest !== state.digest) {
    yield { promise: 'atomic', message: `${who(session)}: another object than others saw`, ...its };
  } else if (
    event.type === 'D' &&
    link.isSure &&
    link.previous !== undefined &&
    event.digest !== link.previous.digest
  ) {
    const message = `${who(session)}: what ended is not what was there at version ${link.previous.rv}`;
    yield { promise: 'previous state', message, ...its };
  }
}

const NAMES = { A: 'ADDED', M: 'MODIFIED', D: 'DELETED', B: 'BOOKMARK', none: 'no event' } as const;

/** Whether a version lies between a cut and the first event after it. */
function isAtResume({ streams, events }: Session, rv: number): boolean {
  return streams.some(({ from, first }, i) => i > 0 && rv > from && rv < (events[first]?.rv ?? Infinity));
}
