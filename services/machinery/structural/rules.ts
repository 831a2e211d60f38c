import type { Expression } from '../cel/expression.js';
import { valueOf } from '../cel/schema-types.js';
import { BudgetError, CelError, Optional, type Value } from '../cel/values.js';
import { getOwn, isJsonObject, jsonEqual } from '../meta/own.js';
import { field, type FieldError } from '../meta/status.js';
import type { Work } from '../work/work.js';
import { compileRule, type Compiled, type CompiledRule } from './compile-rule.js';
import { correlatedItem } from './list-keys.js';
import type { Rule, Structural } from './structural.js';

/** Most that one rule may cost, and all rules of an object together. */
export const CALL_BUDGET = 1_000_000;
const OBJECT_BUDGET = 10_000_000;

const compiled = new WeakMap<Structural, readonly Compiled[]>();
const compiledRoots = new WeakMap<Structural, readonly Compiled[]>();

/** Compiled when they are first asked. One whose message cannot be made goes without. */
function rulesOf(schema: Structural, isRoot: boolean): readonly Compiled[] {
  const known = isRoot ? compiledRoots : compiled;
  let rules = known.get(schema);
  if (rules === undefined) {
    rules = schema.rules.map((rule) => {
      const made = compileRule(rule, schema, isRoot);
      const isSilent = 'why' in made && made.member === 'messageExpression';
      return isSilent ? compileRule({ ...rule, messageExpression: '' }, schema, isRoot) : made;
    });
    known.set(schema, rules);
  }
  return rules;
}

const withRules = new WeakMap<Structural, boolean>();

/** Whether there are rules here or below: other values need no walk. */
export function hasRules(schema: Structural): boolean {
  let has = withRules.get(schema);
  if (has !== undefined) return has;
  const { properties, items, additional } = schema;
  has =
    schema.rules.length > 0 ||
    [...properties.values()].some(hasRules) ||
    (items !== undefined && hasRules(items)) ||
    (typeof additional === 'object' && hasRules(additional));
  withRules.set(schema, has);
  return has;
}

/**
 * Asks the rules of a schema, of the object and of all that is in it.
 *
 * @param before The stored object, on an update: rules about changes are asked where both states are known, and what did not
 * change breaks no other rule. Others may have their turn after each rule, and within those that take long.
 */
export function* askRules(object: unknown, schema: Structural, before?: unknown): Work<FieldError[]> {
  const walk = new RuleWalk();
  const was = before === undefined ? undefined : { value: before };
  yield* walk.value({ value: object, before: was, schema, path: '' }, true);
  return walk.problems;
}

interface Place {
  readonly value: unknown;
  readonly before: { readonly value: unknown } | undefined;
  readonly schema: Structural;
  readonly path: string;
}

/** What is told of a whole object is told of no place, as other servers do. */
const NOWHERE = '<nil>';
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

class RuleWalk {
  readonly problems: FieldError[] = [];
  #left = OBJECT_BUDGET;

  *value(place: Place, isRoot = false): Work<void> {
    const { value, schema, before, path } = place;
    if (this.#left < 0 || value === null || value === undefined || !hasRules(schema)) return;
    if (schema.rules.length > 0) yield* this.#rules(place, isRoot);
    if (Array.isArray(value)) {
      const { items } = schema;
      if (items === undefined) return;
      for (const [i, item] of value.entries()) {
        const was = correlatedItem(schema, item, before);
        yield* this.value({ value: item, before: was, schema: items, path: `${path}[${i}]` });
      }
    } else if (isJsonObject(value)) yield* this.#members(place, value);
  }

  *#members({ schema, before, path }: Place, value: Record<string, unknown>): Work<void> {
    for (const [name, member] of Object.entries(value)) {
      const property = schema.properties.get(name);
      const known = property ?? (typeof schema.additional === 'object' ? schema.additional : undefined);
      if (known === undefined) continue;
      const isBefore = isJsonObject(before?.value) && Object.hasOwn(before.value, name);
      const was = isBefore ? { value: getOwn(before.value, name) } : undefined;
      const at = property === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
      yield* this.value({ value: member, before: was, schema: known, path: at });
    }
  }

  *#rules(place: Place, isRoot: boolean): Work<void> {
    const { value, before, schema } = place;
    const isSame = before !== undefined && jsonEqual(before.value, value);
    let values: Readonly<Record<string, Value>> | undefined;
    for (const made of rulesOf(schema, isRoot)) {
      if (!('rule' in made)) {
        if (!isSame) this.#refuse(place, made.why);
        continue;
      }
      const { rule: it } = made;
      const isOptional = it.rule.optionalOldSelf === true;
      if (it.isTransition && before === undefined && !isOptional) continue;
      if (!it.isTransition && isSame) continue;
      values ??= {
        self: valueOf(value, schema, isRoot),
        oldSelf: before === undefined ? null : valueOf(before.value, schema, isRoot),
      };
      const { oldSelf = null } = values;
      const wrapped = isOptional ? new Optional(before === undefined ? undefined : oldSelf) : oldSelf;
      yield* this.#ask(place, it, { ...values, oldSelf: wrapped });
      if (this.#left < 0) return;
      yield;
    }
  }

  /** A rule could be compiled when it was written; where it cannot be now, nothing is let through in its place. */
  #refuse({ path, schema }: Place, why: string): void {
    const type = schema.intOrString ? '' : (schema.type ?? '');
    this.problems.push(field.invalid(path === '' ? NOWHERE : path, type, `rule compile error: ${why}`));
  }

  *#ask({ value, path, schema }: Place, it: CompiledRule, values: Readonly<Record<string, Value>>): Work<void> {
    const at = path === '' ? NOWHERE : path;
    const type = schema.intOrString ? '' : (schema.type ?? '');
    const wrong = (why: string): void => void this.problems.push(field.invalid(at, type, why));
    const said = (it.rule.message ?? '') === '' ? it.rule.rule.trim() : (it.rule.message ?? '').trim();
    try {
      if ((yield* this.#evaluate(it.condition, values)) === true) return;
    } catch (err) {
      if (err instanceof BudgetError) {
        this.#left = -1;
        const limit = `'${err.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${said}`;
        wrong(this.problems.length === 0 ? limit : OUT_OF_BUDGET);
      } else if (err instanceof CelError) {
        const isTyped = err.message.startsWith('no such overload');
        const mismatch = `'${err.message}': call arguments did not match a supported operator, function or macro signature for rule: ${said}`;
        wrong(isTyped ? mismatch : `${err.message} evaluating rule: ${said}`);
      } else throw err;
      return;
    }
    const shown = type === 'object' || type === 'array' ? type : value;
    this.problems.push(problemOf(it.rule, placeOf(path, it.rule), shown, yield* this.#message(it, values)));
  }

  *#evaluate(it: Expression, values: Readonly<Record<string, Value>>): Work<Value> {
    const budget = Math.min(CALL_BUDGET, this.#left);
    const { value, left } = yield* it.steps(values, budget);
    this.#left -= budget - left;
    return value;
  }

  /** A message that cannot be made, or is no line of text, is not told. */
  *#message({ rule, message }: CompiledRule, values: Readonly<Record<string, Value>>): Work<string> {
    const byDefault = (rule.message ?? '') === '' ? `failed rule: ${rule.rule.trim()}` : (rule.message ?? '').trim();
    if (message === undefined) return byDefault;
    try {
      const text = yield* this.#evaluate(message, values);
      const line = typeof text === 'string' ? text.trim() : '';
      return line === '' || /[\r\n]/.test(line) || line.length > MOST_SHOWN ? byDefault : line;
    } catch (err) {
      if (err instanceof CelError || err instanceof BudgetError) return byDefault;
      throw err;
    }
  }
}

/** Longest message that an expression may make, in characters. */
const MOST_SHOWN = 5 * 1024;

function placeOf(path: string, { fieldPath = '' }: Rule): string {
  const whole = `${path}${fieldPath.trim()}`.replace(/^\./, '');
  return whole === '' ? NOWHERE : whole;
}

function problemOf({ reason }: Rule, at: string, value: unknown, message: string): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return field.forbidden(at, message);
    case 'FieldValueRequired':
      return field.required(at, message);
    case 'FieldValueDuplicate':
      return field.duplicate(at, value);
    default:
      return field.invalid(at, value, message);
  }
}
