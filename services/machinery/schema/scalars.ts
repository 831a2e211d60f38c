import type { ScalarType } from '../types/declarations.js';
import { type Codec, never, nothing, type Trail, NOT_EXACT, quoted } from './trail.js';
import { canonicalQuantity } from './quantity.js';

function stringOf(value: unknown, trail: Trail): string {
  if (typeof value !== 'string') throw trail.mismatch(value, 'string');
  return value;
}

const string: Codec = { decode: stringOf, isZero: (v) => v === '', zero: () => '', type: 'string' };

const bool: Codec = {
  decode(value, trail) {
    if (typeof value !== 'boolean') throw trail.mismatch(value, 'bool');
    return value;
  },
  isZero: (v) => v === false,
  zero: () => false,
  type: 'bool',
};

function integer(type: string, least: number, most: number): Codec {
  return {
    decode(value, trail) {
      if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
        throw trail.mismatch(value, type);
      }
      if (trail.literal !== undefined) throw trail.mismatch(value, type);
      return value;
    },
    isZero: (v) => v === 0,
    zero: () => 0,
    type,
  };
}

const int32 = integer('int32', -(2 ** 31), 2 ** 31 - 1);
/** Numbers beyond its range are refused before: JSON numbers do not keep them exactly. */
const anyInt64 = integer('int64', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
const int64: Codec = {
  ...anyInt64,
  decode(value, trail) {
    if (isInexact(value)) throw trail.inexact('int64');
    return anyInt64.decode(value, trail);
  },
};

/**
 * Whether a number may have been another integer in the text that it was read from: from 2^53 on not every integer is a
 * number, and beyond 64 bits no reader expects one. What would be stored wrong is refused.
 */
export const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) <= 2 ** 64;

const double: Codec = {
  decode(value, trail) {
    if (typeof value !== 'number') throw trail.mismatch(value, 'float64');
    return value;
  },
  isZero: (v) => v === 0,
  zero: () => 0,
  type: 'float64',
};

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const bytes: Codec = {
  decode(value, trail) {
    if (typeof value !== 'string') throw trail.mismatch(value, '[]uint8');
    // Line breaks are allowed anywhere and mean nothing.
    const text = value.includes('\n') || value.includes('\r') ? value.replace(/[\r\n]/g, '') : value;
    if (text.length % 4 !== 0 || !BASE64.test(text)) throw trail.malformed('illegal base64 data');
    return text;
  },
  isZero: (v) => v === '',
  zero: nothing,
  nullElement: () => '',
  type: '[]uint8',
};

function time(unit: 'second' | 'microsecond', layout: string): Codec {
  return {
    decode(value, trail) {
      const text = stringOf(value, trail);
      const canonical = canonicalTime(text, unit);
      if (canonical === undefined) throw trail.malformed(`parsing time ${quoted(text)} as "${layout}": cannot parse`);
      return canonical;
    },
    isZero: (v) => v === null,
    zero: nothing,
    type: 'string',
  };
}

const DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

const duration: Codec = {
  decode(value, trail) {
    const text = stringOf(value, trail);
    if (text.length > 128 || !DURATION.test(text)) throw trail.malformed(`time: invalid duration ${quoted(text)}`);
    return text;
  },
  isZero: (v) => v === '0s',
  zero: () => '0s',
  type: 'string',
};

const QUANTITY_PROBLEM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const quantity: Codec = {
  decode(value, trail) {
    if (typeof value !== 'string' && typeof value !== 'number') throw trail.malformed(QUANTITY_PROBLEM);
    const text = typeof value === 'string' ? value.trim() : trail.literal;
    if (text === undefined && isInexact(value)) throw trail.malformed(`${NOT_EXACT}: write the quantity as a string`);
    const canonical = canonicalQuantity(text ?? String(value));
    if (canonical === undefined) throw trail.malformed(QUANTITY_PROBLEM);
    return canonical;
  },
  isZero: never,
  zero: () => '0',
  type: 'resource.Quantity',
};

const intOrString: Codec = {
  decode: (value, trail) => (typeof value === 'string' ? value : int32.decode(value, trail)),
  isZero: never,
  zero: () => 0,
  type: 'intstr.IntOrString',
};

/** Taken over as it is, and shared with the input. */
const rawJSON: Codec = {
  decode(value, trail) {
    if (holdsInexact(value)) throw trail.inexact('runtime.RawExtension');
    return value;
  },
  isZero: never,
  zero: nothing,
  type: 'runtime.RawExtension',
};

/** Recurses: how deep a body may nest is bounded where it is parsed. */
function holdsInexact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isInexact(value);
  for (const key in value) if (holdsInexact((value as Record<string, unknown>)[key])) return true;
  return false;
}

export const SCALARS: Readonly<Record<ScalarType, Codec>> = {
  string,
  bool,
  int32,
  int64,
  double,
  bytes,
  time: time('second', '2006-01-02T15:04:05Z07:00'),
  microTime: time('microsecond', '2006-01-02T15:04:05.000000Z07:00'),
  duration,
  quantity,
  intOrString,
  rawJSON,
};

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
