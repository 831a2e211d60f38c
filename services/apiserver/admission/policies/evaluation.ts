import type { Expression } from '../../../machinery/cel/expression.js';
import { BudgetError, CelError, CelMap, type Value } from '../../../machinery/cel/values.js';
import { done, type Work } from '../../../machinery/work/work.js';
import type { PolicyCheck } from '../../metrics/policy-metrics.js';
import { turns, type Asker } from '../../http/turns.js';
import { Waiting } from './asking.js';

/** Most that one expression may cost. */
const CALL_BUDGET = 1_000_000;
/** Most that the expressions of a policy may cost together, with one parameter. */
export const POLICY_BUDGET = 10_000_000;
/** The same of match conditions. */
export const CONDITIONS_BUDGET = 2_500_000;
/** After so long others have their turn. */
const STINT_MS = 8;

/** An expression, or why it cannot be evaluated. */
export type Compiled = { readonly source: string } & ({ readonly expression: Expression } | { readonly error: string });

/** What became of an expression: a failure is a matter of the failure policy. */
export type Outcome = { readonly value: Value } | { readonly error: string };

/** The expressions of a policy together have cost too much. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget';

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** For metrics: what an error of an expression is. */
export function errorTypeOf(message: string): PolicyCheck['errorType'] {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}

export type Variables = ReadonlyMap<string, Compiled>;
const NONE: Variables = new Map();

/** Lets others have their turn while the expressions of one request are evaluated. */
export class Pace {
  readonly #asker: Asker;
  #sinceMs = performance.now();

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  /** After a wait. */
  begin(): void {
    this.#sinceMs = performance.now();
  }

  /** Does work part by part. @throws `asker.signal.reason` when nobody waits for it any more, and what the work throws */
  async through<T>(work: Work<T>): Promise<T> {
    for (;;) {
      const part = work.next();
      if (performance.now() - this.#sinceMs >= STINT_MS) {
        await turns.alone();
        this.#asker.signal.throwIfAborted();
        this.begin();
      }
      if (part.done === true) return part.value;
    }
  }
}

/** Evaluates the expressions of one policy about one request. */
export class Evaluation {
  readonly #values: Readonly<Record<string, Value>>;
  readonly #variables: Variables;
  readonly #known = new Map<string, { readonly value: Value } | { readonly error: CelError }>();
  readonly #pace: Pace;
  #left: number;

  /** @param values By the names of what expressions may name. */
  constructor(
    values: Readonly<Record<string, Value>>,
    o: { readonly variables?: Variables | undefined; readonly budget: number; readonly pace: Pace },
  ) {
    const { variables = NONE } = o;
    this.#pace = o.pace;
    this.#variables = variables;
    this.#left = o.budget;
    const source = {
      size: variables.size,
      keys: () => variables.keys(),
      get: (name: string) => done(this.#variable(name)),
      found: (name: string) => this.#variable(name),
    };
    this.#values = { ...values, variables: CelMap.over(source) };
  }

  /** @throws {OutOfBudget} @throws what a question about rights throws @throws as `Pace.through` */
  async evaluate(compiled: Compiled): Promise<Outcome> {
    if ('error' in compiled) return { error: `compilation error: ${compiled.error}` };
    for (;;) {
      try {
        return await this.#pace.through(this.#outcome(compiled.source, compiled.expression));
      } catch (err) {
        if (!(err instanceof Waiting)) throw err;
        await err.answered;
        this.#pace.begin();
      }
    }
  }

  *#outcome(source: string, expression: Expression): Work<Outcome> {
    try {
      return { value: yield* this.#run(expression) };
    } catch (err) {
      if (!(err instanceof CelError) && !(err instanceof BudgetError)) throw err;
      return { error: `expression '${source}' resulted in error: ${err.message}` };
    }
  }

  /** @throws {CelError} @throws {BudgetError} of the one expression @throws {OutOfBudget} @throws {Waiting} */
  *#run(expression: Expression): Work<Value> {
    const budget = Math.min(CALL_BUDGET, this.#left);
    try {
      const { value, left } = yield* expression.steps(this.#values, budget);
      this.#spend(budget - left);
      return value;
    } catch (err) {
      if (!(err instanceof BudgetError)) throw err;
      this.#spend(budget);
      if (budget < CALL_BUDGET) throw new OutOfBudget();
      throw err;
    }
  }

  #spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw new OutOfBudget();
  }

  /** Evaluated when it is first wanted. */
  *#variable(name: string): Work<Value | undefined> {
    const variable = this.#variables.get(name);
    if (variable === undefined) return undefined;
    let known = this.#known.get(name);
    if (known === undefined) this.#known.set(name, (known = yield* this.#found(name, variable)));
    if ('error' in known) throw known.error;
    return known.value;
  }

  *#found(name: string, variable: Compiled): Work<{ readonly value: Value } | { readonly error: CelError }> {
    const shown = `composited variable ${JSON.stringify(name)} fails to`;
    if ('error' in variable) return { error: new CelError(`${shown} compile: ${variable.error}`) };
    try {
      return { value: yield* this.#run(variable.expression) };
    } catch (err) {
      if (!(err instanceof CelError) && !(err instanceof BudgetError)) throw err;
      return { error: new CelError(`${shown} evaluate: ${err.message}`) };
    }
  }
}
