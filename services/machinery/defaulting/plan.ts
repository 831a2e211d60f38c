import { setOwn } from '../meta/own.js';
import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';
import { flattenedFields } from '../types/flattened.js';
import type { Action } from './actions.js';
import { compileRule } from './actions.js';
import { roundedToMilli } from './computations.js';
import type { Members, Order } from './members.js';
import { inOrder, isMembers, putInOrder } from './members.js';
import { Paths } from './paths.js';
import type { DefaultRule, RulesOf } from './rules.js';

/** What there is to do in values of a type. Only types with something to do have one. */
export interface Plan {
  readonly actions: readonly Action[];
  readonly members: readonly Member[];
  readonly order: Order;
}

interface Member {
  readonly name: string;
  /** Does what there is to do in a value, and gives the value to put in its place: usually itself. */
  readonly visit: (value: object) => object;
}

/** Gives an object, which stays the same one, and all that is in it what they lack. */
export function carryOut(plan: Plan, object: Members): void {
  if (act(plan, object)) putInOrder(object, plan.order);
  visitMembers(plan, object);
}

/** As above; the object comes back as another one when it got members. */
function filled(plan: Plan, object: Members): Members {
  const out = act(plan, object) ? inOrder(object, plan.order) : object;
  visitMembers(plan, out);
  return out;
}

/** True: members were added at the end. */
function act({ actions }: Plan, object: Members): boolean {
  let isAdded = false;
  for (const action of actions) if (action(object)) isAdded = true;
  return isAdded;
}

function visitMembers({ members }: Plan, object: Members): void {
  for (const { name, visit } of members) {
    const value = object[name];
    if (typeof value !== 'object' || value === null) continue;
    const after = visit(value);
    if (after !== value) object[name] = after;
  }
}

/** Makes the plans of types; each when a type that leads to it is first asked for. */
export class Planner {
  readonly #types: ReadonlyMap<string, TypeDeclaration>;
  readonly #rulesOf: RulesOf;
  readonly #paths: Paths;
  /** Of all types that were met; undefined where there is nothing to do. */
  readonly #plans = new Map<string, Plan | undefined>();

  constructor(types: ReadonlyMap<string, TypeDeclaration>, rulesOf: RulesOf) {
    this.#types = types;
    this.#rulesOf = rulesOf;
    this.#paths = new Paths(types);
  }

  /** Undefined: nothing to do in that type, or no such type. */
  plan(typeKey: string): Plan | undefined {
    if (!this.#plans.has(typeKey) && this.#types.has(typeKey)) this.#compileAllFrom(typeKey);
    return this.#plans.get(typeKey);
  }

  #compileAllFrom(typeKey: string): void {
    const fieldsOf = this.#reachable(typeKey);
    const rules = new Map([...fieldsOf.keys()].map((key) => [key, this.#rules(key)]));
    const busy = withSomethingToDo(fieldsOf, (key) => (rules.get(key) ?? []).length > 0);
    const made: { plan: Plan; members: Member[]; fields: readonly FieldDeclaration[] }[] = [];
    for (const [key, fields] of fieldsOf) {
      if (this.#plans.has(key)) continue;
      if (!busy.has(key)) {
        this.#plans.set(key, undefined);
        continue;
      }
      const members: Member[] = [];
      const plan = {
        actions: this.#actions(key, rules.get(key) ?? []),
        members,
        order: this.#paths.layout(key).order,
      };
      this.#plans.set(key, plan);
      made.push({ plan, members, fields });
    }
    // Types may contain each other: members are filled in when all plans are there.
    for (const { members, fields } of made) members.push(...fields.flatMap((field) => this.#member(field)));
  }

  /** The type and all that it leads to, with their fields. */
  #reachable(from: string): ReadonlyMap<string, readonly FieldDeclaration[]> {
    const found = new Map<string, readonly FieldDeclaration[]>();
    const open = [from];
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      const declaration = found.has(key) ? undefined : this.#types.get(key);
      if (declaration === undefined || isOpaque(declaration)) continue;
      const fields = flattenedFields(this.#types, declaration);
      found.set(key, fields);
      open.push(...fields.map(({ type }) => type));
    }
    return found;
  }

  /** Those of the type and of the types that are inlined in it, and the constants of its declaration. */
  #rules(key: string): readonly DefaultRule[] {
    const { fields = [] } = this.#types.get(key) ?? {};
    return [
      ...this.#rulesOf(key),
      ...fields.flatMap((field) => (field.inline === true ? this.#rules(field.type) : declaredDefault(field))),
    ];
  }

  #actions(key: string, rules: readonly DefaultRule[]): readonly Action[] {
    return rules.map((rule) => compileRule({ types: this.#types, paths: this.#paths }, key, rule));
  }

  #member(field: FieldDeclaration): readonly Member[] {
    const { name } = field;
    if (isResourceList(field)) return [{ name, visit: roundEntries }];
    const plan = this.#plans.get(field.type);
    if (plan === undefined) return [];
    if (field.list === true) return [{ name, visit: (list) => fillItems(plan, list as unknown[]) }];
    if (field.map === true) return [{ name, visit: (map) => fillEntries(plan, map as Members) }];
    return [{ name, visit: (value) => filled(plan, value as Members) }];
  }
}

function fillItems(plan: Plan, list: unknown[]): unknown[] {
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (isMembers(item)) list[i] = filled(plan, item);
  }
  return list;
}

function fillEntries(plan: Plan, map: Members): Members {
  for (const [key, value] of Object.entries(map)) if (isMembers(value)) setOwn(map, key, filled(plan, value));
  return map;
}

/** Types whose JSON is something else than their fields; none of them has defaults. */
const isOpaque = ({ scalar, listOf, jsonForm }: TypeDeclaration): boolean =>
  scalar !== undefined || listOf !== undefined || jsonForm !== undefined;

/** A declared constant, unless it is what absence means anyway. */
function declaredDefault({ name, default: value, nullable }: FieldDeclaration): readonly DefaultRule[] {
  if (value === undefined) return [];
  return nullable === true || (value !== '' && value !== 0 && value !== false) ? [{ path: name, value }] : [];
}

/** Amounts of resources, which have thousandths and nothing smaller. */
const isResourceList = ({ type, map }: FieldDeclaration): boolean => type === 'quantity' && map === true;

function roundEntries(map: object): object {
  const amounts = map as Members;
  for (const key of Object.keys(amounts)) {
    const amount = amounts[key];
    if (typeof amount !== 'string') continue;
    const rounded = roundedToMilli(amount);
    if (rounded !== amount) setOwn(amounts, key, rounded);
  }
  return map;
}

/** Those that have work of their own, and those that lead to them. */
function withSomethingToDo(
  fieldsOf: ReadonlyMap<string, readonly FieldDeclaration[]>,
  hasRules: (key: string) => boolean,
): ReadonlySet<string> {
  const users = new Map<string, string[]>();
  const busy = new Set<string>();
  const open: string[] = [];
  for (const [key, fields] of fieldsOf) {
    if (hasRules(key) || fields.some(isResourceList)) open.push(key);
    for (const { type } of fields) users.set(type, [...(users.get(type) ?? []), key]);
  }
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (busy.has(key)) continue;
    busy.add(key);
    open.push(...(users.get(key) ?? []));
  }
  return busy;
}
