import type { ScalarType } from '../types/declarations.js';
import type { Codec } from './codec.js';
import { never, nothing } from './codec.js';
import { canonicalQuantity } from './quantity.js';
import { canonicalTime } from './times.js';
import type { Trail } from './trail.js';
import { NOT_EXACT, quoted } from './trail.js';

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
/** What is out of its range is beyond what numbers keep, and is refused before. */
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
const isInexact = (value: unknown): boolean =>
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
