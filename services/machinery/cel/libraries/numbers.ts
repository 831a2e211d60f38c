import type { Library, Run } from '../functions.js';
import { CelError, compare, Uint, type Value } from '../values.js';

const extreme =
  (sign: 1 | -1): Run =>
  (args) => {
    const values = args.length === 1 && Array.isArray(args[0]) ? (args[0] as readonly Value[]) : args;
    if (values.length === 0) throw new CelError('math function called on an empty list');
    return values.reduce((best, it) => ((compare(it, best) ?? 0) * sign > 0 ? it : best));
  };

/** With one number, up to five, or a list of them. */
function extremes(name: string, run: Run): Library {
  const counts = [1, 2, 3, 4, 5];
  return Object.fromEntries([
    ...['int', 'uint', 'double'].flatMap((type) => [
      ...counts.map((n): [string, Run] => [
        `"math".${name}(${Array.from({ length: n }, () => type).join(', ')}): ${type}`,
        run,
      ]),
      [`"math".${name}(list<${type}>): ${type}`, run] as [string, Run],
    ]),
    ...counts
      .slice(1)
      .map((n): [string, Run] => [`"math".${name}(${Array.from({ length: n }, () => 'dyn').join(', ')}): dyn`, run]),
  ]);
}

const real =
  (run: (value: number) => Value): Run =>
  ([a]) =>
    run(a as number);

/** Halves go away from zero. */
const rounded = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

function absolute([a = null]: readonly Value[]): Value {
  if (typeof a === 'bigint') {
    if (a === -(2n ** 63n)) throw new CelError('integer overflow');
    return a < 0n ? -a : a;
  }
  return typeof a === 'number' ? Math.abs(a) : a;
}

function sign([a = null]: readonly Value[]): Value {
  if (typeof a === 'bigint') return a > 0n ? 1n : a < 0n ? -1n : 0n;
  if (typeof a === 'number') return Math.sign(a);
  return new Uint((a as Uint).value === 0n ? 0n : 1n);
}

/** Of integers of both kinds; what comes of it is cut to 64 bits. */
const bits =
  (run: (a: bigint, b: bigint) => bigint): Run =>
  ([a, b]) =>
    a instanceof Uint
      ? new Uint(BigInt.asUintN(64, run(a.value, wholeOf(b))))
      : BigInt.asIntN(64, run(a as bigint, wholeOf(b)));

const wholeOf = (value: Value | undefined): bigint => (value instanceof Uint ? value.value : ((value ?? 0n) as bigint));

/** Beyond 63 places nothing is left. Signs are shifted as any other bit. */
const shifted = (run: (a: bigint, by: bigint) => bigint): Run =>
  bits((a, by) => {
    if (by < 0n) throw new CelError(`math shift by a negative number: ${by}`);
    return by > 63n ? 0n : run(BigInt.asUintN(64, a), by);
  });

const BITS = {
  bitAnd: bits((a, b) => a & b),
  bitOr: bits((a, b) => a | b),
  bitXor: bits((a, b) => a ^ b),
};
const SHIFTS = {
  bitShiftLeft: shifted((a, by) => a << by),
  bitShiftRight: shifted((a, by) => a >> by),
};

const bitFunctions = (type: string): [string, Run][] => [
  ...Object.entries(BITS).map(([name, run]): [string, Run] => [`"math".${name}(${type}, ${type}): ${type}`, run]),
  ...Object.entries(SHIFTS).map(([name, run]): [string, Run] => [`"math".${name}(${type}, int): ${type}`, run]),
  [`"math".bitNot(${type}): ${type}`, bits((a) => ~a)],
];

/** Functions of numbers. */
export const NUMBERS: Library = {
  ...extremes('greatest', extreme(1)),
  ...extremes('least', extreme(-1)),
  ...Object.fromEntries(['int', 'uint'].flatMap(bitFunctions)),
  '"math".ceil(double): double': real(Math.ceil),
  '"math".floor(double): double': real(Math.floor),
  '"math".round(double): double': real(rounded),
  '"math".trunc(double): double': real(Math.trunc),
  '"math".isNaN(double): bool': real(Number.isNaN),
  '"math".isInf(double): bool': real((value) => value === Infinity || value === -Infinity),
  '"math".isFinite(double): bool': real(Number.isFinite),
  '"math".abs(int): int': absolute,
  '"math".abs(uint): uint': absolute,
  '"math".abs(double): double': absolute,
  '"math".sign(int): int': sign,
  '"math".sign(uint): uint': sign,
  '"math".sign(double): double': sign,
};
