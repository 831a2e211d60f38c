import {
  A_BOOL,
  A_TEXT,
  A_TEXT_OR_NOTHING,
  AN_OBJECT,
  Composition,
  ExpressionError,
  OPERATIONS,
} from '../../../../machinery/cel/policies/composition.js';
import { RESERVED } from '../../../../machinery/cel/parse.js';
import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import type {
  AuditAnnotation,
  MatchCondition,
  Mutation,
  Validation,
  Variable,
} from '../../../../machinery/types/generated/admissionregistration.v1.js';
import { checkRule, each, type At, type List } from '../checks/at.js';

const MOST_CONDITIONS = 64;
/** In bytes. */
const MOST_VALUE_EXPRESSION = 5 * 1024;

const isEmpty = (text = ''): boolean => text.trim() === '';

/** Notes why an expression does not compile. */
function checkCompiles(at: At, member: string, source: string, compile: () => unknown): void {
  try {
    compile();
  } catch (err) {
    if (!(err instanceof ExpressionError)) throw err;
    at.invalid(member, source, err.message);
  }
}

/** Match conditions of webhooks and policies. They know no variables. */
export function checkConditions(at: At, member: string, conditions: List<MatchCondition>, hasParams = false): void {
  const count = conditions?.length ?? 0;
  if (count > MOST_CONDITIONS) at.tooMany(member, count, MOST_CONDITIONS);
  const composition = new Composition({ hasParams, hasAuthorizer: true }, false);
  const names = new Set<string>();
  each(at, member, conditions, ({ name = '', expression = '' }, conditionAt) => {
    const source = expression.trim();
    if (source === '') conditionAt.required('expression');
    else checkCompiles(conditionAt, 'expression', source, () => composition.expression(source, A_BOOL));
    if (name === '') conditionAt.required('name');
    else checkRule(conditionAt, 'name', name, qualifiedName);
    if (name !== '' && names.has(name)) conditionAt.duplicate('name', name);
    names.add(name);
  });
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const LITERALS = new Set(['true', 'false', 'null', 'in']);

/** Variables, which are known to all expressions that are checked after them. */
export function checkVariables(at: At, variables: List<Variable>, composition: Composition): void {
  each(at, 'variables', variables, ({ name = '', expression = '' }, variableAt) => {
    if (isEmpty(name)) variableAt.required('name', 'name is not specified');
    else if (!IDENTIFIER.test(name) || RESERVED.has(name) || LITERALS.has(name)) {
      variableAt.invalid('name', name, 'must be a valid CEL identifier');
    }
    if (isEmpty(expression)) variableAt.required('expression', 'expression is not specified');
    else checkCompiles(variableAt, 'expression', expression, () => composition.variable(name, expression));
  });
}

const LINE_BREAK = /[\n\r]/;
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export function checkValidation(at: At, it: Validation, composition: Composition): void {
  const { expression = '', message = '', messageExpression = '', reason } = it;
  if (isEmpty(expression)) at.required('expression', 'expression is not specified');
  else checkCompiles(at, 'expression', expression, () => composition.expression(expression, A_BOOL));
  if (messageExpression !== '' && isEmpty(messageExpression)) {
    at.invalid('messageExpression', messageExpression, 'must be non-empty if specified');
  } else if (messageExpression !== '') {
    checkCompiles(at, 'messageExpression', messageExpression, () =>
      composition.expression(messageExpression, A_TEXT, { hasAuthorizer: false }),
    );
  }
  if (message !== '' && isEmpty(message)) at.invalid('message', message, 'must be non-empty if specified');
  else if (LINE_BREAK.test(message.trim())) at.invalid('message', message, 'must not contain line breaks');
  if (reason !== undefined && !REASONS.includes(reason)) at.notSupported('reason', reason, REASONS);
}

/** @param policy Its name, which begins the key. */
export function checkAnnotation(at: At, it: AuditAnnotation, policy: string, composition: Composition): void {
  const { key = '', valueExpression = '' } = it;
  if (policy === '') at.invalid('key', key, 'requires metadata.name be non-empty');
  else for (const problem of qualifiedName(`${policy}/${key}`)) at.invalid('key', `${policy}/${key}`, problem);
  const source = valueExpression.trim();
  if (source === '') at.required('valueExpression', 'valueExpression is not specified');
  else if (Buffer.byteLength(source) > MOST_VALUE_EXPRESSION) {
    at.required('valueExpression', `must not exceed ${MOST_VALUE_EXPRESSION} bytes in length`);
  } else checkCompiles(at, 'valueExpression', valueExpression, () => composition.expression(source, A_TEXT_OR_NOTHING));
}

/** The forms of patches: the member that has the expression, and what it has to give. */
const PATCHES = {
  ApplyConfiguration: { member: 'applyConfiguration', wanted: AN_OBJECT },
  JSONPatch: { member: 'jsonPatch', wanted: OPERATIONS },
} as const;
const TYPES = Object.keys(PATCHES) as readonly (keyof typeof PATCHES)[];

export function checkMutation(at: At, mutation: Mutation, composition: Composition): void {
  const { patchType = '' } = mutation;
  const type = TYPES.find((it) => it === patchType);
  if (patchType === '') at.required('patchType');
  else if (type === undefined) at.notSupported('patchType', patchType, TYPES);
  if (type === undefined) return;
  for (const [other, { member, wanted }] of Object.entries(PATCHES)) {
    const patch = mutation[member] ?? undefined;
    if (other !== type) {
      if (patch !== undefined) at.invalid(member, `{${member}}`, `must not be specified when patchType is ${type}`);
    } else if (patch === undefined) at.required(member, `must be specified when patchType is ${type}`);
    else checkPatch(at.child(member), patch.expression, wanted, composition);
  }
}

function checkPatch(at: At, expression: string | undefined, wanted: typeof AN_OBJECT, composition: Composition): void {
  const source = (expression ?? '').trim();
  if (source === '') at.required('expression');
  else checkCompiles(at, 'expression', source, () => composition.expression(source, wanted));
}
