import { getOwn, isJsonObject, setOwn } from '../meta/own.js';
import { type Type, facet, type Field } from '../types/graph.js';
import { COMPUTATIONS } from './computations.js';
import { type Members, copied, inOrder, withEntries, type Order, orderOf } from './members.js';
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

/** The action of most rules, in one function instead of three, as objects of every kind pass it. */
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
    if (!isJsonObject(from)) return false;
    const present = target.read(object);
    const known = isJsonObject(present) ? present : {};
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
    for (const [i, item] of items.entries()) if (isJsonObject(item) && action(item)) items[i] = inOrder(item, order);
    return false; // lists are there or not: only their items get members
  };
}

/** One step of a path: a member of a declared type, or of a map. */
interface Step {
  readonly name: string;
  /** The members of the type that the member is in; undefined in a map. */
  readonly order: Order | undefined;
}

interface Path {
  readonly steps: readonly Step[];
  /** Whether it is a pointer: absent and zero differ. */
  readonly nullable: boolean;
  readonly read: (object: Members) => unknown;
  /** Whether there is a value there: for what is no pointer, one that says something. */
  readonly isSet: (object: Members) => boolean;
  /** Writes the value, with all that it takes to be there. True: `object` itself has got a new member, at its end. */
  readonly write: (object: Members, value: unknown) => boolean;
}

const named = (path: RulePath): readonly string[] => (typeof path === 'string' ? path.split('.') : path);

export const orderOfType = facet((type): Order => orderOf(type.fields.map(({ name }) => name)));

/** @throws {Error} when the type has no such member. */
function memberOf(type: Type, name: string): Field {
  const field = type.field(name);
  if (field === undefined) throw new Error(`Type ${type.key} has no member ${name}`);
  return field;
}

/**
 * @param from The type that the path starts at. @throws {Error} when it leads through members that are not declared.
 */
function pathOf(from: Type, path: RulePath): Path {
  const steps: Step[] = [];
  let type: Type | undefined = from;
  let last: Field | undefined;
  for (const name of named(path)) {
    steps.push({ name, order: type && orderOfType(type) });
    last = type && memberOf(type, name);
    type = last === undefined || last.holds === 'map' ? undefined : last.type; // behind a map there are its values
  }
  return steps.length === 1 ? shortPath(steps, last) : longPath(steps, last);
}

/** Zero is a value where a pointer tells it from absence. */
const isUnset = (value: unknown, nullable: boolean): boolean => {
  if (value === undefined || value === null) return true;
  if (nullable) return false;
  if (typeof value === 'object') return isEmpty(value);
  return value === '' || value === 0 || value === false;
};

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** The usual case, and the one that has to be fast: a member of the type itself. */
function shortPath(steps: readonly Step[], field: Field | undefined): Path {
  const name = steps[0]?.name ?? '';
  const nullable = field?.declaration.nullable === true;
  return {
    steps,
    nullable,
    read: (object) => object[name],
    isSet: (object) => !isUnset(object[name], nullable),
    write(object, value) {
      const isNew = object[name] === undefined;
      object[name] = value;
      return isNew;
    },
  };
}

function longPath(steps: readonly Step[], field: Field | undefined): Path {
  const nullable = field?.declaration.nullable === true;
  const read = (object: Members): unknown => {
    let node: unknown = object;
    for (const { name } of steps) node = isJsonObject(node) ? getOwn(node, name) : undefined;
    return node;
  };
  return {
    steps,
    nullable,
    read,
    isSet: (object) => !isUnset(read(object), nullable),
    write: (object, value) => writeAt(object, steps, 0, value),
  };
}

function writeAt(object: Members, steps: readonly Step[], at: number, value: unknown): boolean {
  const name = steps[at]?.name ?? '';
  const before = getOwn(object, name);
  if (at === steps.length - 1) {
    setOwn(object, name, value);
    return before === undefined;
  }
  const inner = isJsonObject(before) ? before : {};
  const next = steps[at + 1];
  if (next?.order === undefined) {
    const { [next?.name ?? '']: _, ...others } = inner; // a map: written anew, in the order of its keys
    setOwn(object, name, withEntries(others, [[next?.name ?? '', value]]));
  } else {
    const isAdded = writeAt(inner, steps, at + 1, value);
    setOwn(object, name, isAdded ? inOrder(inner, next.order) : inner);
  }
  return before === undefined;
}
