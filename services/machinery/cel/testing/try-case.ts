import { isDeepStrictEqual } from 'node:util';
import type { Expr } from '../ast.js';
import { check, CelTypeError } from '../check.js';
import { compile } from '../compile.js';
import { functions, TYPE_NAMES } from '../expression.js';
import { CelSyntaxError } from '../lexer.js';
import { parse } from '../parse.js';
import { DYN, TYPE, typeText, type CelType } from '../types.js';
import { CelError, CelMap, Optional, Uint, type Value } from '../values.js';
import { typeOf, valueOf, type ConformanceCase } from './conformance-cases.js';

const BUDGET = 1_000_000;

/** What became of an expression. */
export type Outcome = { readonly value: Value; readonly type: CelType } | { readonly failure: string };

interface How {
  /** What becomes of the expression before it is checked. */
  readonly change?: (expr: Expr) => Expr;
  readonly checkOnly?: boolean;
}

/** Evaluates an expression; `variables` have values, the rest of `known` have types alone. */
export function evaluated(
  source: string,
  known: ReadonlyMap<string, CelType>,
  variables: Readonly<Record<string, Value>>,
  { change = (it) => it, checkOnly = false }: How = {},
): Outcome {
  try {
    const environment = { variables: new Map([...TYPES, ...known]), functions: functions() };
    const ast = change(parse(source));
    const checked = check(source, ast, environment);
    const names = [...environment.variables.keys()];
    if (checkOnly) return { value: null, type: checked.type };
    const values = names.map((name) => variables[name] ?? TYPE_NAMES.get(name) ?? null);
    return { value: compile(ast, checked, names).run(values, BUDGET).value, type: checked.type };
  } catch (err) {
    if (err instanceof CelError || err instanceof CelTypeError || err instanceof CelSyntaxError) {
      return { failure: err.message };
    }
    throw err;
  }
}

const TYPES = new Map([...TYPE_NAMES.keys()].map((name) => [name, TYPE] as const));

const anything = (expr: Expr): Expr => ({ kind: 'call', at: expr.at, name: 'dyn', target: undefined, args: [expr] });

/** Types of literals are forgotten: lists and maps may be of anything then, which is the language's default. */
function untyped(all: boolean): (expr: Expr) => Expr {
  const walk = (expr: Expr): Expr => {
    switch (expr.kind) {
      case 'literal':
        return all ? anything(expr) : expr;
      case 'ident':
        return expr;
      case 'select':
        return { ...expr, operand: walk(expr.operand) };
      case 'call':
        return { ...expr, target: expr.target && walk(expr.target), args: expr.args.map(walk) };
      case 'list':
        return {
          ...expr,
          items: expr.items.map((it) => ({ ...it, value: it.optional ? walk(it.value) : anything(walk(it.value)) })),
        };
      case 'map':
        return {
          ...expr,
          entries: expr.entries.map((it) => ({
            ...it,
            key: anything(walk(it.key)),
            value: it.optional ? walk(it.value) : anything(walk(it.value)),
          })),
        };
      case 'struct':
        return { ...expr, members: expr.members.map((it) => ({ ...it, value: walk(it.value) })) };
      case 'loop':
        return { ...expr, range: walk(expr.range), filter: expr.filter && walk(expr.filter), body: walk(expr.body) };
    }
  };
  return walk;
}

/** Runs a case. @returns What is wrong with what came of it; undefined where that is as it should be. */
export function wrongWith(it: ConformanceCase): string | undefined {
  const isUnchecked = it.disableCheck === true;
  const checkOnly = it.checkOnly === true;
  const known = new Map(
    (it.typeEnv ?? []).map(({ name, ident }) => [name, isUnchecked ? DYN : typeOf(ident?.type ?? {})]),
  );
  const variables = Object.fromEntries(
    Object.entries(it.bindings ?? {}).map(([name, { value }]) => [name, valueOf(value)]),
  );
  let outcome = evaluated(it.expr, known, variables, { checkOnly, ...(isUnchecked ? { change: untyped(true) } : {}) });
  if ('failure' in outcome && /expected type/.test(outcome.failure)) {
    outcome = evaluated(it.expr, known, variables, { checkOnly, change: untyped(false) });
  }
  if (it.evalError !== undefined) return 'failure' in outcome ? undefined : `gives ${shown(outcome.value)}`;
  if ('failure' in outcome) return outcome.failure;
  return wrongType(it, outcome.type) ?? wrongValue(it, outcome.value);
}

function wrongType({ typedResult }: ConformanceCase, type: CelType): string | undefined {
  const wanted = typedResult?.deducedType;
  if (wanted === undefined || typeText(typeOf(wanted)) === typeText(type)) return undefined;
  return `has type ${typeText(type)}, not ${typeText(typeOf(wanted))}`;
}

function wrongValue(it: ConformanceCase, value: Value): string | undefined {
  if (it.checkOnly === true) return undefined;
  const wanted = valueOf(it.value ?? it.typedResult?.result ?? { boolValue: true });
  return isDeepStrictEqual(shown(wanted), shown(value)) ? undefined : `gives ${shown(value)}, not ${shown(wanted)}`;
}

/** With the class of every number: 1, 1u and 1.0 are equal, and not the same. */
function shown(value: Value): string {
  if (value instanceof Optional) return value.value === undefined ? 'none' : `optional ${shown(value.value)}`;
  if (value instanceof Uint) return `${value.value}u`;
  if (typeof value === 'bigint') return `${value}`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0.' : `${value}.`;
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(shown).join(', ')}]`;
  if (value instanceof CelMap) {
    return `{${[...value.entries()]
      .map(([key, member]) => `${shown(key)}: ${shown(member)}`)
      .sort()
      .join(', ')}}`;
  }
  if (value instanceof Uint8Array) return `b'${Buffer.from(value).toString('hex')}'`;
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));
}
