import { checkedExpression, compiled, readsOf, type CheckedExpression, type Expression } from '../cel/expression.js';
import { typeOfSchema } from '../cel/schema-types.js';
import { BOOL, fits, optionalOf, STRING, type CelType } from '../cel/types.js';
import type { Rule, Structural } from './structural.js';

/** A rule whose expressions were read, and could be asked of values of its schema. */
export interface CheckedRule {
  readonly rule: Rule;
  readonly condition: CheckedExpression;
  readonly message: CheckedExpression | undefined;
  /** It is about the change from one state to the next. */
  readonly isTransition: boolean;
}

export interface CompiledRule extends Pick<CheckedRule, 'rule' | 'isTransition'> {
  readonly condition: Expression;
  readonly message: Expression | undefined;
}

interface Wrong {
  readonly member: 'rule' | 'messageExpression';
  readonly why: string;
}

/** A rule, or what is wrong with it. */
export type Checked = { readonly rule: CheckedRule } | Wrong;
export type Compiled = { readonly rule: CompiledRule } | Wrong;

/** The variables that a rule may use; undefined where expressions cannot look into values of the schema. */
function ruleVariables(rule: Rule, schema: Structural, isRoot: boolean): Map<string, CelType> | undefined {
  const self = typeOfSchema(schema, isRoot);
  if (self === undefined) return undefined;
  return new Map([
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? optionalOf(self) : self],
  ]);
}

/** Reads the expressions of a rule, and checks them for values of a schema. */
export function checkRule(rule: Rule, schema: Structural, isRoot: boolean): Checked {
  const variables = ruleVariables(rule, schema, isRoot);
  if (variables === undefined) return { member: 'rule', why: 'compilation failed: the type of the value is not known' };
  let member: Wrong['member'] = 'rule';
  try {
    const condition = checkedExpression(rule.rule.trim(), variables);
    if (!fits(BOOL, condition.checked.type, new Map()))
      return { member, why: 'cel expression must evaluate to a bool' };
    member = 'messageExpression';
    const source = rule.messageExpression?.trim() ?? '';
    const message = source === '' ? undefined : checkedExpression(source, variables);
    if (message !== undefined && !fits(STRING, message.checked.type, new Map())) {
      return { member, why: 'messageExpression must evaluate to a string' };
    }
    return { rule: { rule, condition, message, isTransition: readsOf(condition.ast).has('oldSelf') } };
  } catch (err) {
    const failed = member === 'rule' ? 'compilation failed' : 'messageExpression compilation failed';
    return { member, why: `${failed}: ${(err as Error).message}` };
  }
}

/** Compiles a rule for values of a schema. */
export function compileRule(rule: Rule, schema: Structural, isRoot: boolean): Compiled {
  const made = checkRule(rule, schema, isRoot);
  if (!('rule' in made)) return made;
  const { condition, message, isTransition } = made.rule;
  return {
    rule: {
      rule,
      condition: compiled(condition),
      message: message === undefined ? undefined : compiled(message),
      isTransition,
    },
  };
}
