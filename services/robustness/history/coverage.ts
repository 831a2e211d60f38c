import type { History, Session } from './history.js';
import { firstAbove } from './search.js';

/** The last version that a watcher has seen. */
export const seenTo = ({ from, events }: Session): number => events.reduce((last, { rv }) => Math.max(last, rv), from);

interface Span {
  readonly from: number;
  to: number;
}

/**
 * Between which versions a watcher of everything was there: whatever was done there has been seen, by what watches promise. So
 * two states of an object that are neighbours in the history are neighbours in truth.
 */
export class Coverage {
  readonly #spans: readonly Span[];

  constructor({ sessions }: Pick<History, 'sessions'>, ns: string) {
    const all = sessions
      .filter((it) => it.ns === ns && it.selector === '')
      .map((it) => ({ from: it.from, to: seenTo(it) }));
    const joined: Span[] = [];
    for (const span of all.sort((a, b) => a.from - b.from)) {
      const last = joined.at(-1);
      if (last === undefined || last.to < span.from) joined.push({ ...span });
      else last.to = Math.max(last.to, span.to);
    }
    this.#spans = joined;
  }

  covers(from: number, to: number): boolean {
    const span = this.#spans[firstAbove(this.#spans, from, (it) => it.from) - 1];
    return span !== undefined && span.to >= to;
  }
}
