/*
 * The schedules of cron jobs: five fields (minute, hour, day of the month, month, day of the week), each a list of
 * ranges with steps; or a descriptor such as `@daily` or `@every 1h30m`. A time zone may stand in front.
 */

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Names that stand for numbers, from `min` on. */
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const EVERY = '@every ';
const ZONE = /^(?:CRON_)?TZ=/;

/** The one problem of a schedule. Thrown and caught in this file. */
class ScheduleProblem extends Error {
  override readonly name = 'ScheduleProblem';
}

/** @returns What is wrong with the schedule, in the words that clients know; undefined when it is right. */
export function scheduleProblem(text: string): string | undefined {
  try {
    checkSchedule(text);
    return undefined;
  } catch (err) {
    if (err instanceof ScheduleProblem) return err.message;
    throw err;
  }
}

function checkSchedule(text: string): void {
  const schedule = ZONE.test(text) ? withoutZone(text) : text;
  if (schedule.startsWith('@')) {
    checkDescriptor(schedule);
    return;
  }
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    const found = `${fields.length}: [${fields.join(' ')}]`;
    throw new ScheduleProblem(`expected exactly ${FIELDS.length} fields, found ${found}`);
  }
  FIELDS.forEach((bounds, i) => {
    for (const range of (fields[i] ?? '').split(',')) if (range !== '') checkRange(range, bounds);
  });
}

function withoutZone(text: string): string {
  const space = text.indexOf(' ');
  const zone = text.slice(text.indexOf('=') + 1, space < 0 ? undefined : space);
  if (!isTimeZone(zone)) throw new ScheduleProblem(`provided bad location ${zone}: unknown time zone ${zone}`);
  return space < 0 ? '' : text.slice(space).trim();
}

/** Empty is the universal time, and `Local` the server's own. */
export function isTimeZone(zone: string): boolean {
  if (zone === '' || zone === 'Local') return true;
  // An offset such as +01:00 is a zone for the runtime, but not one with a name.
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

function checkDescriptor(text: string): void {
  if (DESCRIPTORS.has(text)) return;
  if (!text.startsWith(EVERY)) throw new ScheduleProblem(`unrecognized descriptor: ${text}`);
  const problem = durationProblem(text.slice(EVERY.length));
  if (problem !== undefined) throw new ScheduleProblem(`failed to parse duration ${text}: ${problem}`);
}

const DURATION = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

const durationProblem = (text: string): string | undefined =>
  DURATION.test(text) ? undefined : `time: invalid duration ${JSON.stringify(text)}`;

const isStar = (text: string): boolean => text === '*' || text === '?';

/** `5`, `1-5`, `mon-fri`, `*`, each with a step behind a slash. */
function checkRange(text: string, bounds: Bounds): void {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreHighs] = range.split('-');
  let start = bounds.min;
  let end = bounds.max;
  if (!isStar(low)) {
    start = numberOf(low, bounds);
    if (moreHighs.length > 0) throw new ScheduleProblem(`too many hyphens: ${text}`);
    // With a step, a number alone is where to begin.
    end = high !== undefined ? numberOf(high, bounds) : stepText !== undefined ? bounds.max : start;
  }
  const step = stepText === undefined ? 1 : numberOf(stepText);
  if (moreSteps.length > 0) throw new ScheduleProblem(`too many slashes: ${text}`);
  checkEnds(text, start, end, bounds);
  if (step === 0) throw new ScheduleProblem(`step of range should be a positive number: ${text}`);
}

function checkEnds(text: string, start: number, end: number, { min, max }: Bounds): void {
  if (start < min) throw new ScheduleProblem(`beginning of range (${start}) below minimum (${min}): ${text}`);
  if (end > max) throw new ScheduleProblem(`end of range (${end}) above maximum (${max}): ${text}`);
  if (start > end) throw new ScheduleProblem(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
}

function numberOf(text: string, bounds?: Bounds): number {
  const named = bounds?.names.indexOf(text.toLowerCase()) ?? -1;
  if (bounds !== undefined && named >= 0) return bounds.min + named;
  if (!/^[-+]?\d{1,18}$/.test(text)) {
    const quoted = JSON.stringify(text);
    const why = /^[-+]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
    throw new ScheduleProblem(`failed to parse int from ${text}: strconv.Atoi: parsing ${quoted}: ${why}`);
  }
  const number = Number(text);
  if (number < 0) throw new ScheduleProblem(`negative number (${number}) not allowed: ${text}`);
  return number;
}
