import type { ApiObject } from '../meta/object.js';
import { isJsonObject, setOwn } from '../meta/own.js';
import type { FieldDeclaration } from '../types/declarations.js';
import { fillDefaults } from '../structural/fill-defaults.js';
import type { Type, Field } from '../types/graph.js';
import { type Action, compileRule, orderOfType } from './actions.js';
import { roundedToMilli } from './computations.js';
import { type Members, type Order, inOrder, putInOrder } from './members.js';
import { loadRules, type DefaultRule, type RulesOf } from './rules.js';

/** Puts into objects what a version of their type says for what they leave out. */
export class Defaulter {
  readonly #planner: Planner;

  constructor({ translate }: { readonly translate: (platformForm: string) => string }) {
    this.#planner = new Planner(loadRules(translate));
  }

  /**
   * Fills in, in place, what `object` leaves out; once that is done, doing it again changes nothing. Members stand in
   * declared order afterwards, so a decoded object is still written the canonical way. What the server says about an
   * object when it is created (its status, its names, its addresses) is not said here.
   *
   * @param type In the served version that the object is in.
   * @param object As `decodeObject` gave it.
   */
  apply(type: Type, object: ApiObject): void {
    const { custom } = type.declaration;
    if (custom !== undefined) {
      fillDefaults(object, custom.schema());
      return;
    }
    const plan = this.#planner.plan(type);
    if (plan !== undefined) carryOut(plan, object);
  }
}

/** The defaults of a type, compiled. Types without any, at any depth, have no plan. */
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
function carryOut(plan: Plan, object: Members): void {
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
class Planner {
  readonly #rulesOf: RulesOf;
  /** Of all types that were met; undefined where there is nothing to do. */
  readonly #plans = new WeakMap<Type, Plan | undefined>();

  constructor(rulesOf: RulesOf) {
    this.#rulesOf = rulesOf;
  }

  /** Undefined: nothing to do in that type. */
  plan(type: Type): Plan | undefined {
    if (!this.#plans.has(type)) this.#compileAllFrom(type);
    return this.#plans.get(type);
  }

  #compileAllFrom(from: Type): void {
    const all = reachable(from);
    const rules = new Map(all.map((type) => [type, this.#rules(type)]));
    const busy = withSomethingToDo(all, (type) => (rules.get(type) ?? []).length > 0);
    const made: { type: Type; members: Member[] }[] = [];
    for (const type of all) {
      if (this.#plans.has(type)) continue;
      if (!busy.has(type)) {
        this.#plans.set(type, undefined);
        continue;
      }
      const members: Member[] = [];
      const actions = (rules.get(type) ?? []).map((rule) => compileRule(type, rule));
      this.#plans.set(type, { actions, members, order: orderOfType(type) });
      made.push({ type, members });
    }
    // Types may contain each other: members are filled in when all plans are there.
    for (const { type, members } of made) members.push(...type.fields.flatMap((field) => this.#member(field)));
  }

  /** Those of the type and of the types that are inlined in it, and the constants of its declaration. */
  #rules(type: Type): readonly DefaultRule[] {
    return [
      ...this.#rulesOf(type.key),
      ...type.declared.flatMap((field) =>
        field.declaration.inline === true ? this.#rules(field.type) : declaredDefault(field.declaration),
      ),
    ];
  }

  #member(field: Field): readonly Member[] {
    const { name, holds } = field;
    if (isResourceList(field)) return [{ name, visit: roundEntries }];
    const plan = this.#plans.get(field.type);
    if (plan === undefined) return [];
    if (holds === 'list') return [{ name, visit: (list) => fillItems(plan, list as unknown[]) }];
    if (holds === 'map') return [{ name, visit: (map) => fillEntries(plan, map as Members) }];
    return [{ name, visit: (value) => filled(plan, value as Members) }];
  }
}

/**
 * The type and all that it leads to, without those whose JSON is something else than their fields: they have no
 * defaults.
 */
function reachable(from: Type): readonly Type[] {
  const found = new Set<Type>();
  const open = [from];
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (found.has(type) || type.form !== 'struct') continue;
    found.add(type);
    open.push(...type.fields.map((field) => field.type));
  }
  return [...found];
}

function fillItems(plan: Plan, list: unknown[]): unknown[] {
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (isJsonObject(item)) list[i] = filled(plan, item);
  }
  return list;
}

function fillEntries(plan: Plan, map: Members): Members {
  for (const [key, value] of Object.entries(map)) if (isJsonObject(value)) setOwn(map, key, filled(plan, value));
  return map;
}

/** A declared constant, unless it is what absence means anyway. */
function declaredDefault({ name, default: value, nullable }: FieldDeclaration): readonly DefaultRule[] {
  if (value === undefined) return [];
  return nullable === true || (value !== '' && value !== 0 && value !== false) ? [{ path: name, value }] : [];
}

/** Amounts of resources, which have thousandths and nothing smaller. */
const isResourceList = ({ type, holds }: Field): boolean => type.scalar === 'quantity' && holds === 'map';

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
function withSomethingToDo(all: readonly Type[], hasRules: (type: Type) => boolean): ReadonlySet<Type> {
  const users = new Map<Type, Type[]>();
  const busy = new Set<Type>();
  const open: Type[] = [];
  for (const user of all) {
    if (hasRules(user) || user.fields.some(isResourceList)) open.push(user);
    for (const { type } of user.fields) users.set(type, [...(users.get(type) ?? []), user]);
  }
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (busy.has(type)) continue;
    busy.add(type);
    open.push(...(users.get(type) ?? []));
  }
  return busy;
}
