/**
 * The seats of a level: its part of the server's, rounded up so that each level has one at least. All levels together may
 * have a few more than the server by that.
 *
 * @param serverSeats 0 for no limit.
 */
export function seatsOf(serverSeats: number, shares: number, allShares: number): number {
  if (serverSeats === 0) return Infinity;
  return Math.max(1, Math.ceil((serverSeats * shares) / allShares));
}
