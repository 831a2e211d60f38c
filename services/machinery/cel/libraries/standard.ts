import { payFor, reading, type Library, type Run } from '../functions.js';
import type { Timestamp } from '../values.js';
import { CelError, CelMap, Duration, Optional, typeNameOf, TypeValue, Uint, type Value } from '../values.js';
import { matches } from './expressions.js';
import { duration, timestamp } from './operators.js';
import { durationText, parseDuration, parseTimestamp, timestampText, TIME_PARTS } from './times.js';

const text = (value: Value | undefined): string => value as string;

/** Code points. */
export function lengthOf(value: string): number {
  let count = value.length;
  for (let i = 1; i < value.length; i++) {
    if ((value.charCodeAt(i) & 0xfc00) === 0xdc00 && (value.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

const size: Run = ([value = null], meter) => {
  payFor(value, meter);
  if (typeof value === 'string') return BigInt(lengthOf(value));
  if (value instanceof CelMap) return BigInt(value.size);
  return BigInt((value as Uint8Array | readonly Value[]).length);
};

const SIZES: Library = Object.fromEntries(
  ['string', 'bytes', 'list<T>', 'map<K, V>'].flatMap((type) => [
    [`size(${type}): int`, size],
    [`${type}.size(): int`, size],
  ]),
);

const inRange = (value: bigint, isSigned: boolean): bigint => {
  const cut = isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
  if (cut !== value) throw new CelError('range error');
  return value;
};

function whole(value: number, isSigned: boolean): bigint {
  // Beyond these a double is no integer of 64 bits any more.
  const [least, most] = isSigned ? [-(2 ** 63), 2 ** 63] : [-1, 2 ** 64];
  if (!(value > least && value < most)) throw new CelError('range error');
  return BigInt(Math.trunc(value));
}

function parsed(value: string, isSigned: boolean): bigint {
  const pattern = isSigned ? /^[+-]?\d+$/ : /^\+?\d+$/;
  if (!pattern.test(value) || value.length > 64)
    throw new CelError(`strconv: parsing ${JSON.stringify(value)}: invalid syntax`);
  return inRange(BigInt(value.replace(/^\+/, '')), isSigned);
}

function parsedDouble(value: string): number {
  const isNumber = /^[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?|nan)$/i.test(value);
  if (!isNumber) throw new CelError(`strconv: parsing ${JSON.stringify(value)}: invalid syntax`);
  if (/nan/i.test(value)) return NaN;
  return /inf/i.test(value) ? (value.startsWith('-') ? -Infinity : Infinity) : Number(value);
}

const TRUE = new Set(['1', 't', 'true', 'TRUE', 'True', 'T']);
const FALSE = new Set(['0', 'f', 'false', 'FALSE', 'False', 'F']);

/** As doubles are written where they become texts. */
export const doubleText = (value: number): string =>
  Number.isFinite(value)
    ? String(value).replace(/e([+-])(\d)$/, 'e$10$2')
    : Number.isNaN(value)
      ? 'NaN'
      : value > 0
        ? '+Inf'
        : '-Inf';

const CONVERSIONS: Library = reading({
  'int(int): int': ([a = null]) => a,
  'int(uint): int': ([a]) => inRange((a as Uint).value, true),
  'int(double): int': ([a]) => whole(a as number, true),
  'int(string): int': ([a]) => parsed(text(a), true),
  'int(timestamp): int': ([a]) => floorSeconds((a as Timestamp).nanos),
  'uint(uint): uint': ([a = null]) => a,
  'uint(int): uint': ([a]) => new Uint(inRange(a as bigint, false)),
  'uint(double): uint': ([a]) => new Uint(whole(a as number, false)),
  'uint(string): uint': ([a]) => new Uint(parsed(text(a), false)),
  'double(double): double': ([a = null]) => a,
  'double(int): double': ([a]) => Number(a),
  'double(uint): double': ([a]) => Number((a as Uint).value),
  'double(string): double': ([a]) => parsedDouble(text(a)),
  'string(string): string': ([a = null]) => a,
  'string(bool): string': ([a]) => String(a === true),
  'string(int): string': ([a]) => (a as bigint).toString(),
  'string(uint): string': ([a]) => String((a as Uint).value),
  'string(double): string': ([a]) => doubleText(a as number),
  'string(bytes): string': ([a]) => textOfBytes(a as Uint8Array),
  'string(timestamp): string': ([a]) => timestampText((a as Timestamp).nanos),
  'string(duration): string': ([a]) => durationText((a as Duration).nanos),
  'bytes(bytes): bytes': ([a = null]) => a,
  'bytes(string): bytes': ([a]) => Buffer.from(text(a)),
  'bool(bool): bool': ([a = null]) => a,
  'bool(string): bool': ([a]) => {
    if (TRUE.has(text(a))) return true;
    if (FALSE.has(text(a))) return false;
    throw new CelError(`type conversion error from 'string' to 'bool'`);
  },
  'timestamp(timestamp): timestamp': ([a = null]) => a,
  'timestamp(string): timestamp': ([a]) => timestamp(parseTimestamp(text(a))),
  'timestamp(int): timestamp': ([a]) => timestamp((a as bigint) * 1_000_000_000n),
  'duration(duration): duration': ([a = null]) => a,
  'duration(string): duration': ([a]) => duration(parseDuration(text(a))),
  'dyn(T): dyn': ([a = null]) => a,
  'type(T): type': ([a = null]) => new TypeValue(typeNameOf(a)),
});

const floorSeconds = (nanos: bigint): bigint => {
  const seconds = nanos / 1_000_000_000n;
  return nanos % 1_000_000_000n < 0n ? seconds - 1n : seconds;
};

function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** Looking for one text in another costs a tenth of a step for each character. */
const looking =
  (run: (a: string, b: string) => boolean): Run =>
  ([a, b], meter) => {
    meter.spend(text(a).length / 10);
    return run(text(a), text(b));
  };

const TEXTS: Library = {
  'string.contains(string): bool': looking((a, b) => a.includes(b)),
  'string.startsWith(string): bool': looking((a, b) => a.startsWith(b)),
  'string.endsWith(string): bool': looking((a, b) => a.endsWith(b)),
  'string.matches(string): bool': matches,
  'matches(string, string): bool': matches,
};

const TIMES: Library = Object.fromEntries(
  Object.entries(TIME_PARTS).flatMap(([name, part]): [string, Run][] => [
    [`timestamp.${name}(): int`, ([a]) => part((a as Timestamp).nanos, 'UTC')],
    [`timestamp.${name}(string): int`, ([a, zone]) => part((a as Timestamp).nanos, text(zone))],
  ]),
);

const UNITS = { getHours: 3_600_000_000_000n, getMinutes: 60_000_000_000n, getSeconds: 1_000_000_000n };

const DURATIONS: Library = {
  ...Object.fromEntries(
    Object.entries(UNITS).map(([name, unit]): [string, Run] => [
      `duration.${name}(): int`,
      ([a]) => (a as Duration).nanos / unit,
    ]),
  ),
  'duration.getMilliseconds(): int': ([a]) => ((a as Duration).nanos / 1_000_000n) % 1_000n,
};

const inner = (value: Value | undefined): Value | undefined => (value as Optional).value;

const OPTIONALS: Library = {
  '"optional".of(T): optional<T>': ([a = null]) => new Optional(a),
  '"optional".none(): optional<T>': () => new Optional(undefined),
  '"optional".ofNonZeroValue(T): optional<T>': ([a = null]) => new Optional(isZero(a) ? undefined : a),
  'optional<T>.hasValue(): bool': ([a]) => inner(a) !== undefined,
  'optional<T>.value(): T': ([a]) => {
    const value = inner(a);
    if (value === undefined) throw new CelError('optional.none() dereference');
    return value;
  },
  // The second is evaluated only where it is wanted: `compile.ts` has these.
  'optional<T>.or(optional<T>): optional<T>': ([a = null]) => a,
  'optional<T>.orValue(T): T': ([a]) => inner(a) ?? null,
  'optional<T>.optMap(U): optional<U>': ([a = null]) => a,
  'optional<T>.optFlatMap(optional<U>): optional<U>': ([a = null]) => a,
};

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof CelMap) return value.size === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  return (Array.isArray(value) || value instanceof Uint8Array) && value.length === 0;
}

/** The functions that every environment of the language has. */
export const STANDARD: Library = { ...SIZES, ...CONVERSIONS, ...TEXTS, ...TIMES, ...DURATIONS, ...OPTIONALS };
