/** Microseconds of the epoch. */
export type MicroClock = () => number;

/** The finer clock may run away from the wall clock by this much, which is set now and then. */
const MOST_DRIFT_MS = 2;

/** The time of day, to the microsecond as far as it is known. */
export function microClock(
  wallMs: () => number = Date.now,
  fineMs: () => number = () => performance.now(),
): MicroClock {
  let offset = wallMs() - fineMs();
  return () => {
    const wall = wallMs();
    const fine = fineMs();
    if (Math.abs(offset + fine - wall) > MOST_DRIFT_MS) offset = wall - fine;
    return Math.floor((offset + fine) * 1000);
  };
}

let second = -1;
let shownSecond = '';

/** e.g. `2022-05-24T10:00:00.123456Z`. Most come in the same second as the one before. */
export function formatMicroTime(micros: number): string {
  const at = Math.floor(micros / 1_000_000);
  if (at !== second) {
    second = at;
    shownSecond = new Date(at * 1000).toISOString().slice(0, 20);
  }
  return `${shownSecond}${String(micros - at * 1_000_000).padStart(6, '0')}Z`;
}
