/** A node of an expression; `at` is where it begins in the text, in UTF-16 units. */
export type Expr =
  | { readonly kind: 'literal'; readonly at: number; readonly value: Literal }
  | { readonly kind: 'ident'; readonly at: number; readonly name: string }
  /** `operand.field`, `operand.?field`, or, where `test`, `has(operand.field)`. */
  | {
      readonly kind: 'select';
      readonly at: number;
      readonly operand: Expr;
      readonly field: string;
      readonly test: boolean;
      readonly optional: boolean;
    }
  /** `target.name(args)`, or `name(args)` where there is no target. Operators are calls, too: `_+_`, `_[_]`, `_?_:_`. */
  | {
      readonly kind: 'call';
      readonly at: number;
      readonly name: string;
      readonly target: Expr | undefined;
      readonly args: readonly Expr[];
    }
  | { readonly kind: 'list'; readonly at: number; readonly items: readonly Item[] }
  | { readonly kind: 'map'; readonly at: number; readonly entries: readonly Entry[] }
  /** `Object.spec{replicas: 3}`: a value of a named type. */
  | { readonly kind: 'struct'; readonly at: number; readonly name: string; readonly members: readonly Member[] }
  | Comprehension;

export type Literal =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array };

export interface Item {
  readonly value: Expr;
  readonly optional: boolean;
}

export interface Entry {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface Member {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/** The ways to go through a list or the keys of a map. */
export type LoopKind =
  'all' | 'exists' | 'existsOne' | 'map' | 'filter' | 'transformList' | 'transformMap' | 'transformMapEntry';

/** A macro over each of many, or (`bind`) over one value. */
export interface Comprehension {
  readonly kind: 'loop';
  readonly at: number;
  readonly loop: LoopKind | 'bind';
  readonly range: Expr;
  /** The variables: of one, an item or a key; of two, a place and an item, or a key and a value. */
  readonly variables: readonly [string] | readonly [string, string];
  /** Only of `map` and the transformations. */
  readonly filter: Expr | undefined;
  readonly body: Expr;
}

/** Most parts of a name with dots. */
const MOST_PARTS = 10;

/** `a.b.c` as a text, for names with dots. */
export function pathOf(expr: Expr, parts = MOST_PARTS): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.test || expr.optional || parts === 0) return undefined;
  const operand = pathOf(expr.operand, parts - 1);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}
