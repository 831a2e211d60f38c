import { CelError } from '../values.js';

const SECOND = 1_000_000_000n;

/** RFC 3339. @returns Nanoseconds since 1970. @throws {CelError} */
export function parseTimestamp(text: string): bigint {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d{2}:\d{2})$/.exec(text);
  const [, date = '', time = '', fraction = '', zone = ''] = match ?? [];
  const ms = match === null ? NaN : Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  const isReal = !Number.isNaN(ms) && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
  if (!isReal) throw new CelError(`type conversion error from 'string' to 'google.protobuf.Timestamp'`);
  return BigInt(ms / 1000) * SECOND + BigInt(fraction.padEnd(9, '0'));
}

const fractionText = (nanos: bigint): string => {
  const digits = nanos.toString().padStart(9, '0').replace(/0+$/, '');
  return digits === '' ? '' : `.${digits}`;
};

export function timestampText(nanos: bigint): string {
  const fraction = ((nanos % SECOND) + SECOND) % SECOND;
  const date = new Date(Number((nanos - fraction) / 1_000_000n)).toISOString();
  return `${date.slice(0, 19)}${fractionText(fraction)}Z`;
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', SECOND],
  ['m', 60n * SECOND],
  ['h', 3_600n * SECOND],
]);

/** Such as `1h30m` or `-1.5s`. @throws {CelError} */
export function parseDuration(text: string): bigint {
  const wrong = new CelError(`type conversion error from 'string' to 'google.protobuf.Duration'`);
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0n;
  if (rest.length > 200 || !/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) throw wrong;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const of = UNITS.get(unit) ?? 0n;
    nanos += BigInt(whole === '' ? 0 : whole) * of;
    if (fraction !== '') nanos += (BigInt(fraction) * of) / 10n ** BigInt(fraction.length);
  }
  return sign === '-' ? -nanos : nanos;
}

/** In seconds, as other programs of this kind write it: `5400s`, `1.5s`. */
export function durationText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  return `${sign}${size / SECOND}${fractionText(size % SECOND)}s`;
}

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const OFFSET = /^([+-]?)(\d{2}):(\d{2})$/;
const formats = new Map<string, Intl.DateTimeFormat>();
/** Names of zones that are kept: there are some 600. */
const MOST_ZONES = 1_000;

/** Date and time of day in a zone: its name, or its distance as `+01:00`. @throws {CelError} */
function partsIn(nanos: bigint, zone: string): Parts {
  const ms = Number(floor(nanos, 1_000_000n));
  const offset = zone === 'UTC' || zone === '' ? ['', '', '00', '00'] : OFFSET.exec(zone);
  if (offset !== null) {
    const [, sign, hours, minutes] = offset;
    const shift = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
    const at = new Date(ms + shift);
    return {
      year: at.getUTCFullYear(),
      month: at.getUTCMonth(),
      day: at.getUTCDate(),
      hour: at.getUTCHours(),
      minute: at.getUTCMinutes(),
      second: at.getUTCSeconds(),
    };
  }
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type as string, Number(value)]),
  );
  const part = (name: string): number => parts.get(name) ?? 0;
  return {
    year: part('year'),
    month: part('month') - 1,
    day: part('day'),
    hour: part('hour') % 24,
    minute: part('minute'),
    second: part('second'),
  };
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format !== undefined) return format;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
  if (formats.size >= MOST_ZONES) formats.clear();
  formats.set(zone, format);
  return format;
}

const floor = (value: bigint, by: bigint): bigint => (value - (((value % by) + by) % by)) / by;

const part =
  (of: (parts: Parts) => number) =>
  (nanos: bigint, zone: string): bigint =>
    BigInt(of(partsIn(nanos, zone)));

const dayOf = ({ year, month, day }: Parts): number => Date.UTC(year, month, day) / 86_400_000;

/** The functions that give a part of a time, each in a zone. */
export const TIME_PARTS = {
  getFullYear: part(({ year }) => year),
  getMonth: part(({ month }) => month),
  getDate: part(({ day }) => day),
  getDayOfMonth: part(({ day }) => day - 1),
  getDayOfWeek: part((parts) => (((dayOf(parts) + 4) % 7) + 7) % 7),
  getDayOfYear: part((parts) => dayOf(parts) - Date.UTC(parts.year, 0, 1) / 86_400_000),
  getHours: part(({ hour }) => hour),
  getMinutes: part(({ minute }) => minute),
  getSeconds: part(({ second }) => second),
  getMilliseconds: (nanos: bigint) => (((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n) / 1_000_000n,
} satisfies Readonly<Record<string, (nanos: bigint, zone: string) => bigint>>;
