import { pathOf, type Comprehension, type Expr, type Literal } from './ast.js';
import { unreadable } from './check-literals.js';
import type { Functions, Overload } from './functions.js';
import { shownAt } from './lexer.js';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  fits,
  INT,
  isDyn,
  joinedType,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  resolved,
  STRING,
  typeText,
  UINT,
  UNKNOWN,
  type Bindings,
  type CelType,
  type ObjectType,
} from './types.js';

/** The names that expressions may use. */
export interface Environment {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: Functions;
  /** Named types of which expressions make values. Absent: there are none. */
  readonly types?: (name: string) => ObjectType | undefined;
}

/** An expression whose types do not fit. The message shows the place in the text. */
export class CelTypeError extends Error {
  override readonly name = 'CelTypeError';
}

/** What checking has found out about the nodes of an expression. */
export interface Checked {
  readonly type: CelType;
  /** The functions that a call may be of, by the types of its arguments; which one is known when it is called. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>;
  /** Selections of a variable or a function with dots in its name, e.g. `math.least`. */
  readonly qualified: ReadonlyMap<Expr, string>;
  readonly types: ReadonlyMap<Expr, CelType>;
}

/** @throws {CelTypeError} With the first thing that is wrong. */
export function check(source: string, expr: Expr, environment: Environment): Checked {
  const checker = new Checker(source, environment);
  const type = checker.check(expr, new Map(environment.variables));
  return { type, overloads: checker.overloads, qualified: checker.qualified, types: checker.types };
}

type Scope = ReadonlyMap<string, CelType>;

const LITERALS: Readonly<Record<Literal['type'], CelType>> = {
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
};

class Checker {
  readonly overloads = new Map<Expr, readonly Overload[]>();
  readonly qualified = new Map<Expr, string>();
  readonly types = new Map<Expr, CelType>();
  readonly #source: string;
  readonly #environment: Environment;

  constructor(source: string, environment: Environment) {
    this.#source = source;
    this.#environment = environment;
  }

  #wrong(at: number, why: string): CelTypeError {
    return new CelTypeError(shownAt(this.#source, at, why));
  }

  check(expr: Expr, scope: Scope): CelType {
    const type = this.#typeOf(expr, scope);
    this.types.set(expr, type);
    return type;
  }

  #typeOf(expr: Expr, scope: Scope): CelType {
    switch (expr.kind) {
      case 'literal':
        return LITERALS[expr.value.type];
      case 'ident':
        return this.#variable(expr.name, expr.at, scope);
      case 'select':
        return this.#select(expr, scope);
      case 'call':
        return this.#call(expr, scope);
      case 'list':
        return this.#list(expr, scope);
      case 'map':
        return this.#map(expr, scope);
      case 'struct':
        return this.#struct(expr, scope);
      case 'loop':
        return this.#loop(expr, scope);
    }
  }

  #variable(name: string, at: number, scope: Scope): CelType {
    const type = scope.get(name);
    if (type === undefined) throw this.#wrong(at, `undeclared reference to '${name}' (in container '')`);
    return type;
  }

  #select(expr: Expr & { kind: 'select' }, scope: Scope): CelType {
    const path = pathOf(expr);
    // The longest name counts, as this is asked of the whole before its parts. Variables of loops have no dots.
    const named = path === undefined ? undefined : scope.get(path);
    if (named !== undefined) {
      this.qualified.set(expr, path ?? '');
      return named;
    }
    const operand = this.check(expr.operand, scope);
    const isOptional = expr.optional || operand.kind === 'optional';
    const type = this.#field(operand.kind === 'optional' ? operand.of : operand, expr.field, expr.at);
    if (expr.test) return BOOL;
    return isOptional ? optionalOf(type.kind === 'optional' ? type.of : type) : type;
  }

  #field(operand: CelType, field: string, at: number): CelType {
    if (isDyn(operand)) return DYN;
    if (operand.kind === 'map') return operand.value;
    const type = operand.kind === 'object' ? operand.fields().get(field) : undefined;
    if (type !== undefined) return type;
    const why =
      operand.kind === 'object'
        ? `undefined field '${field}'`
        : `type '${typeText(operand)}' does not support field selection`;
    throw this.#wrong(at, why);
  }

  #call(expr: Expr & { kind: 'call' }, scope: Scope): CelType {
    const { name, target, args, at } = expr;
    const path = target === undefined ? undefined : pathOf(target);
    // A function of a namespace, unless the namespace is a variable.
    const inNamespace =
      path === undefined || scope.has(path.split('.', 1)[0] ?? '')
        ? []
        : this.#environment.functions.find(`${path}.${name}`, false);
    if (inNamespace.length > 0) {
      this.qualified.set(expr, `${path ?? ''}.${name}`);
      return this.#overloaded(expr, inNamespace, args, scope);
    }
    const all = target === undefined ? args : [target, ...args];
    const found = this.#environment.functions.find(name, target !== undefined);
    if (found.length === 0) {
      for (const arg of all) this.check(arg, scope);
      throw this.#wrong(at, `undeclared reference to '${name}' (in container '')`);
    }
    return this.#overloaded(expr, found, all, scope);
  }

  #overloaded(
    expr: Expr & { kind: 'call' },
    overloads: readonly Overload[],
    args: readonly Expr[],
    scope: Scope,
  ): CelType {
    // What is written into a text may be of any type.
    const isMixed = expr.name === 'format';
    const types = args.map((arg) =>
      isMixed && arg.kind === 'list' ? this.#mixed(arg, scope) : this.check(arg, scope),
    );
    const candidates = overloads.flatMap((overload) => {
      if (overload.parameters.length !== types.length) return [];
      const bindings: Bindings = new Map();
      const isOne = overload.parameters.every((wanted, i) => fits(wanted, types[i] ?? DYN, bindings));
      return isOne ? [{ overload, result: resolved(overload.result, bindings) }] : [];
    });
    const [first] = candidates;
    if (first === undefined) {
      const given = types.map(typeText);
      const isMethod = expr.target !== undefined && !this.qualified.has(expr);
      const applied = isMethod ? `${given[0] ?? ''}.(${given.slice(1).join(', ')})` : `(${given.join(', ')})`;
      throw this.#wrong(
        expr.at,
        `found no matching overload for '${this.qualified.get(expr) ?? expr.name}' applied to '${applied}'`,
      );
    }
    const wrong = unreadable(expr.name, args);
    if (wrong !== undefined) throw this.#wrong(wrong.at, wrong.why);
    this.overloads.set(
      expr,
      candidates.map(({ overload }) => overload),
    );
    const isOne = candidates.every(({ result }) => typeText(result) === typeText(first.result));
    return isOne ? first.result : DYN;
  }

  #list({ items }: Expr & { kind: 'list' }, scope: Scope): CelType {
    const types = items.map(({ value, optional }) => this.#element(this.check(value, scope), optional, value.at));
    return listOf(
      this.#common(
        types,
        items.map(({ value }) => value),
      ),
    );
  }

  #mixed(list: Expr & { kind: 'list' }, scope: Scope): CelType {
    for (const { value, optional } of list.items) this.#element(this.check(value, scope), optional, value.at);
    return listOf(DYN);
  }

  #element(type: CelType, optional: boolean, at: number): CelType {
    if (!optional) return type;
    if (type.kind === 'optional') return type.of;
    if (isDyn(type)) return DYN;
    throw this.#wrong(at, `expected type 'optional_type(dyn)' but found '${typeText(type)}'`);
  }

  /** @param exprs Whose types they are. */
  #common(types: readonly CelType[], exprs: readonly Expr[]): CelType {
    return (
      types.reduce<CelType | undefined>((common, type, i) => {
        if (common === undefined) return type;
        const both = joinedType(common, type);
        if (both === undefined)
          throw this.#wrong(exprs[i]?.at ?? 0, `expected type '${typeText(common)}' but found '${typeText(type)}'`);
        return both;
      }, undefined) ?? UNKNOWN
    );
  }

  #map({ entries }: Expr & { kind: 'map' }, scope: Scope): CelType {
    const keys = entries.map(({ key }) => this.check(key, scope));
    const values = entries.map(({ value, optional }) => this.#element(this.check(value, scope), optional, value.at));
    return mapOf(
      this.#common(
        keys,
        entries.map(({ key }) => key),
      ),
      this.#common(
        values,
        entries.map(({ value }) => value),
      ),
    );
  }

  #struct({ name, members, at }: Expr & { kind: 'struct' }, scope: Scope): CelType {
    const type = this.#environment.types?.(name);
    if (type === undefined) throw this.#wrong(at, `undeclared reference to '${name}' (in container '')`);
    for (const { name: field, value, optional } of members) {
      const wanted = this.#field(type, field, value.at);
      const given = this.#element(this.check(value, scope), optional, value.at);
      if (fits(wanted, given, new Map())) continue;
      const [expected, found] = [typeText(wanted), typeText(given)];
      throw this.#wrong(value.at, `expected type of field '${field}' is '${expected}' but provided type is '${found}'`);
    }
    return type;
  }

  #loop(expr: Comprehension, scope: Scope): CelType {
    const range = this.check(expr.range, scope);
    const inner = new Map(scope);
    const types = this.#loopVariables(expr, range);
    for (const [i, name] of expr.variables.entries()) inner.set(name, types[i] ?? DYN);
    if (expr.filter !== undefined) this.#wantBool(expr.filter, inner);
    const body = this.check(expr.body, inner);
    switch (expr.loop) {
      case 'bind':
        return body;
      case 'map':
      case 'transformList':
        return listOf(body);
      case 'transformMap':
        return mapOf(range.kind === 'map' ? range.key : range.kind === 'list' ? INT : DYN, body);
      case 'transformMapEntry':
        if (body.kind === 'map' || isDyn(body)) return body;
        throw this.#wrong(expr.body.at, `expected type 'map(dyn, dyn)' but found '${typeText(body)}'`);
      default:
        this.#wantBool(expr.body, inner, body);
        return expr.loop === 'filter' ? (range.kind === 'list' ? range : listOf(types[0] ?? DYN)) : BOOL;
    }
  }

  #wantBool(expr: Expr, scope: Scope, type = this.check(expr, scope)): void {
    if (fits(BOOL, type, new Map())) return;
    throw this.#wrong(expr.at, `expected type 'bool' but found '${typeText(type)}'`);
  }

  #loopVariables({ loop, variables, range: of }: Comprehension, range: CelType): readonly CelType[] {
    if (loop === 'bind') return [range];
    if (range.kind === 'list') return variables.length === 2 ? [INT, range.item] : [range.item];
    if (range.kind === 'map') return variables.length === 2 ? [range.key, range.value] : [range.key];
    if (isDyn(range)) return [DYN, DYN];
    throw this.#wrong(
      of.at,
      `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
  }
}
