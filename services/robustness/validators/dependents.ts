import { keyOf, type History } from '../history/history.js';
import type { Violation } from './violation.js';

/** When everything had come to rest, nothing was left whose owner was gone. */
export function* dependents({ finals }: History): Generator<Violation> {
  for (const { ns, items } of finals) {
    const there = new Set(items.map(({ uid }) => uid));
    for (const { name, owner } of items) {
      if (owner === undefined || there.has(owner)) continue;
      yield { promise: 'no dangling dependents', message: 'It outlived its owner', object: keyOf(ns, name) };
    }
  }
}
