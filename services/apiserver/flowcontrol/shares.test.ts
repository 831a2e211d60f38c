import assert from 'node:assert/strict';
import { seatsOf } from './shares.js';

describe('seatsOf()', () => {
  for (const [serverSeats, shares, allShares, seats] of [
    [600, 100, 245, 245],
    [600, 20, 245, 49],
    [600, 5, 245, 13], // 12.2
    [2, 5, 245, 1],
    [2, 100, 245, 1],
    [1, 1, 1_000_000, 1],
    [0, 5, 245, Infinity],
  ] as const) {
    it(`gives ${seats} seats of ${serverSeats} to ${shares} shares of ${allShares}`, () => {
      assert.equal(seatsOf(serverSeats, shares, allShares), seats);
    });
  }
});
