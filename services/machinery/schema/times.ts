const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MICROSECOND_DIGITS = 6;
/** The time that stands for none. */
const ZERO_SECONDS = '0001-01-01T00:00:00';

/**
 * Normalises an RFC 3339 time to UTC and whole seconds (`2006-01-02T15:04:05Z`) or microseconds
 * (`2006-01-02T15:04:05.000000Z`), as `unit` says. A text of seconds may have a fraction, which is cut; one of
 * microseconds has to have six digits of it.
 *
 * @returns null for the zero time, undefined when `text` is no time.
 */
export function canonicalTime(text: string, unit: 'second' | 'microsecond'): string | null | undefined {
  const match = FORM.exec(text);
  if (match === null || !isInCalendar(match)) return undefined;
  const [, , , , , , , fraction = '', zone = 'Z'] = match;
  if (unit === 'microsecond' && fraction.length !== MICROSECOND_DIGITS) return undefined;
  const seconds = zone === 'Z' ? text.slice(0, 19) : shifted(text.slice(0, 19), zone);
  if (seconds === undefined) return undefined;
  const micros = unit === 'second' ? '' : fraction;
  if (seconds === ZERO_SECONDS && /^0*$/.test(micros)) return null;
  return micros === '' ? `${seconds}Z` : `${seconds}.${micros}Z`;
}

function isInCalendar(match: RegExpExecArray): boolean {
  const [, year, month, day, hour, minute, second] = match.map(Number);
  if (month === undefined || month < 1 || month > 12) return false;
  const y = year ?? 0;
  const isLeap = month === 2 && y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  const days = (DAYS[month - 1] ?? 0) + (isLeap ? 1 : 0);
  return (day ?? 0) >= 1 && (day ?? 0) <= days && (hour ?? 0) < 24 && (minute ?? 0) < 60 && (second ?? 0) < 60;
}

/** Local seconds to UTC. undefined outside the years 0 to 9999 and for a zone beyond 24 hours. */
function shifted(local: string, zone: string): string | undefined {
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4));
  if (hours > 24 || minutes > 59) return undefined;
  const offsetMs = (hours * 60 + minutes) * 60_000 * (zone.startsWith('-') ? -1 : 1);
  const utc = new Date(Date.parse(`${local}Z`) - offsetMs).toISOString();
  return utc.length === 24 ? utc.slice(0, 19) : undefined;
}
