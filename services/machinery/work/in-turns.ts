import type { Work } from './work.js';

/** How long work is done at once. A single part may take longer: that is not interrupted. */
const TURN_MS = 10;

/** Does work part by part; others have their turn when it has taken long. What is short is done at once, without a promise. */
export function inTurns<T>(work: Work<T>): T | Promise<T> {
  const first = turnOf(work);
  return first.done === true ? first.value : restInTurns(work);
}

async function restInTurns<T>(work: Work<T>): Promise<T> {
  for (;;) {
    await new Promise(setImmediate);
    const last = turnOf(work);
    if (last.done === true) return last.value;
  }
}

/** @returns The last part that was done. */
function turnOf<T>(work: Work<T>): IteratorResult<void, T> {
  const until = performance.now() + TURN_MS;
  for (;;) {
    const part = work.next();
    if (part.done === true || performance.now() > until) return part;
  }
}
