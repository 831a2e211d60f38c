import type { Comprehension, Expr } from '../ast.js';
import type { Checked } from '../check.js';
import { DYN, type CelType } from '../types.js';
import { callCost, eitherSize, type Argument } from './call-costs.js';
import { ANY_SIZE, COSTS, either, fixed, MOST, plus, times, type Range } from './ranges.js';

/**
 * How long a value may be that stands in a certain place of the data: the name of a variable, then names of members,
 * `@items`, `@keys` and `@values`. Undefined where nothing is known of it.
 */
export type SizeOfPlace = (path: readonly string[]) => Range | undefined;

/** How long the items, or the keys and values, of a list or map may be. */
interface EntrySizes {
  readonly isList: boolean;
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

/**
 * The most that an expression may cost with the longest values that there may be, in the steps of the reference
 * implementation: what it refuses as too expensive is refused here.
 */
export function estimateCost(expr: Expr, checked: Checked, sizeOfPlace: SizeOfPlace): number {
  return new Estimator(checked, sizeOfPlace).cost(expr);
}

/** Deepest place that is told of: data nests no deeper, and expressions may be longer. */
const MOST_DEPTH = 256;

const inside = (path: readonly string[], name: string): readonly string[] =>
  path.length < MOST_DEPTH ? [...path, name] : [];

class Estimator {
  readonly #checked: Checked;
  readonly #sizeOfPlace: SizeOfPlace;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #entries = new Map<Expr, EntrySizes>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: Checked, sizeOfPlace: SizeOfPlace) {
    this.#checked = checked;
    this.#sizeOfPlace = sizeOfPlace;
  }

  cost(expr: Expr): number {
    switch (expr.kind) {
      case 'literal':
        return 0;
      case 'ident':
        return this.#named(expr, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return expr.members.map(({ value }) => this.cost(value)).reduce(plus, COSTS.struct);
      case 'loop':
        return expr.loop === 'bind' ? this.#bind(expr) : this.#loop(expr);
    }
  }

  #named(expr: Expr, name: string): number {
    this.#paths.set(expr, this.#local(name)?.path ?? [name]);
    return COSTS.access;
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #type(expr: Expr): CelType {
    return this.#checked.types.get(expr) ?? DYN;
  }

  #select(expr: Expr & { kind: 'select' }): number {
    const name = this.#checked.qualified.get(expr);
    if (name !== undefined) return this.#named(expr, name);
    const operand = this.cost(expr.operand);
    if (expr.test) return operand;
    // A member that may not be there is a function of its own.
    if (expr.optional) return plus(operand, 1);
    this.#paths.set(expr, inside(this.#path(expr.operand), expr.field));
    const { kind } = this.#type(expr.operand);
    return plus(operand, kind === 'map' || kind === 'object' ? COSTS.access : 0);
  }

  #call(expr: Expr & { kind: 'call' }): number {
    const isMethod = expr.target !== undefined && !this.#checked.qualified.has(expr);
    const all = isMethod ? [expr.target, ...expr.args] : expr.args;
    const lazy = LAZY.get(expr.name);
    if (lazy !== undefined) return lazy(this, expr, all);
    const costs = all.map((arg) => this.cost(arg));
    const paid = costs.reduce(plus, 0);
    if (expr.name === 'dyn') return this.#asIts(expr, expr.args[0], plus(1, paid));
    const args = all.map((arg) => this.argument(arg));
    let most = 0;
    let size: Range | undefined;
    for (const overload of this.#checked.overloads.get(expr) ?? []) {
      const found = callCost({ overload, args });
      most = Math.max(most, found.cost);
      if (found.size !== undefined) size = size === undefined ? found.size : either(size, found.size);
      if (expr.name === '_[_]') size = this.#indexed(expr, overload.parameters[0]?.kind === 'list') ?? size;
      if (expr.name === '_+_') this.#addEntries(expr, all);
      size ??= this.size(expr);
    }
    if (size !== undefined) this.#sizes.set(expr, size);
    return plus(paid, most);
  }

  #indexed(expr: Expr & { kind: 'call' }, isList: boolean): Range | undefined {
    const [operand] = expr.args;
    if (operand === undefined) return undefined;
    this.#paths.set(expr, inside(this.#path(operand), isList ? '@items' : '@values'));
    return this.#entrySizes(operand)?.value;
  }

  #addEntries(expr: Expr, [a, b]: readonly Expr[]): void {
    const sizes = a && b && joined(this.#entrySizes(a), this.#entrySizes(b));
    if (sizes !== undefined) this.#entries.set(expr, sizes);
  }

  #asIts(expr: Expr, source: Expr | undefined, cost: number): number {
    if (source === undefined) return cost;
    const [size, entries] = [this.size(source), this.#entrySizes(source)];
    if (size !== undefined) this.#sizes.set(expr, size);
    if (entries !== undefined) this.#entries.set(expr, entries);
    return cost;
  }

  /** The dearer of the two, which may be as long as either. */
  conditional(expr: Expr, [condition, then, otherwise]: readonly Expr[]): number {
    if (condition === undefined || then === undefined || otherwise === undefined) return 0;
    const [asked, a, b] = [this.cost(condition), this.cost(then), this.cost(otherwise)];
    const entries = joined(this.#entrySizes(then), this.#entrySizes(otherwise));
    if (entries !== undefined) this.#entries.set(expr, entries);
    this.#sizes.set(expr, eitherSize(this.argument(then), this.argument(otherwise)));
    return plus(asked, Math.max(a, b));
  }

  /** The value is asked for twice: whether it is there, and what it is. */
  mapped([target, lambda]: readonly Expr[], isWrapped: boolean): number {
    if (target === undefined || lambda?.kind !== 'loop') return 0;
    const there = plus(this.cost(target), 1);
    return plus(there, plus(this.cost(lambda), isWrapped ? 1 : 0));
  }

  argument(expr: Expr): Argument {
    return this.#argument(this.#type(expr), this.#path(expr), expr, this.size(expr));
  }

  #argument(type: CelType, path: readonly string[], expr: Expr | undefined, size: Range | undefined): Argument {
    return {
      type,
      expr,
      size: size ?? this.#sizeAt(path),
      item: () => {
        const inner = type.kind === 'list' ? type.item : type.kind === 'map' ? type.key : undefined;
        if (inner === undefined) return undefined;
        return this.#argument(inner, path.length === 0 ? [] : [...path, '@items'], undefined, undefined);
      },
    };
  }

  #list(expr: Expr & { kind: 'list' }): number {
    const paid = expr.items.map(({ value }) => this.cost(value)).reduce(plus, 0);
    const value = this.#spanned(expr.items.map((it) => it.value));
    this.#entries.set(expr, { isList: true, key: fixed(1), value });
    return plus(paid, COSTS.list);
  }

  #map(expr: Expr & { kind: 'map' }): number {
    const paid = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]).reduce(plus, 0);
    const key = this.#spanned(expr.entries.map((it) => it.key));
    const value = this.#spanned(expr.entries.map((it) => it.value));
    this.#entries.set(expr, { isList: false, key, value });
    return plus(paid, COSTS.map);
  }

  #spanned(items: readonly Expr[]): Range {
    if (items.length === 0) return fixed(0);
    return items.map((item) => this.size(item) ?? ANY_SIZE).reduce(either, { min: MOST, max: 0 });
  }

  #bind(expr: Comprehension): number {
    // Bound values are made by a loop over an empty list.
    const paid = plus(COSTS.list, this.cost(expr.range));
    const bound = { path: this.#path(expr.range), size: this.size(expr.range), entries: this.#entrySizes(expr.range) };
    const body = this.#with(expr.variables, [bound], () => this.cost(expr.body));
    return this.#asIts(expr, expr.body, plus(paid, body));
  }

  #loop(expr: Comprehension): number {
    const range = this.cost(expr.range);
    const { first, step, last, isMany } = STEPS[expr.loop as keyof typeof STEPS];
    const [filter, body, item] = this.#with(expr.variables, this.#elements(expr), () => [
      expr.filter === undefined ? 0 : this.cost(expr.filter),
      this.cost(expr.body),
      this.size(expr.body),
    ]);
    const count = this.size(expr.range) ?? ANY_SIZE;
    this.#sizes.set(expr, isMany ? count : fixed(1));
    if (isMany === 'list') {
      // Of `filter` the items are those of the list itself, and the expression says only whether.
      const value = expr.loop === 'filter' ? this.#elements(expr)[0]?.size : item;
      this.#entries.set(expr, { isList: true, key: fixed(1), value: { min: 0, max: (value ?? ANY_SIZE).max } });
    }
    return plus(plus(range, first + last), times(count.max, plus(plus(filter, body), step)));
  }

  #elements({ range, variables }: Comprehension): readonly Local[] {
    const entries = this.#entrySizes(range);
    const isList = entries === undefined ? this.#type(range).kind === 'list' : entries.isList;
    const path = this.#path(range);
    const local = (place: string, size: Range | undefined): Local => ({
      path: [...path, place],
      size,
      entries: undefined,
    });
    const value = local(isList ? '@items' : '@values', entries?.value);
    const key = local(isList ? '@indices' : '@keys', entries?.key);
    return variables.length === 2 ? [key, value] : [isList ? value : key];
  }

  #with<T>(names: readonly string[], locals: readonly Local[], run: () => T): T {
    names.forEach((name, i) => {
      const local = locals[i];
      if (local !== undefined) this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
    });
    const result = run();
    for (const name of names) this.#locals.get(name)?.pop();
    return result;
  }

  #path(expr: Expr): readonly string[] {
    const local = expr.kind === 'ident' ? this.#local(expr.name) : undefined;
    return local?.path ?? this.#paths.get(expr) ?? [];
  }

  #sizeAt(path: readonly string[]): Range | undefined {
    return path.length === 0 ? undefined : this.#sizeOfPlace(path);
  }

  size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? writtenSize(expr) ?? this.#sizeAt(this.#path(expr));
    if (known !== undefined) return known;
    if (isScalar(this.#type(expr))) return fixed(1);
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  #entrySizes(expr: Expr): EntrySizes | undefined {
    return this.#entries.get(expr) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined);
  }
}

/**
 * What loops cost beside what is written in them: before the first element, for each, and at the end. Each keeps a value
 * that it looks at and adds to.
 */
const STEPS = {
  all: { first: 0, step: 3, last: 1, isMany: false },
  exists: { first: 0, step: 4, last: 1, isMany: false },
  existsOne: { first: 0, step: 2, last: 2, isMany: false },
  map: { first: COSTS.list, step: 2 + COSTS.list, last: 1, isMany: 'list' },
  filter: { first: COSTS.list, step: 3 + COSTS.list, last: 1, isMany: 'list' },
  transformList: { first: COSTS.list, step: 2 + COSTS.list, last: 1, isMany: 'list' },
  transformMap: { first: COSTS.map, step: 3, last: 1, isMany: 'map' },
  transformMapEntry: { first: COSTS.map, step: 2, last: 1, isMany: 'map' },
} as const;

type Lazy = (estimator: Estimator, expr: Expr, args: readonly Expr[]) => number;

const sum: Lazy = (estimator, _, args) => args.reduce((total, arg) => plus(total, estimator.cost(arg)), 0);

/** Calls that do not ask for all of their arguments. */
const LAZY: ReadonlyMap<string, Lazy> = new Map<string, Lazy>([
  ['_&&_', sum],
  ['_||_', sum],
  ['_?_:_', (estimator, expr, args) => estimator.conditional(expr, args)],
  ['optMap', (estimator, _, args) => estimator.mapped(args, true)],
  ['optFlatMap', (estimator, _, args) => estimator.mapped(args, false)],
]);

function joined(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { isList: a.isList, key: either(a.key, b.key), value: either(a.value, b.value) };
}

/** Of what is written in the expression. */
function writtenSize(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return fixed(expr.items.length);
  if (expr.kind === 'map') return fixed(expr.entries.length);
  if (expr.kind !== 'literal') return undefined;
  const { value } = expr;
  if (value.type === 'string') return fixed(Array.from(value.value).length);
  return fixed(value.type === 'bytes' ? value.value.length : 1);
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

function isScalar(type: CelType): boolean {
  if (type.kind === 'optional') return isScalar(type.of);
  return type.kind === 'simple' && SCALARS.has(type.name);
}
