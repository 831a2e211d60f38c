/** `2006-01-02T15:04:05Z`: how times are written, to the second and in UTC. */
export const formatTime = (epochMs: number): string => `${new Date(epochMs).toISOString().slice(0, 19)}Z`;

let second = NaN;
let text = '';

/** The current time in that form; made anew once a second. */
export function now(): string {
  const current = Math.floor(Date.now() / 1000);
  if (current !== second) {
    second = current;
    text = formatTime(current * 1000);
  }
  return text;
}
