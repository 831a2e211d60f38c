import type { Comprehension, Expr, Literal } from './ast.js';
import type { Checked } from './check.js';
import type { Meter, Overload } from './functions.js';
import type { CelType } from './types.js';
import { BudgetError, CelError, CelMap, isList, isOpaque, Optional, typeNameOf, Uint, type Value } from './values.js';

/** The state of one evaluation: its variables by place, and what it may still cost. */
class Frame implements Meter {
  readonly slots: Value[];
  #left: number;

  constructor(slots: Value[], budget: number) {
    this.slots = slots;
    this.#left = budget;
  }

  spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw new BudgetError('operation cancelled: actual cost limit exceeded');
  }

  get left(): number {
    return this.#left;
  }
}

type Code = (frame: Frame) => Value;

/** An expression, ready to be evaluated. */
export interface Program {
  /**
   * @param values Of the variables, in the order in which they were given to `compile`.
   * @param budget Most that it may cost: about one for each step, and more for long texts and lists.
   * @returns The value, and what is left of the budget.
   * @throws {CelError} @throws {BudgetError}
   */
  run(values: readonly Value[], budget: number): { readonly value: Value; readonly left: number };
}

/** @param variables Names of the variables that the expression may use. */
export function compile(expr: Expr, checked: Checked, variables: readonly string[]): Program {
  const compiler = new Compiler(checked);
  const code = compiler.compile(expr, new Map(variables.map((name, i) => [name, i])), variables.length);
  return {
    run: (values, budget) => {
      const frame = new Frame([...values], budget);
      return { value: code(frame), left: frame.left };
    },
  };
}

type Places = ReadonlyMap<string, number>;

class Compiler {
  readonly #checked: Checked;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  /** @param next The first place that no variable has. */
  compile(expr: Expr, places: Places, next: number): Code {
    switch (expr.kind) {
      case 'literal': {
        const value = literal(expr.value);
        return () => value;
      }
      case 'ident':
        return variable(places, expr.name);
      case 'select': {
        const path = this.#checked.qualified.get(expr);
        return path === undefined ? select(expr, this.compile(expr.operand, places, next)) : variable(places, path);
      }
      case 'call':
        return this.#call(expr, places, next);
      case 'list':
        return this.#list(expr, places, next);
      case 'map':
        return this.#map(expr, places, next);
      case 'struct':
        return this.#struct(expr, places, next);
      case 'loop':
        return this.#loop(expr, places, next);
    }
  }

  #call(expr: Expr & { kind: 'call' }, places: Places, next: number): Code {
    const { name, target } = expr;
    const isMethod = target !== undefined && !this.#checked.qualified.has(expr);
    const args = (isMethod ? [target, ...expr.args] : expr.args).map((arg) => this.compile(arg, places, next));
    const special = SPECIAL.get(name);
    if (special !== undefined) return special(args);
    const overloads = this.#checked.overloads.get(expr) ?? [];
    return (frame) => {
      frame.spend(1);
      const values = args.map((arg) => arg(frame));
      return choose(overloads, values, name).run(values, frame);
    };
  }

  #list({ items }: Expr & { kind: 'list' }, places: Places, next: number): Code {
    const codes = items.map(({ value, optional }) => ({ code: this.compile(value, places, next), optional }));
    return (frame) => {
      frame.spend(1 + codes.length);
      return codes.flatMap(({ code, optional }) => {
        const value = code(frame);
        if (!optional) return [value];
        const { value: inner } = optionalValue(value);
        return inner === undefined ? [] : [inner];
      });
    };
  }

  #map({ entries }: Expr & { kind: 'map' }, places: Places, next: number): Code {
    const codes = entries.map(({ key, value, optional }) => ({
      key: this.compile(key, places, next),
      value: this.compile(value, places, next),
      optional,
    }));
    return (frame) => {
      frame.spend(1 + codes.length);
      return CelMap.of(
        codes.flatMap(({ key, value, optional }): [Value, Value][] => {
          const found = value(frame);
          const inner = optional ? optionalValue(found).value : found;
          return inner === undefined ? [] : [[key(frame), inner]];
        }),
      );
    };
  }

  #struct({ name, members }: Expr & { kind: 'struct' }, places: Places, next: number): Code {
    const codes = members.map((it) => ({ ...it, code: this.compile(it.value, places, next) }));
    return (frame) => {
      frame.spend(1 + codes.length);
      const entries = codes.flatMap(({ name: member, code, optional }): [Value, Value][] => {
        const found = code(frame);
        const inner = optional ? optionalValue(found).value : found;
        return inner === undefined ? [] : [[member, inner]];
      });
      return CelMap.of(entries, name);
    };
  }

  #loop(expr: Comprehension, places: Places, next: number): Code {
    const inner = new Map(places);
    expr.variables.forEach((name, i) => inner.set(name, next + i));
    const after = next + expr.variables.length;
    const range = this.compile(expr.range, places, next);
    const body = this.compile(expr.body, inner, after);
    const filter = expr.filter === undefined ? undefined : this.compile(expr.filter, inner, after);
    if (expr.loop === 'bind') {
      return (frame) => {
        frame.slots[next] = range(frame);
        return body(frame);
      };
    }
    const both = expr.variables.length === 2;
    const loop = LOOPS[expr.loop];
    return (frame) => loop(elementsOf(range(frame), both), frame, next, { body, filter });
  }
}

function variable(places: Places, name: string): Code {
  const place = places.get(name) ?? -1;
  return (frame) => frame.slots[place] ?? null;
}

function literal(it: Literal): Value {
  if (it.type === 'null') return null;
  return it.type === 'uint' ? new Uint(it.value) : it.value;
}

const noSuchKey = (field: string): CelError => new CelError(`no such key: ${field}`);

function select({ field, test, optional }: Expr & { kind: 'select' }, operand: Code): Code {
  return (frame) => {
    frame.spend(1);
    const value = operand(frame);
    if (value instanceof Optional) {
      const inner = value.value === undefined ? undefined : memberOf(value.value, field);
      return test ? inner !== undefined : new Optional(inner);
    }
    const found = memberOf(value, field);
    if (test) return found !== undefined;
    if (optional) return new Optional(found);
    if (found === undefined) throw noSuchKey(field);
    return found;
  };
}

function memberOf(value: Value, field: string): Value | undefined {
  if (value instanceof CelMap) return value.get(field);
  if (value !== null && isOpaque(value) && value.member !== undefined) return value.member(field);
  throw new CelError(`no such overload: ${typeNameOf(value)}.${field}`);
}

/** One entry of what a loop goes through: the first variable, and the second where there are two. */
type Element = readonly [first: Value, second: Value];

function* elementsOf(range: Value, both: boolean): Iterable<Element> {
  if (isList(range)) {
    for (const [i, item] of range.entries()) yield both ? [BigInt(i), item] : [item, null];
  } else if (range instanceof CelMap) yield* range.entries();
  else throw new CelError(`no such overload: a loop over ${typeNameOf(range)}`);
}

interface Bodies {
  readonly body: Code;
  readonly filter: Code | undefined;
}
type Loop = (elements: Iterable<Element>, frame: Frame, place: number, bodies: Bodies) => Value;

const bound = (frame: Frame, place: number, [first, second]: Element, code: Code): Value => {
  frame.spend(1);
  frame.slots[place] = first;
  frame.slots[place + 1] = second;
  return code(frame);
};

function wantBool(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw new CelError(`no such overload: ${typeNameOf(value)} where a bool is wanted`);
}

/** A failure counts only where no other element decides. */
const decidedBy =
  (decisive: boolean): Loop =>
  (elements, frame, place, { body }) => {
    let failure: unknown;
    for (const element of elements) {
      try {
        if (wantBool(bound(frame, place, element, body)) === decisive) return decisive;
      } catch (err) {
        failure ??= forgivable(err, frame);
      }
    }
    if (failure !== undefined) throw failure as Error;
    return !decisive;
  };

/** A failure takes as long as so many steps: its message is made, and the stack is noted. */
const FAILURE_COST = 50;

/** @throws what nothing makes up for */
function forgivable(err: unknown, meter: Meter): CelError {
  if (!(err instanceof CelError)) throw err;
  meter.spend(FAILURE_COST);
  return err;
}

type Pair = readonly [key: Value, value: Value];

const transformed =
  (add: (out: Pair[], key: Value, value: Value) => void, finish: (out: readonly Pair[]) => Value): Loop =>
  (elements, frame, place, { body, filter }) => {
    const out: Pair[] = [];
    for (const element of elements) {
      if (filter !== undefined && !wantBool(bound(frame, place, element, filter))) continue;
      add(out, element[0], bound(frame, place, element, body));
    }
    return finish(out);
  };

const values = (out: readonly Pair[]): Value => out.map(([, value]) => value);
const add = (out: Pair[], key: Value, value: Value): void => void out.push([key, value]);

const LOOPS: Readonly<Record<Exclude<Comprehension['loop'], 'bind'>, Loop>> = {
  all: decidedBy(false),
  exists: decidedBy(true),
  existsOne: (elements, frame, place, { body }) => {
    let count = 0;
    for (const element of elements) if (wantBool(bound(frame, place, element, body))) count++;
    return count === 1;
  },
  filter: (elements, frame, place, { body }) => {
    const out: Value[] = [];
    for (const element of elements) if (wantBool(bound(frame, place, element, body))) out.push(element[0]);
    return out;
  },
  map: transformed(add, values),
  transformList: transformed(add, values),
  transformMap: transformed(add, (out) => CelMap.of(out)),
  transformMapEntry: transformed(
    (out, _, made) => {
      if (!(made instanceof CelMap)) throw new CelError(`no such overload: ${typeNameOf(made)} where a map is wanted`);
      out.push(...made.entries());
    },
    (out) => CelMap.of(out),
  ),
};

/** Operators that do not want all their arguments. */
const SPECIAL: ReadonlyMap<string, (args: readonly Code[]) => Code> = new Map([
  ['_&&_', (args: readonly Code[]) => logical(args, false)],
  ['_||_', (args: readonly Code[]) => logical(args, true)],
  ['_?_:_', conditional],
  ['optMap', (args: readonly Code[]) => mapped(args, (value) => new Optional(value))],
  ['optFlatMap', (args: readonly Code[]) => mapped(args, (value) => value)],
  ['or', (args: readonly Code[]) => orElse(args, (there) => there)],
  ['orValue', (args: readonly Code[]) => orElse(args, ({ value }) => value ?? null)],
]);

const at = (args: readonly Code[], i: number): Code => args[i] ?? (() => null);

/** Either side decides alone, whatever becomes of the other. */
function logical(args: readonly Code[], decisive: boolean): Code {
  const [left, right] = [at(args, 0), at(args, 1)];
  return (frame) => {
    frame.spend(1);
    let failure: CelError | undefined;
    try {
      if (wantBool(left(frame)) === decisive) return decisive;
    } catch (err) {
      failure = forgivable(err, frame);
    }
    const value = wantBool(right(frame));
    if (value === decisive || failure === undefined) return value;
    throw failure;
  };
}

function conditional(args: readonly Code[]): Code {
  const [condition, then, otherwise] = [at(args, 0), at(args, 1), at(args, 2)];
  return (frame) => {
    frame.spend(1);
    return wantBool(condition(frame)) ? then(frame) : otherwise(frame);
  };
}

function optionalValue(value: Value): Optional {
  if (value instanceof Optional) return value;
  throw new CelError(`no such overload: ${typeNameOf(value)} where an optional is wanted`);
}

/** The second argument binds its variable to the value of the first: it is evaluated only where there is one. */
function mapped(args: readonly Code[], wrap: (value: Value) => Value): Code {
  const [target, body] = [at(args, 0), at(args, 1)];
  return (frame) => {
    frame.spend(1);
    return optionalValue(target(frame)).value === undefined ? new Optional(undefined) : wrap(body(frame));
  };
}

function orElse(args: readonly Code[], there: (optional: Optional) => Value): Code {
  const [target, otherwise] = [at(args, 0), at(args, 1)];
  return (frame) => {
    frame.spend(1);
    const optional = optionalValue(target(frame));
    return optional.value === undefined ? otherwise(frame) : there(optional);
  };
}

/** Types may have been told wrong, or not at all: the values say which one it is. @throws {CelError} */
function choose(overloads: readonly Overload[], args: readonly Value[], name: string): Overload {
  const found = overloads.find(({ parameters }) => parameters.every((type, i) => isOf(type, args[i] ?? null)));
  if (found !== undefined) return found;
  throw new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}

const CLASS_NAMES: ReadonlyMap<string, string> = new Map([
  ['timestamp', 'google.protobuf.Timestamp'],
  ['duration', 'google.protobuf.Duration'],
]);

function isOf(type: CelType, value: Value): boolean {
  const name = typeNameOf(value);
  switch (type.kind) {
    case 'parameter':
      return true;
    case 'list':
    case 'map':
      return name === type.kind;
    case 'object':
      return name === 'map';
    case 'optional':
      return name === 'optional_type';
    case 'opaque':
      return name === type.name;
    case 'simple':
      return type.name === 'dyn' || name === (CLASS_NAMES.get(type.name) ?? type.name);
  }
}
