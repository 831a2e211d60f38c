import { readType, splitTypes, type CelType } from './types.js';
import type { Value } from './values.js';

/** Counts what an expression has cost; a call costs 1 beside what it says here. */
export interface Meter {
  /** @throws {BudgetError} */
  spend(cost: number): void;
}

export type Run = (args: readonly Value[], meter: Meter) => Value;

/** One function for arguments of certain types. Of a method, the first argument is what it is called on. */
export interface Overload {
  readonly name: string;
  readonly isMethod: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  readonly run: Run;
}

/** By signature, e.g. `string.contains(string): bool` or `size(list<T>): int`. */
export type Library = Readonly<Record<string, Run>>;

/** Shorter ones cost nothing beside the call. */
const LONG = 100;

/** The same functions, but that long texts and bytes which they are given are paid for: a tenth of a step each. */
export const reading = (library: Library): Library =>
  Object.fromEntries(
    Object.entries(library).map(([signature, run]): [string, Run] => [
      signature,
      (args, meter) => {
        for (const arg of args) payFor(arg, meter);
        return run(args, meter);
      },
    ]),
  );

/** Of a text or bytes that are long. @throws {BudgetError} */
export function payFor(value: Value, meter: Meter): void {
  const length = typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
  if (length >= LONG) meter.spend(length / 10);
}

const SIGNATURE = /^(?:(.+)\.)?([\w@!?:[\]<>=&|+*/%-]+?)\((.*)\): (.+)$/;

export function overloadsOf(library: Library): Overload[] {
  return Object.entries(library).map(([signature, run]) => {
    const [, target, name = '', parameters = '', result = ''] = (SIGNATURE.exec(signature) ?? []) as (
      string | undefined
    )[];
    if (result === '') throw new Error(`Not a signature: ${signature}`);
    // Functions of a namespace (`math.least`) are written with it in quotes: its name is no type.
    const isNamespace = target?.startsWith('"') === true;
    const own = isNamespace ? `${target.slice(1, -1)}.${name}` : name;
    const types = splitTypes(parameters).map(readType);
    const isMethod = target !== undefined && !isNamespace;
    return {
      name: own,
      isMethod,
      parameters: isMethod ? [readType(target), ...types] : types,
      result: readType(result),
      run,
    };
  });
}

/** Functions by name and form; lookups are of names that expressions have. */
export class Functions {
  readonly #byName = new Map<string, Overload[]>();

  constructor(libraries: readonly Library[]) {
    for (const overload of libraries.flatMap(overloadsOf)) {
      const key = keyOf(overload.name, overload.isMethod);
      this.#byName.set(key, [...(this.#byName.get(key) ?? []), overload]);
    }
  }

  find(name: string, isMethod: boolean): readonly Overload[] {
    return this.#byName.get(keyOf(name, isMethod)) ?? [];
  }
}

const keyOf = (name: string, isMethod: boolean): string => (isMethod ? `.${name}` : name);
