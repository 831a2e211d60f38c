import type { Type } from '../types/graph.js';
import { COMPUTATIONS } from './computations.js';
import type { Members } from './members.js';
import { copied, inOrder, isMembers, withEntries } from './members.js';
import { isUnset, memberOf, orderOfType, pathOf, type Path } from './paths.js';
import type { DefaultRule, RulePath } from './rules.js';

/** Applies one rule. True: the object itself has got a new member, at its end. */
export type Action = (object: Members) => boolean;
type Condition = (object: Members) => boolean;

/** @throws {Error} when the rule does not fit the type. */
export function compileRule(type: Type, rule: DefaultRule): Action {
  const conditions = conditionsOf(type, rule);
  const action = rule.at === undefined ? actionAt(type, rule) : inItems(type, rule);
  const [only, ...others] = conditions;
  if (only === undefined) return action;
  if (others.length === 0) return (object) => only(object) && action(object);
  return (object) => conditions.every((holds) => holds(object)) && action(object);
}

function conditionsOf(type: Type, rule: DefaultRule): readonly Condition[] {
  const path = (from: RulePath): Path => pathOf(type, from);
  const { when = {}, whenSet = [], whenUnset = [], whenNone } = rule;
  const conditions = Object.entries(when).map(([name, wanted]): Condition => {
    const { read } = path(name);
    const values = new Set(Array.isArray(wanted) ? wanted : [wanted]);
    return (object) => values.has(read(object));
  });
  for (const { isSet } of whenSet.map(path)) conditions.push(isSet);
  for (const { isSet } of whenUnset.map(path)) conditions.push((object) => !isSet(object));
  if (whenNone !== undefined) {
    const members = type.fields.filter(({ owner }) => owner.key === whenNone);
    conditions.push(noneOf(members.map(({ name }) => name)));
  }
  return conditions;
}

/** Goes through what there is, not through all that could be: unions have dozens of members. */
function noneOf(names: readonly string[]): Condition {
  const members = new Set(names);
  return (object) => {
    for (const name in object) if (members.has(name) && object[name] !== null) return false;
    return true;
  };
}

function actionAt(type: Type, rule: DefaultRule): Action {
  const target = pathOf(type, rule.path);
  const mayWrite: Condition = rule.always === true ? () => true : (object) => !target.isSet(object);
  if (rule.clear === true) return clear(target);
  if (rule.fillFrom !== undefined) return fill(target, pathOf(type, rule.fillFrom));
  if (rule.from !== undefined) return copy(target, pathOf(type, rule.from), rule, mayWrite);
  const { value } = rule;
  if (target.steps.length === 1 && rule.always !== true) return constant(target, value);
  return (object) => mayWrite(object) && target.write(object, copied(value));
}

/** What most rules are, in one function instead of three: objects of every kind come through here. */
function constant({ steps, nullable }: Path, value: unknown): Action {
  const name = steps[0]?.name ?? '';
  return (object) => {
    const before = object[name];
    if (!isUnset(before, nullable)) return false;
    object[name] = copied(value);
    return before === undefined;
  };
}

function clear(target: Path): Action {
  const name = target.steps[0]?.name ?? '';
  return (object) => {
    if (object[name] !== undefined) Reflect.deleteProperty(object, name);
    return false;
  };
}

function copy(target: Path, source: Path, { by }: DefaultRule, mayWrite: Condition): Action {
  const made = by === undefined ? copied : COMPUTATIONS[by];
  return (object) => {
    if (!mayWrite(object) || !source.isSet(object)) return false;
    const value = made(source.read(object));
    return value !== undefined && target.write(object, value);
  };
}

function fill(target: Path, source: Path): Action {
  return (object) => {
    const from = source.read(object);
    if (!isMembers(from)) return false;
    const present = target.read(object);
    const known = isMembers(present) ? present : {};
    const missing = Object.entries(from).filter(([key]) => !Object.hasOwn(known, key));
    return missing.length > 0 && target.write(object, withEntries(known, missing));
  };
}

/** The rule in each item of a list, or of the lists in the items of a list. */
function inItems(type: Type, { at = '', ...rule }: DefaultRule): Action {
  const [first = '', ...rest] = at.split('[*].');
  const list = pathOf(type, first.replace('[*]', ''));
  const itemType = list.steps.reduce((at, { name }) => memberOf(at, name).type, type);
  const inner: DefaultRule = { ...rule, ...(rest.length === 0 ? {} : { at: rest.join('[*].') }) };
  const action = rest.length === 0 ? actionAt(itemType, inner) : inItems(itemType, inner);
  const order = orderOfType(itemType);
  return (object) => {
    const items = list.read(object);
    if (!Array.isArray(items)) return false;
    for (const [i, item] of items.entries()) if (isMembers(item) && action(item)) items[i] = inOrder(item, order);
    return false; // lists are there or not: only their items get members
  };
}
