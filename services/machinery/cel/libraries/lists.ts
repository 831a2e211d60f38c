import type { Library, Meter, Run } from '../functions.js';
import { CelError, compare, equal, isList, Optional, typeNameOf, Uint, type Value } from '../values.js';

const list = (value: Value | undefined): readonly Value[] => value as readonly Value[];

const walked =
  (run: (items: readonly Value[], args: readonly Value[], meter: Meter) => Value): Run =>
  (args, meter) => {
    const items = list(args[0]);
    meter.spend(items.length);
    return run(items, args, meter);
  };

function order(a: Value, b: Value): number {
  const found = compare(a, b);
  if (found === undefined)
    throw new CelError(`no such overload: ${typeNameOf(a)} and ${typeNameOf(b)} cannot be ordered`);
  return found;
}

const extreme = (sign: 1 | -1, name: string): Run =>
  walked((items) =>
    items.length === 0
      ? fail(`${name} called on empty list`)
      : items.reduce((best, item) => (order(item, best) * sign > 0 ? item : best)),
  );

function fail(why: string): never {
  throw new CelError(why);
}

const isSorted = walked((items) => items.every((item, i) => i === 0 || order(items[i - 1] ?? null, item) <= 0));

const sums = {
  int: walked((items) => sumOf(items as readonly bigint[])),
  uint: walked(
    (items) =>
      new Uint(
        BigInt.asUintN(
          64,
          items.reduce((sum: bigint, it) => sum + (it as Uint).value, 0n),
        ),
      ),
  ),
  double: walked((items) => (items as readonly number[]).reduce((sum, it) => sum + it, 0)),
};

function sumOf(items: readonly bigint[]): bigint {
  const sum = items.reduce((total, it) => total + it, 0n);
  return BigInt.asIntN(64, sum) === sum ? sum : fail('integer overflow');
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

function flat(items: readonly Value[], depth: number, meter: Meter): Value[] {
  meter.spend(items.length);
  return items.flatMap((item) => (depth > 0 && isList(item) ? flat(item, depth - 1, meter) : [item]));
}

/** Most numbers that are made at once. */
const LONGEST_RANGE = 100_000;

const ORDERED = ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration', 'dyn'];

/** Functions of lists. */
export const LISTS: Library = {
  ...Object.fromEntries(
    ORDERED.flatMap((type): [string, Run][] => [
      [`list<${type}>.isSorted(): bool`, isSorted],
      [`list<${type}>.min(): ${type}`, extreme(-1, 'min')],
      [`list<${type}>.max(): ${type}`, extreme(1, 'max')],
    ]),
  ),
  'list<int>.sum(): int': sums.int,
  'list<uint>.sum(): uint': sums.uint,
  'list<double>.sum(): double': sums.double,
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
  'list<T>.flatten(): list<dyn>': (args, meter) => flat(list(args[0]), 1, meter),
  'list<T>.flatten(int): list<dyn>': (args, meter) => flat(list(args[0]), Number(args[1]), meter),
  'list<T>.distinct(): list<T>': unique,
  'list<T>.reverse(): list<T>': walked((items) => [...items].reverse()),
  'list<T>.sort(): list<T>': walked((items, _, meter) => {
    meter.spend(items.length * Math.ceil(Math.log2(items.length + 1)));
    return [...items].sort(order);
  }),
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
