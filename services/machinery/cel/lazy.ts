import { forgivable, inSteps, wantBool, type Node } from './code.js';
import { CelError, Optional, typeNameOf, type Value } from './values.js';

const NULL: Node = { code: () => null };
const at = (args: readonly Node[], i: number): Node => args[i] ?? NULL;

export function optionalValue(value: Value): Optional {
  if (value instanceof Optional) return value;
  throw new CelError(`no such overload: ${typeNameOf(value)} where an optional is wanted`);
}

/** What a node with a child that is always evaluated does with its value. */
interface Branch {
  /** In steps. */
  readonly cost: number;
  /** The child that is evaluated then, if any. */
  readonly next: (first: Value) => Node | undefined;
  /** @param second Undefined where there was no further child. */
  readonly finish: (first: Value, second: Value | undefined) => Value;
}

/** @param others All that `next` may give. */
function branch(first: Node, others: readonly Node[], { cost, next, finish }: Branch): Node {
  const { code } = first;
  if (code !== undefined && others.every((it) => it.code !== undefined)) {
    return {
      code: (frame) => {
        frame.spend(cost);
        const value = code(frame);
        return finish(value, next(value)?.code?.(frame));
      },
    };
  }
  return inSteps(function* (frame) {
    frame.spend(cost);
    const value = first.code === undefined ? yield* first.steps(frame) : first.code(frame);
    const way = next(value);
    if (way === undefined) return finish(value, undefined);
    return finish(value, way.code === undefined ? yield* way.steps(frame) : way.code(frame));
  });
}

function conditional(args: readonly Node[]): Node {
  const [condition, then, otherwise] = [at(args, 0), at(args, 1), at(args, 2)];
  const next = (first: Value): Node => (wantBool(first) ? then : otherwise);
  return branch(condition, [then, otherwise], { cost: 1, next, finish: (_, second = null) => second });
}

/** The second argument binds its variable to the value of the first: it is evaluated only where there is one. */
function mapped(args: readonly Node[], wrap: (value: Value) => Value): Node {
  const body = at(args, 1);
  return branch(at(args, 0), [body], {
    cost: 1,
    next: (first) => (optionalValue(first).value === undefined ? undefined : body),
    finish: (_, made) => (made === undefined ? new Optional(undefined) : wrap(made)),
  });
}

function orElse(args: readonly Node[], there: (optional: Optional) => Value): Node {
  const otherwise = at(args, 1);
  return branch(at(args, 0), [otherwise], {
    cost: 1,
    next: (first) => (optionalValue(first).value === undefined ? otherwise : undefined),
    finish: (first, other) => (other === undefined ? there(optionalValue(first)) : other),
  });
}

/** An entry of a map that may not be there: a list of its key and its value, or of nothing. */
export const optionalEntry = (key: Node, value: Node): Node =>
  branch(value, [key], {
    cost: 0,
    next: (first) => (optionalValue(first).value === undefined ? undefined : key),
    finish: (first, made) => (made === undefined ? [] : [made, optionalValue(first).value ?? null]),
  });

/** Either side decides alone, whatever becomes of the other. */
function logical(args: readonly Node[], decisive: boolean): Node {
  const [left, right] = [at(args, 0), at(args, 1)];
  if (left.code === undefined || right.code === undefined) return logicalInSteps(left, right, decisive);
  const [first, second] = [left.code, right.code];
  return {
    code: (frame) => {
      frame.spend(1);
      let failure: CelError | undefined;
      try {
        if (wantBool(first(frame)) === decisive) return decisive;
      } catch (err) {
        failure = forgivable(err, frame);
      }
      return decided(second(frame), decisive, failure);
    },
  };
}

const logicalInSteps = (left: Node, right: Node, decisive: boolean): Node =>
  inSteps(function* (frame) {
    frame.spend(1);
    let failure: CelError | undefined;
    try {
      const value = left.code === undefined ? yield* left.steps(frame) : left.code(frame);
      if (wantBool(value) === decisive) return decisive;
    } catch (err) {
      failure = forgivable(err, frame);
    }
    const value = right.code === undefined ? yield* right.steps(frame) : right.code(frame);
    return decided(value, decisive, failure);
  });

/** What the second side says, after one that did not decide or failed. */
function decided(value: Value, decisive: boolean, failure: CelError | undefined): boolean {
  const said = wantBool(value);
  if (said === decisive || failure === undefined) return said;
  throw failure;
}

/** Operators that do not want all their arguments. */
export const LAZY: ReadonlyMap<string, (args: readonly Node[]) => Node> = new Map([
  ['_&&_', (args: readonly Node[]) => logical(args, false)],
  ['_||_', (args: readonly Node[]) => logical(args, true)],
  ['_?_:_', conditional],
  ['optMap', (args: readonly Node[]) => mapped(args, (value) => new Optional(value))],
  ['optFlatMap', (args: readonly Node[]) => mapped(args, (value) => value)],
  ['or', (args: readonly Node[]) => orElse(args, (there) => there)],
  ['orValue', (args: readonly Node[]) => orElse(args, ({ value }) => value ?? null)],
]);
