const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Up to here (exclusive) a duration is written in a unit, with the next smaller one where that still tells something. */
const STEPS: readonly {
  readonly belowMs: number;
  readonly unit: readonly [ms: number, letter: string];
  readonly rest?: readonly [ms: number, letter: string];
}[] = [
  { belowMs: 2 * MINUTE, unit: [SECOND, 's'] },
  { belowMs: 10 * MINUTE, unit: [MINUTE, 'm'], rest: [SECOND, 's'] },
  { belowMs: 3 * HOUR, unit: [MINUTE, 'm'] },
  { belowMs: 8 * HOUR, unit: [HOUR, 'h'], rest: [MINUTE, 'm'] },
  { belowMs: 2 * DAY, unit: [HOUR, 'h'] },
  { belowMs: 8 * DAY, unit: [DAY, 'd'], rest: [HOUR, 'h'] },
  { belowMs: 2 * YEAR, unit: [DAY, 'd'] },
  { belowMs: 8 * YEAR, unit: [YEAR, 'y'], rest: [DAY, 'd'] },
  { belowMs: Infinity, unit: [YEAR, 'y'] },
];

/** Clocks of machines differ: so much of the future counts as now. */
const TOLERANCE_MS = 2 * SECOND;

/** `5s`, `3m20s`, `2d5h`: two or three significant digits, for people. */
export function humanDuration(ms: number): string {
  if (ms <= -TOLERANCE_MS) return '<invalid>';
  if (ms < 0) return '0s';
  const step = STEPS.find(({ belowMs }) => ms < belowMs);
  if (step === undefined) return '<invalid>';
  const [unitMs, letter] = step.unit;
  const whole = `${Math.floor(ms / unitMs)}${letter}`;
  if (step.rest === undefined) return whole;
  const [restMs, restLetter] = step.rest;
  const rest = Math.floor((ms % unitMs) / restMs);
  return rest === 0 ? whole : `${whole}${rest}${restLetter}`;
}
