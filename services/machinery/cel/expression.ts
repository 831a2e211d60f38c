import { check, type Checked, type Environment } from './check.js';
import { compile, type Evaluated } from './compile.js';
import { Functions } from './functions.js';
import { ACCESS } from './libraries/authorizer.js';
import { ADDRESSES } from './libraries/addresses.js';
import { EXPRESSIONS } from './libraries/expressions.js';
import { LISTS } from './libraries/lists.js';
import { NAMED_FORMATS } from './libraries/named-formats.js';
import { NUMBERS } from './libraries/numbers.js';
import { OPERATORS } from './libraries/operators.js';
import { QUANTITIES } from './libraries/quantities.js';
import { STANDARD } from './libraries/standard.js';
import { TEXTS } from './libraries/texts.js';
import type { Expr } from './ast.js';
import { parse } from './parse.js';
import { TYPE, type CelType } from './types.js';
import { TypeValue, type Value } from './values.js';
import type { Work } from '../work/work.js';

export const LIBRARIES = [
  OPERATORS,
  STANDARD,
  TEXTS,
  EXPRESSIONS,
  LISTS,
  NUMBERS,
  ADDRESSES,
  NAMED_FORMATS,
  QUANTITIES,
  ACCESS,
];

let all: Functions | undefined;
/** The functions that expressions know, made when the first expression comes. */
export const functions = (): Functions => (all ??= new Functions(LIBRARIES));

/** Names of types are values, too; some have dots in them. */
export const TYPE_NAMES: ReadonlyMap<string, TypeValue> = new Map(
  [
    'bool',
    'int',
    'uint',
    'double',
    'string',
    'bytes',
    'list',
    'map',
    'null_type',
    'type',
    'optional_type',
    'google.protobuf.Timestamp',
    'google.protobuf.Duration',
  ].map((name) => [name, new TypeValue(name)]),
);

/** An expression that was checked, ready to be evaluated. */
export interface Expression {
  readonly source: string;
  readonly ast: Expr;
  readonly type: CelType;
  /** Names of the variables that it reads. */
  readonly reads: ReadonlySet<string>;
  /**
   * Evaluates it in steps, where that may take long.
   *
   * @param values By variable; one that the environment has and that is not given is null.
   * @param budget Most that it may cost. @returns The value and what is left of the budget.
   * @throws {CelError} @throws {BudgetError}
   */
  steps(values: Readonly<Record<string, Value>>, budget: number): Work<Evaluated>;
  /** All steps at once: for expressions of which it is known that they take no time. */
  evaluate(values: Readonly<Record<string, Value>>, budget: number): Evaluated;
}

type Further = Partial<Pick<Environment, 'functions' | 'types'>> & {
  /** Variables whose members are found out in steps. */
  readonly found?: ReadonlySet<string>;
};

/** An expression that was read, and what checking it has found out. */
export interface CheckedExpression {
  readonly source: string;
  readonly ast: Expr;
  readonly checked: Checked;
  /** All variables that there are, with those that types are known by. */
  readonly names: readonly string[];
}

/**
 * Reads an expression and checks its types.
 *
 * @param variables By name, with their types. @param o Functions other than those that all know, and named types.
 * @throws {CelSyntaxError} @throws {CelTypeError}
 */
export function checkedExpression(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  o: Partial<Pick<Environment, 'functions' | 'types'>> = {},
): CheckedExpression {
  const ast = parse(source);
  const known = new Map([...[...TYPE_NAMES.keys()].map((name) => [name, TYPE] as const), ...variables]);
  const checked = check(source, ast, { functions: functions(), ...o, variables: known });
  return { source, ast, checked, names: [...known.keys()] };
}

/** Compiles an expression. The parameters, and what is thrown, are those of `checkedExpression`. */
export function expression(source: string, variables: ReadonlyMap<string, CelType>, o: Further = {}): Expression {
  return compiled(checkedExpression(source, variables, o), o.found);
}

/** Compiles an expression that was checked. @param found Variables whose members are found out in steps. */
export function compiled({ source, ast, checked, names }: CheckedExpression, found?: ReadonlySet<string>): Expression {
  const program = compile(ast, checked, names, found);
  const given = (values: Readonly<Record<string, Value>>): Value[] =>
    names.map((name) => (Object.hasOwn(values, name) ? (values[name] ?? null) : (TYPE_NAMES.get(name) ?? null)));
  return {
    source,
    ast,
    type: checked.type,
    reads: readsOf(ast),
    steps: (values, budget) => program.steps(given(values), budget),
    evaluate: (values, budget) => program.run(given(values), budget),
  };
}

/** The names that an expression takes from outside; one that a loop binds may be among them. */
export function readsOf(expr: Expr, found = new Set<string>()): ReadonlySet<string> {
  if (expr.kind === 'ident') found.add(expr.name);
  for (const inner of childrenOf(expr)) readsOf(inner, found);
  return found;
}

export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.items.map(({ value }) => value);
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.members.map(({ value }) => value);
    case 'loop':
      return [expr.range, ...(expr.filter === undefined ? [] : [expr.filter]), expr.body];
    default:
      return [];
  }
}
