import { payFor, type Library, type Meter, type Run } from '../functions.js';
import { CelError, compare, Duration, equal, isList, Optional, typeNameOf, Uint, type Value } from '../values.js';

const list = (value: Value | undefined): readonly Value[] => value as readonly Value[];

const walked =
  (run: (items: readonly Value[], args: readonly Value[], meter: Meter) => Value): Run =>
  (args, meter) => {
    const items = list(args[0]);
    meter.spend(items.length);
    return run(items, args, meter);
  };

function order(a: Value, b: Value, meter: Meter): number {
  payFor(a, meter);
  const found = compare(a, b);
  if (found === undefined)
    throw new CelError(`no such overload: ${typeNameOf(a)} and ${typeNameOf(b)} cannot be ordered`);
  return found;
}

const extreme = (sign: 1 | -1, name: string): Run =>
  walked((items, _, meter) =>
    items.length === 0
      ? fail(`${name} called on empty list`)
      : items.reduce((best, item) => (order(item, best, meter) * sign > 0 ? item : best)),
  );

function fail(why: string): never {
  throw new CelError(why);
}

const isSorted = walked((items, _, meter) =>
  items.every((item, i) => i === 0 || order(items[i - 1] ?? null, item, meter) <= 0),
);

/** Of numbers of one kind, or of durations. @param zero What the sum of nothing is. */
const summed = (zero: Value): Run =>
  walked((items) => (items.length === 0 ? zero : items.slice(1).reduce<Value>(sumOfTwo, items[0] ?? zero)));

function sumOfTwo(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (typeof a === 'bigint' && typeof b === 'bigint') return integer(a + b);
  if (a instanceof Uint && b instanceof Uint) return new Uint(BigInt.asUintN(64, a.value + b.value));
  if (a instanceof Duration && b instanceof Duration) return new Duration(integer(a.nanos + b.nanos));
  return fail(`no such overload: ${typeNameOf(a)} and ${typeNameOf(b)} cannot be added`);
}

const integer = (value: bigint): bigint => (BigInt.asIntN(64, value) === value ? value : fail('integer overflow'));

/** The items in the order of their keys. */
function sortedBy(items: Value | undefined, keys: Value | undefined, meter: Meter): Value {
  const [all, by] = [list(items), list(keys)];
  meter.spend(all.length * Math.ceil(Math.log2(all.length + 1)) + 1);
  const places = all.map((_, i) => i).sort((a, b) => order(by[a] ?? null, by[b] ?? null, meter));
  return places.map((i) => all[i] ?? null);
}

const place = (items: readonly Value[], at: Value | undefined): number => {
  const index = Number(at);
  return index < 0 || index > items.length ? fail(`index out of range: ${index}`) : index;
};

/** Equality of each with each is what this costs. */
const unique = walked((items, _, meter) => {
  const out: Value[] = [];
  for (const item of items) {
    meter.spend(out.length);
    if (!out.some((it) => equal(it, item, meter))) out.push(item);
  }
  return out;
});

function flat(items: readonly Value[], depth: number, meter: Meter, out: Value[] = []): Value[] {
  meter.spend(items.length);
  for (const item of items) {
    if (depth > 0 && isList(item)) flat(item, depth - 1, meter, out);
    else out.push(item);
  }
  return out;
}

/** Most numbers that are made at once. */
const LONGEST_RANGE = 100_000;

const ORDERED = ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration'];

/** Functions of lists. */
export const LISTS: Library = {
  ...Object.fromEntries(
    ORDERED.flatMap((type): [string, Run][] => [
      [`list<${type}>.isSorted(): bool`, isSorted],
      [`list<${type}>.min(): ${type}`, extreme(-1, 'min')],
      [`list<${type}>.max(): ${type}`, extreme(1, 'max')],
    ]),
  ),
  'list<int>.sum(): int': summed(0n),
  'list<uint>.sum(): uint': summed(new Uint(0n)),
  'list<double>.sum(): double': summed(0),
  'list<duration>.sum(): duration': summed(new Duration(0n)),
  'list<T>.indexOf(T): int': walked((items, [, value = null], meter) =>
    BigInt(items.findIndex((item) => equal(item, value, meter))),
  ),
  'list<T>.lastIndexOf(T): int': walked((items, [, value = null], meter) =>
    BigInt(items.findLastIndex((item) => equal(item, value, meter))),
  ),
  'list<T>.slice(int, int): list<T>': walked((items, [, from, to]) => {
    const [start, end] = [place(items, from), place(items, to)];
    return start > end
      ? fail(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
      : items.slice(start, end);
  }),
  'list<list<T>>.flatten(): list<T>': (args, meter) => flat(list(args[0]), 1, meter),
  'list<T>.flatten(int): list<dyn>': (args, meter) => flat(list(args[0]), Number(args[1]), meter),
  'list<T>.distinct(): list<T>': unique,
  'list<T>.reverse(): list<T>': walked((items) => [...items].reverse()),
  ...Object.fromEntries(
    ORDERED.flatMap((type): [string, Run][] => [
      [`list<${type}>.sort(): list<${type}>`, (args, meter) => sortedBy(args[0], args[0], meter)],
      [`list<T>.@sortByAssociatedKeys(list<${type}>): list<T>`, (args, meter) => sortedBy(args[0], args[1], meter)],
    ]),
  ),
  'list<T>.first(): optional<T>': walked((items) => new Optional(items[0])),
  'list<T>.last(): optional<T>': walked((items) => new Optional(items.at(-1))),
  '"lists".range(int): list<int>': ([count], meter) => {
    const length = Number(count);
    if (length < 0 || length > LONGEST_RANGE) fail(`lists.range size exceeds ${LONGEST_RANGE}`);
    meter.spend(length);
    return Array.from({ length }, (_, i) => BigInt(i));
  },
  '"sets".contains(list<T>, list<T>): bool': sets((has, a, b) => b.every((it) => has(a, it))),
  '"sets".equivalent(list<T>, list<T>): bool': sets(
    (has, a, b) => a.every((it) => has(b, it)) && b.every((it) => has(a, it)),
  ),
  '"sets".intersects(list<T>, list<T>): bool': sets((has, a, b) => a.some((it) => has(b, it))),
};

type Has = (items: readonly Value[], value: Value) => boolean;

function sets(run: (has: Has, a: readonly Value[], b: readonly Value[]) => boolean): Run {
  return ([a, b], meter) => {
    meter.spend(list(a).length * list(b).length + 1);
    const has: Has = (items, value) => items.some((item) => equal(item, value, meter));
    return run(has, list(a), list(b));
  };
}
