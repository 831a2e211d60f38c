import type { Work } from '../work/work.js';
import type { Meter } from './functions.js';
import { BudgetError, CelError, typeNameOf, type Value } from './values.js';

/** Steps after which a loop gives others their turn: some 2 ms, at the dearest. */
export const SLICE = 5_000;

/** The state of one evaluation: its variables by place, and what it may still cost. */
export class Frame implements Meter {
  readonly slots: Value[];
  #left: number;
  #restsAt: number;

  constructor(slots: Value[], budget: number) {
    this.slots = slots;
    this.#left = budget;
    this.#restsAt = budget - SLICE;
  }

  spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw new BudgetError('operation cancelled: actual cost limit exceeded');
  }

  get left(): number {
    return this.#left;
  }

  /** Whether a slice is over; the next one begins with that. */
  ends(): boolean {
    if (this.#left > this.#restsAt) return false;
    this.#restsAt = this.#left - SLICE;
    return true;
  }
}

export type Code = (frame: Frame) => Value;
type Steps = (frame: Frame) => Work<Value>;

/** A node of a compiled expression: a function where nothing in it takes long, else one that yields after each slice. */
export type Node = { readonly code: Code } | { readonly code: undefined; readonly steps: Steps };

export const inSteps = (steps: Steps): Node => ({ code: undefined, steps });

/** A node that evaluates all its children before it makes something of their values. @param cost In steps. */
export function strict(
  children: readonly Node[],
  cost: number,
  apply: (values: readonly Value[], frame: Frame) => Value,
): Node {
  const codes = children.flatMap(({ code }) => (code === undefined ? [] : [code]));
  if (codes.length === children.length) {
    return {
      code: (frame) => {
        frame.spend(cost);
        const values: Value[] = [];
        for (const code of codes) values.push(code(frame));
        return apply(values, frame);
      },
    };
  }
  return inSteps(function* (frame) {
    frame.spend(cost);
    const values: Value[] = [];
    for (const child of children) values.push(child.code === undefined ? yield* child.steps(frame) : child.code(frame));
    return apply(values, frame);
  });
}

/** The same with one child, and no list of its value. */
export function unary(child: Node, cost: number, apply: (value: Value) => Value): Node {
  const { code } = child;
  if (code === undefined) {
    return inSteps(function* (frame) {
      frame.spend(cost);
      return apply(yield* child.steps(frame));
    });
  }
  return {
    code: (frame) => {
      frame.spend(cost);
      return apply(code(frame));
    },
  };
}

export function wantBool(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw new CelError(`no such overload: ${typeNameOf(value)} where a bool is wanted`);
}

/** A failure takes as long as so many steps: its message is made, and the stack is noted. */
const FAILURE_COST = 50;

/** @throws what nothing makes up for */
export function forgivable(err: unknown, meter: Meter): CelError {
  if (!(err instanceof CelError)) throw err;
  meter.spend(FAILURE_COST);
  return err;
}
