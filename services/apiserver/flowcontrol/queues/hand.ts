/** Two independent halves of 32 bits each: enough for every hand that a level may have (60 bits). */
export interface FlowHash {
  readonly high: number;
  readonly low: number;
}

const FNV_PRIME = 0x01000193;
const GOLDEN = 0x9e3779b9;

/** Spreads what differs in a few bits over all 32 of them. */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return h ^ (h >>> 15);
}

/**
 * Which flow a request belongs to. O(length of the texts).
 *
 * @param seed Secret of this process: users who choose their names must not know the flow.
 */
export function flowHash(seed: FlowHash, schema: string, distinguisher: string): FlowHash {
  let { high, low } = seed;
  const take = (unit: number): void => {
    high = Math.imul(high ^ unit, FNV_PRIME);
    low = Math.imul(low + unit, GOLDEN) ^ (low >>> 13);
  };
  for (let i = 0; i < schema.length; i++) take(schema.charCodeAt(i));
  take(-1); // no text has it: where the one ends and the other begins counts
  for (let i = 0; i < distinguisher.length; i++) take(distinguisher.charCodeAt(i));
  return { high: mix(high), low: mix(low) };
}

/**
 * The queues that a flow may use: `handSize` different ones out of `queues`, the same ones each time. Two flows seldom
 * have all of them in common, so one with many requests leaves the others a queue that is not its own (shuffle
 * sharding).
 */
export function dealHand({ high, low }: FlowHash, queues: number, handSize: number): readonly number[] {
  const hand: number[] = [];
  const size = Math.min(handSize, queues);
  let state = low;
  for (let i = 0; i < size; i++) {
    state = (state + GOLDEN) | 0;
    let card = (mix(mix(state) ^ high) >>> 0) % (queues - i);
    // Counted among the cards that are left: those that were dealt are stepped over, the lowest first.
    let at = 0;
    while (at < hand.length && card >= (hand[at] ?? 0)) {
      card++;
      at++;
    }
    hand.splice(at, 0, card);
  }
  return hand;
}
