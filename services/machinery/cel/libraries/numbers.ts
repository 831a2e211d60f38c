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

/** Functions of numbers. */
export const NUMBERS: Library = {
  ...extremes('greatest', extreme(1)),
  ...extremes('least', extreme(-1)),
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
