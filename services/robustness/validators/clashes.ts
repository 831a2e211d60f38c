import { keyOf, type History } from '../history/history.js';
import type { Violation } from './violation.js';

/** A version of an object is one thing, whoever reads it, wherever. */
export function* clashes(history: History): Generator<Violation> {
  for (const { item, rv, at } of history.clashes) {
    const message = `Two answers tell different things of version ${rv}`;
    yield { promise: 'atomic', message, object: keyOf(item.ns, item.name), rv, at };
  }
}
