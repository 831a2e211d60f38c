import type { Comprehension, Expr, Literal } from './ast.js';
import type { Checked } from './check.js';
import { Frame, inSteps, strict, unary, type Node } from './code.js';
import type { Overload } from './functions.js';
import { LAZY, optionalEntry, optionalValue } from './lazy.js';
import { bindNode, loopNode } from './loops.js';
import { DYN, type CelType } from './types.js';
import { done, type Work } from '../work/work.js';
import { CelError, CelMap, isOpaque, Optional, typeNameOf, Uint, type Value } from './values.js';

/** What an evaluation gives. */
export interface Evaluated {
  readonly value: Value;
  /** Of the budget. */
  readonly left: number;
}

/** An expression, ready to be evaluated. */
export interface Program {
  /**
   * Evaluates it in parts: what may take long yields after some thousands of steps. It may be left at any of them.
   *
   * @param values Of the variables, in the order in which they were given to `compile`.
   * @param budget Most that it may cost: about one for each step, and more for long texts and lists.
   * @throws {CelError} @throws {BudgetError}
   */
  steps(values: readonly Value[], budget: number): Work<Evaluated>;
  /** The same at once. */
  run(values: readonly Value[], budget: number): Evaluated;
}

/**
 * @param variables Names of the variables that the expression may use.
 * @param found Those of them whose members are found out in steps: `CelMap.found`.
 */
export function compile(
  expr: Expr,
  checked: Checked,
  variables: readonly string[],
  found: ReadonlySet<string> = new Set(),
): Program {
  const compiler = new Compiler(checked, found);
  const node = compiler.compile(expr, new Map(variables.map((name, i) => [name, i])), variables.length);
  const { code } = node;
  const steps = function* (values: readonly Value[], budget: number): Work<Evaluated> {
    const frame = new Frame([...values], budget);
    const value = node.code === undefined ? yield* node.steps(frame) : node.code(frame);
    return { value, left: frame.left };
  };
  if (code === undefined) return { steps, run: (values, budget) => done(steps(values, budget)) };
  const run: Program['run'] = (values, budget) => {
    const frame = new Frame([...values], budget);
    return { value: code(frame), left: frame.left };
  };
  return { steps, run };
}

type Places = ReadonlyMap<string, number>;

class Compiler {
  readonly #checked: Checked;
  readonly #found: ReadonlySet<string>;

  constructor(checked: Checked, found: ReadonlySet<string>) {
    this.#checked = checked;
    this.#found = found;
  }

  /** @param next The first place that no variable has. */
  compile(expr: Expr, places: Places, next: number): Node {
    switch (expr.kind) {
      case 'literal': {
        const value = literal(expr.value);
        return { code: () => value };
      }
      case 'ident':
        return variable(places, expr.name);
      case 'select': {
        const path = this.#checked.qualified.get(expr);
        return path === undefined ? this.#select(expr, places, next) : variable(places, path);
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

  #select(expr: Select, places: Places, next: number): Node {
    const { operand } = expr;
    if (operand.kind === 'ident' && this.#found.has(operand.name)) {
      return foundMember(expr, places.get(operand.name) ?? -1);
    }
    return unary(this.compile(operand, places, next), 1, (value) => selected(expr, value));
  }

  #call(expr: Expr & { kind: 'call' }, places: Places, next: number): Node {
    const { name, target } = expr;
    const isMethod = target !== undefined && !this.#checked.qualified.has(expr);
    const args = (isMethod ? [target, ...expr.args] : expr.args).map((arg) => this.compile(arg, places, next));
    const lazy = LAZY.get(name);
    if (lazy !== undefined) return lazy(args);
    const overloads = this.#checked.overloads.get(expr) ?? [];
    return strict(args, 1, (values, frame) => choose(overloads, values, name).run(values, frame));
  }

  #list({ items }: Expr & { kind: 'list' }, places: Places, next: number): Node {
    const children = items.map((it) => this.#item(it, places, next));
    return strict(children, 1 + items.length, (values) => values.flatMap((value, i) => present(value, items[i])));
  }

  /** A value that may not be there is checked where it stands, before those after it. */
  #item({ value, optional }: MaybeAbsent, places: Places, next: number): Node {
    const node = this.compile(value, places, next);
    return optional ? unary(node, 0, optionalValue) : node;
  }

  #map({ entries }: Expr & { kind: 'map' }, places: Places, next: number): Node {
    const children = entries.map(({ optional, ...it }) => {
      const [key, value] = [this.compile(it.key, places, next), this.compile(it.value, places, next)];
      return optional ? optionalEntry(key, value) : strict([value, key], 0, ([a = null, b = null]) => [b, a]);
    });
    return strict(children, 1 + entries.length, (values) => CelMap.of(values.filter(isEntry)));
  }

  #struct({ name, members }: Expr & { kind: 'struct' }, places: Places, next: number): Node {
    const children = members.map((it) => this.#item(it, places, next));
    return strict(children, 1 + members.length, (values) => {
      const entries = values.flatMap((value, i) =>
        present(value, members[i]).map((it): [Value, Value] => [members[i]?.name ?? '', it]),
      );
      return CelMap.of(entries, name);
    });
  }

  #loop(expr: Comprehension, places: Places, next: number): Node {
    const inner = new Map(places);
    expr.variables.forEach((name, i) => inner.set(name, next + i));
    const after = next + expr.variables.length;
    const parts = {
      range: this.compile(expr.range, places, next),
      body: this.compile(expr.body, inner, after),
      filter: expr.filter === undefined ? undefined : this.compile(expr.filter, inner, after),
      place: next,
      both: expr.variables.length === 2,
    };
    return expr.loop === 'bind' ? bindNode(parts) : loopNode(expr.loop, parts);
  }
}

type Select = Expr & { kind: 'select' };

interface MaybeAbsent {
  readonly value: Expr;
  readonly optional: boolean;
}

/** The value of an item or a member, in a list; an empty one where it is not there. */
function present(value: Value, of: MaybeAbsent | undefined): Value[] {
  if (of?.optional !== true) return [value];
  const inner = optionalValue(value).value;
  return inner === undefined ? [] : [inner];
}

const isEntry = (value: Value): value is readonly [Value, Value] => Array.isArray(value) && value.length === 2;

function variable(places: Places, name: string): Node {
  const place = places.get(name) ?? -1;
  return { code: (frame) => frame.slots[place] ?? null };
}

function literal(it: Literal): Value {
  if (it.type === 'null') return null;
  return it.type === 'uint' ? new Uint(it.value) : it.value;
}

function selected(expr: Select, value: Value): Value {
  if (!(value instanceof Optional)) return told(expr, memberOf(value, expr.field));
  const inner = value.value === undefined ? undefined : memberOf(value.value, expr.field);
  return expr.test ? inner !== undefined : new Optional(inner);
}

/** A member as the expression asks for it. */
function told({ field, test, optional }: Select, found: Value | undefined): Value {
  if (test) return found !== undefined;
  if (optional) return new Optional(found);
  if (found === undefined) throw new CelError(`no such key: ${field}`);
  return found;
}

/** A member that has to be found out first. */
const foundMember = (expr: Select, place: number): Node =>
  inSteps(function* (frame) {
    frame.spend(1);
    const value = frame.slots[place] ?? null;
    return value instanceof CelMap ? told(expr, yield* value.found(expr.field)) : selected(expr, value);
  });

function memberOf(value: Value, field: string): Value | undefined {
  if (value instanceof CelMap) return value.get(field);
  if (value !== null && isOpaque(value) && value.member !== undefined) return value.member(field);
  throw new CelError(`no such overload: ${typeNameOf(value)}.${field}`);
}

/** Types may have been told wrong, or not at all: the values say which one it is. @throws {CelError} */
function choose(overloads: readonly Overload[], args: readonly Value[], name: string): Overload {
  for (const overload of overloads) if (takes(overload, args)) return overload;
  throw new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}

/** Asked at each call: without a closure. */
function takes({ parameters }: Overload, args: readonly Value[]): boolean {
  for (let i = 0; i < parameters.length; i++) if (!isOf(parameters[i] ?? DYN, args[i] ?? null)) return false;
  return true;
}

const CLASS_NAMES: ReadonlyMap<string, string> = new Map([
  ['timestamp', 'google.protobuf.Timestamp'],
  ['duration', 'google.protobuf.Duration'],
]);

function isOf(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'parameter':
      return true;
    case 'list':
    case 'map':
      return typeNameOf(value) === type.kind;
    case 'object':
      return typeNameOf(value) === 'map';
    case 'optional':
      return typeNameOf(value) === 'optional_type';
    case 'opaque':
      return typeNameOf(value) === type.name;
    case 'simple':
      return type.name === 'dyn' || typeNameOf(value) === (CLASS_NAMES.get(type.name) ?? type.name);
  }
}
