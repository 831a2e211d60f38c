/** Delay before attempt `attempt` (0 is the first repetition): doubled each time, with jitter, within bounds. */
export function backoffMs(attempt: number, o: { readonly leastMs: number; readonly mostMs: number }): number {
  const full = Math.min(o.mostMs, o.leastMs * 2 ** Math.min(attempt, 30));
  return full / 2 + (Math.random() * full) / 2;
}
