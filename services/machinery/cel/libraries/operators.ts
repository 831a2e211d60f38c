import { payFor, reading, type Library, type Run } from '../functions.js';
import {
  CelError,
  CelMap,
  compare,
  Duration,
  equal,
  isList,
  Optional,
  Timestamp,
  typeNameOf,
  Uint,
  type Value,
} from '../values.js';

const int = (value: bigint): bigint => {
  if (BigInt.asIntN(64, value) !== value) throw new CelError('integer overflow');
  return value;
};
const uint = (value: bigint): Uint => {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('unsigned integer overflow');
  return new Uint(value);
};

/** Years that times may be in, in nanoseconds since 1970: 1 to 9999. */
const LEAST_TIME = -62_135_596_800n * 1_000_000_000n;
const MOST_TIME = 253_402_300_800n * 1_000_000_000n;

export function timestamp(nanos: bigint): Timestamp {
  if (nanos < LEAST_TIME || nanos >= MOST_TIME) throw new CelError('timestamp overflow');
  return new Timestamp(nanos);
}

export const duration = (nanos: bigint): Duration => new Duration(int(nanos));

/** Functions of two values of known classes: which they are was checked when the function was chosen. */
const ints =
  (run: (a: bigint, b: bigint) => bigint): Run =>
  ([a, b]) =>
    int(run(a as bigint, b as bigint));
const uints =
  (run: (a: bigint, b: bigint) => bigint): Run =>
  ([a, b]) =>
    uint(run((a as Uint).value, (b as Uint).value));
const doubles =
  (run: (a: number, b: number) => number): Run =>
  ([a, b]) =>
    run(a as number, b as number);

function divisor(value: bigint, what: string): bigint {
  if (value === 0n) throw new CelError(what);
  return value;
}
const byZero = 'division by zero';
const modulusZero = 'modulus by zero';

const nanosOf = (value: Value | undefined): bigint => (value as Timestamp | Duration).nanos;

function ordered(holds: (order: number) => boolean): Run {
  return ([a = null, b = null], meter) => {
    payFor(a, meter);
    const order = compare(a, b);
    if (order === undefined && !(typeof a === 'number' || typeof b === 'number')) {
      throw new CelError(`no such overload: ${typeNameOf(a)} and ${typeNameOf(b)} cannot be ordered`);
    }
    return order !== undefined && holds(order);
  };
}

const NUMERIC = ['int', 'uint', 'double'];
const ORDERED_PAIRS: readonly (readonly [string, string])[] = [
  ...NUMERIC.flatMap((a) => NUMERIC.map((b) => [a, b] as const)),
  ...['bool', 'string', 'bytes', 'timestamp', 'duration'].map((it) => [it, it] as const),
];
const ORDERS = {
  '<': (o: number) => o < 0,
  '<=': (o: number) => o <= 0,
  '>': (o: number) => o > 0,
  '>=': (o: number) => o >= 0,
};

const COMPARISONS: Library = Object.fromEntries(
  Object.entries(ORDERS).flatMap(([operator, holds]) =>
    ORDERED_PAIRS.map(([a, b]) => [`_${operator}_(${a}, ${b}): bool`, ordered(holds)]),
  ),
);

const joined: Run = ([a, b], meter) => {
  const [left, right] = [a as string, b as string];
  meter.spend((left.length + right.length) / 10);
  return left + right;
};

const index: Run = ([list, place]) => {
  const items = list as readonly Value[];
  const at = wholeNumber(place ?? null);
  if (at === undefined || at < 0 || at >= items.length)
    throw new CelError(`index out of bounds: ${at ?? typeNameOf(place ?? null)}`);
  return items[at] ?? null;
};

/** A place in a list; doubles that are whole count, too. */
function wholeNumber(value: Value): number | undefined {
  const plain = value instanceof Uint ? value.value : value;
  return typeof plain === 'bigint' || (typeof plain === 'number' && Number.isInteger(plain))
    ? Number(plain)
    : undefined;
}

const keyText = (key: Value): string =>
  typeof key === 'string' || typeof key === 'bigint' ? String(key) : typeNameOf(key);

const entry: Run = ([map, key = null]) => {
  const found = (map as CelMap).get(key);
  if (found === undefined) throw new CelError(`no such key: ${keyText(key)}`);
  return found;
};

const optionalEntry: Run = ([holder, key = null]) => {
  const inner = holder instanceof Optional ? holder.value : holder;
  if (inner === undefined) return new Optional(undefined);
  if (inner instanceof CelMap) return new Optional(inner.get(key));
  const at = wholeNumber(key);
  return new Optional(isList(inner) && at !== undefined && at >= 0 ? inner[at] : undefined);
};

const contains: Run = ([value = null, holder = null], meter) => {
  if (holder instanceof CelMap) return holder.get(value) !== undefined;
  meter.spend((holder as readonly Value[]).length);
  return (holder as readonly Value[]).some((item) => equal(item, value, meter));
};

const same: Run = ([a = null, b = null], meter) => {
  meter.spend(sizeOf(a, b));
  return equal(a, b, meter);
};

/** As much as has to be looked at to compare two values. */
function sizeOf(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return Math.min(a.length, b.length) / 10;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Math.min(a.length, b.length) / 10;
  return 1;
}

/** What expressions write with signs; those that do not want all their values are in `compile.ts`. */
export const OPERATORS: Library = {
  ...COMPARISONS,
  '_&&_(bool, bool): bool': () => false,
  '_||_(bool, bool): bool': () => false,
  '_?_:_(bool, T, T): T': () => null,
  '_==_(T, T): bool': same,
  '_!=_(T, T): bool': (args, meter) => same(args, meter) === false,
  '!_(bool): bool': ([a]) => a === false,
  '-_(int): int': ([a]) => int(-(a as bigint)),
  '-_(double): double': ([a]) => -(a as number),
  '_+_(int, int): int': ints((a, b) => a + b),
  '_+_(uint, uint): uint': uints((a, b) => a + b),
  '_+_(double, double): double': doubles((a, b) => a + b),
  '_+_(string, string): string': joined,
  ...reading({ '_+_(bytes, bytes): bytes': ([a, b]) => Buffer.concat([a as Uint8Array, b as Uint8Array]) }),
  '_+_(list<T>, list<T>): list<T>': ([a, b], meter) => {
    const all = [...(a as readonly Value[]), ...(b as readonly Value[])];
    meter.spend(all.length);
    return all;
  },
  '_+_(timestamp, duration): timestamp': ([a, b]) => timestamp(nanosOf(a) + nanosOf(b)),
  '_+_(duration, timestamp): timestamp': ([a, b]) => timestamp(nanosOf(a) + nanosOf(b)),
  '_+_(duration, duration): duration': ([a, b]) => duration(nanosOf(a) + nanosOf(b)),
  '_-_(int, int): int': ints((a, b) => a - b),
  '_-_(uint, uint): uint': uints((a, b) => a - b),
  '_-_(double, double): double': doubles((a, b) => a - b),
  '_-_(timestamp, timestamp): duration': ([a, b]) => duration(nanosOf(a) - nanosOf(b)),
  '_-_(timestamp, duration): timestamp': ([a, b]) => timestamp(nanosOf(a) - nanosOf(b)),
  '_-_(duration, duration): duration': ([a, b]) => duration(nanosOf(a) - nanosOf(b)),
  '_*_(int, int): int': ints((a, b) => a * b),
  '_*_(uint, uint): uint': uints((a, b) => a * b),
  '_*_(double, double): double': doubles((a, b) => a * b),
  '_/_(int, int): int': ints((a, b) => a / divisor(b, byZero)),
  '_/_(uint, uint): uint': uints((a, b) => a / divisor(b, byZero)),
  '_/_(double, double): double': doubles((a, b) => a / b),
  '_%_(int, int): int': ints((a, b) => a % divisor(b, modulusZero)),
  '_%_(uint, uint): uint': uints((a, b) => a % divisor(b, modulusZero)),
  '_[_](list<T>, int): T': index,
  '_[_](list<T>, uint): T': index,
  '_[_](list<T>, double): T': index,
  '_[_](map<K, V>, K): V': entry,
  '_[?_](list<T>, int): optional<T>': optionalEntry,
  '_[?_](map<K, V>, K): optional<V>': optionalEntry,
  '_[?_](optional<list<T>>, int): optional<T>': optionalEntry,
  '_[?_](optional<map<K, V>>, K): optional<V>': optionalEntry,
  '_[_](optional<list<T>>, int): optional<T>': optionalEntry,
  '_[_](optional<map<K, V>>, K): optional<V>': optionalEntry,
  '@in(T, list<T>): bool': contains,
  '@in(K, map<K, V>): bool': contains,
};
