import type { Work } from '../work/work.js';

/** An unsigned integer of 64 bits; a plain `bigint` is a signed one. */
export class Uint {
  readonly sort = 'uint';
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time: nanoseconds since 1970. */
export class Timestamp {
  readonly sort = 'timestamp';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Duration {
  readonly sort = 'duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A value that may not be there. */
export class Optional {
  readonly sort = 'optional';
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** The type of a value, as a value. */
export class TypeValue {
  readonly sort = 'type';
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library, e.g. an address. Two are equal where their keys are. */
export interface Opaque {
  readonly opaque: string;
  /** The value in its normal form. */
  readonly key: string;
  /** What `value.name` is, of one that has members. */
  readonly member?: (name: string) => Value | undefined;
}

export type Value =
  | null
  | boolean
  | bigint
  | Uint
  | number
  | string
  | Uint8Array
  | readonly Value[]
  | CelMap
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | Opaque;

/** By the ids of keys. */
interface Entries {
  readonly size: number;
  get(id: string): readonly [key: Value, value: Value] | undefined;
  values(): Iterable<readonly [key: Value, value: Value]>;
  /** The value of one, found out in steps. */
  found?(id: string): Work<Value | undefined>;
}

/** What has the values of a map made when they are asked for. */
interface Source {
  readonly size: number;
  get(key: string): Value | undefined;
  keys(): Iterable<string>;
  /** As `get`, in steps. */
  found?(key: string): Work<Value | undefined>;
}

/** A map, or an object with known members: keys are compared by what they mean, whatever their numeric type. */
export class CelMap {
  /** Of a value of a named type: the type. */
  readonly typeName: string | undefined;
  readonly #entries: Entries;

  private constructor(entries: Entries, typeName?: string) {
    this.#entries = entries;
    this.typeName = typeName;
  }

  /** @throws {CelError} For keys that cannot be, or are there twice. */
  static of(entries: Iterable<readonly [key: Value, value: Value]>, typeName?: string): CelMap {
    const byId = new Map<string, readonly [Value, Value]>();
    for (const entry of entries) {
      const id = idOfKey(entry[0]);
      if (id === undefined) throw new CelError(`unsupported key type: ${typeNameOf(entry[0])}`);
      if (byId.has(id)) throw new CelError('Failed with repeated key');
      byId.set(id, entry);
    }
    return new CelMap(byId, typeName);
  }

  /** A map whose keys are texts, over something that has its values made when they are asked for. */
  static over(source: Source): CelMap {
    return new CelMap({
      *found(id) {
        const key = id.slice(1);
        return source.found === undefined ? source.get(key) : yield* source.found(key);
      },
      get size() {
        return source.size;
      },
      get: (id) => {
        const key = id.slice(1);
        const value = id.startsWith('s') ? source.get(key) : undefined;
        return value === undefined ? undefined : [key, value];
      },
      *values() {
        for (const key of source.keys()) yield [key, source.get(key) ?? null];
      },
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    const id = idOfKey(key);
    return id === undefined ? undefined : this.#entries.get(id)?.[1];
  }

  /** The value of a key that is a text, where finding it out may take long. */
  *found(key: string): Work<Value | undefined> {
    const found = this.#entries.found?.(`s${key}`);
    return found === undefined ? this.get(key) : yield* found;
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  entries(): Iterable<readonly [key: Value, value: Value]> {
    return this.#entries.values();
  }
}

function idOfKey(key: Value): string | undefined {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (typeof key === 'boolean') return `b${String(key)}`;
  if (key instanceof Uint) return `n${key.value}`;
  return typeof key === 'number' && Number.isInteger(key) ? `n${BigInt(key)}` : undefined;
}

/** A failure of an expression. Another expression beside it may make up for it: `true || 1/0 == 1`. */
export class CelError extends Error {
  override readonly name: string = 'CelError';
}

/** An expression that took too long. Nothing makes up for that. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

export const isOpaque = (value: Value): value is Opaque =>
  typeof value === 'object' && value !== null && 'opaque' in value;

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** As `type()` tells it. */
export function typeNameOf(value: Value): string {
  if (value === null) return 'null_type';
  const plain = PLAIN.get(typeof value);
  if (plain !== undefined) return plain;
  if (isList(value)) return 'list';
  for (const [type, name] of CLASSES) if (value instanceof type) return name;
  return isOpaque(value) ? value.opaque : 'dyn';
}

const PLAIN: ReadonlyMap<string, string> = new Map([
  ['boolean', 'bool'],
  ['bigint', 'int'],
  ['number', 'double'],
  ['string', 'string'],
]);
const CLASSES: readonly (readonly [new (...args: never[]) => object, string])[] = [
  [Uint, 'uint'],
  [Uint8Array, 'bytes'],
  [CelMap as unknown as new () => CelMap, 'map'],
  [Timestamp, 'google.protobuf.Timestamp'],
  [Duration, 'google.protobuf.Duration'],
  [Optional, 'optional_type'],
  [TypeValue, 'type'],
];

const isNumeric = (value: Value): value is bigint | Uint | number =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;

const numberOf = (value: bigint | Uint | number): bigint | number => (value instanceof Uint ? value.value : value);

/** An integer beside a double is read as a double, with what it loses by that. */
const comparable = (a: bigint | number, b: bigint | number): readonly [bigint | number, bigint | number] =>
  typeof a === typeof b ? [a, b] : [Number(a), Number(b)];

/** Negative, zero or positive; undefined where the two cannot be compared. */
export function compare(a: Value, b: Value): number | undefined {
  if (isNumeric(a) && isNumeric(b)) {
    const [x, y] = comparable(numberOf(a), numberOf(b));
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : undefined;
  }
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  const isTime = (a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration);
  if (!isTime) return undefined;
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** By code points, not by units. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rankOf(x) - rankOf(y);
  }
  return a.length - b.length;
}

/** Units of pairs come after all others. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Counts what is looked at; a meter of an evaluation ends it when that is too much. */
export interface Spending {
  spend(cost: number): void;
}

/**
 * Values of types that cannot be equal are not.
 *
 * @param meter Is told of each value inside: one that stands in several places is looked at in each.
 */
export function equal(a: Value, b: Value, meter: Spending): boolean {
  if (a === b) return true;
  meter.spend(1);
  if (typeof a === 'string' && typeof b === 'string') return false;
  if (isNumeric(a) && isNumeric(b)) return compare(a, b) === 0;
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false;
    meter.spend(a.length);
    return a.every((item, i) => equal(item, b[i] ?? null, meter));
  }
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, meter);
  if (a instanceof Optional && b instanceof Optional) {
    return a.value === undefined || b.value === undefined ? a.value === b.value : equal(a.value, b.value, meter);
  }
  if (a instanceof TypeValue && b instanceof TypeValue) return a.name === b.name;
  if (a !== null && b !== null && isOpaque(a) && isOpaque(b)) return a.opaque === b.opaque && a.key === b.key;
  return compare(a, b) === 0;
}

function equalMaps(a: CelMap, b: CelMap, meter: Spending): boolean {
  if (a.size !== b.size) return false;
  meter.spend(2 * a.size); // members are looked up
  for (const [key, value] of a.entries()) {
    const other = b.get(key);
    if (other === undefined || !equal(value, other, meter)) return false;
  }
  return true;
}
