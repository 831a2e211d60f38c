import { dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../../../machinery/types/generated/core.v1.js';
import { type At, checkRule, each } from '../checks/at.js';
import { checkLabelKey } from '../checks/labels.js';
import type { TypeRule } from '../types.js';

const NOT_AN_OPERATOR = 'not a valid selector operator';

/** Rules for the values of an operator. */
const VALUES_RULES: ReadonlyMap<string, (at: At, count: number) => void> = new Map(
  Object.entries<(at: At, count: number) => void>({
    In: needsSome,
    NotIn: needsSome,
    Exists: needsNone,
    DoesNotExist: needsNone,
    Gt: needsOne,
    Lt: needsOne,
  }),
);

function needsSome(at: At, count: number): void {
  if (count === 0) at.required('values', "must be specified when `operator` is 'In' or 'NotIn'");
}
function needsNone(at: At, count: number): void {
  if (count > 0) at.forbidden('values', "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}
function needsOne(at: At, count: number): void {
  if (count !== 1) at.required('values', "must be specified single value when `operator` is 'Lt' or 'Gt'");
}

function checkExpression({ key, operator = '', values = [] }: NodeSelectorRequirement, at: At): void {
  const rule = VALUES_RULES.get(operator);
  if (rule === undefined) at.invalid('operator', operator, NOT_AN_OPERATOR);
  else rule(at, values.length);
  checkLabelKey(at, 'key', key);
}

/** The one field that nodes are selected by. */
const NAME_FIELD = 'metadata.name';

function checkField({ key = '', operator = '', values = [] }: NodeSelectorRequirement, at: At): void {
  if (operator !== 'In' && operator !== 'NotIn') {
    at.invalid('operator', operator, NOT_AN_OPERATOR);
  } else if (values.length !== 1) {
    at.required('values', "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== NAME_FIELD) at.invalid('key', key, 'not a valid field selector key');
  else each(at, 'values', values, (value, valueAt) => checkRule(valueAt, '', value, dns1123Subdomain));
}

export const checkNodeSelectorTerm: TypeRule<NodeSelectorTerm> = (at, { matchExpressions, matchFields }) => {
  each(at, 'matchExpressions', matchExpressions, checkExpression);
  each(at, 'matchFields', matchFields, checkField);
};
