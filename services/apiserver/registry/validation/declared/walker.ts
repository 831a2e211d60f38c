import type { FieldCheck } from '../../../../machinery/types/declarations.js';
import type { Field, Type } from '../../../../machinery/types/graph.js';
import { facet } from '../../../../machinery/types/graph.js';
import { type At, checkImmutable } from '../checks/at.js';
import type { AroundRule, TypeRule } from '../types.js';
import type { Check } from './value-checks.js';
import { listChecks, valueChecks } from './value-checks.js';

type Members = Readonly<Record<string, unknown>>;

/** A rule for values of its own type alone: the table that it comes from has seen to that. */
export type AnyRule = TypeRule<never> | AroundRule<never>;

/** Goes through a value of a type; `at` is its place. */
export type Visit = (at: At, value: Members) => void;
/** The same for a state and the one before it. */
export type Compare = (at: At, next: Members, old: Members) => void;

interface Step {
  readonly name: string;
  /** The value that stands for an absent one; undefined: none. */
  readonly zero: unknown;
  readonly asksAbsent: boolean;
  /** Each list is asked until one of its checks says that there is no use in more. */
  readonly checks: readonly (readonly Check[])[];
  readonly inner: ((at: At, name: string, value: unknown) => void) | undefined;
}

const NUMBERS: ReadonlySet<string> = new Set<string>(['int32', 'int64', 'double', 'intOrString']);
const NO_ITEMS: readonly unknown[] = [];
const NOTHING: Members = Object.freeze({});

const isSkipped = ({ declaration }: Field): boolean => declaration.check === 'none';

const checksOf = ({ declaration: { check = [] } }: Field): readonly FieldCheck[] =>
  check === 'none' ? [] : 'length' in check ? check : [check];

type Within = Readonly<Record<string, FieldCheck>>;

/** The checks that a type has for fields of the types that it inlines. */
const overridesOf = (type: Type): Within =>
  Object.assign(
    {},
    ...type.declared.map(({ declaration: { inline, within } }) => (inline === true ? within : {})),
  ) as Within;

const isEmptyAsked = ({ declaration: { nullable, alwaysEmit } }: Field, { empty }: FieldCheck): boolean =>
  empty === undefined ? nullable === true || alwaysEmit === true : empty === 'asked';

/** Where clients know another order than that of the declaration, the type says so. */
function inOrder({ fields, declaration: { checkedFirst = [] } }: Type): readonly Field[] {
  const rank = ({ name }: Field): number =>
    checkedFirst.includes(name) ? checkedFirst.indexOf(name) : checkedFirst.length;
  return checkedFirst.length === 0 ? fields : fields.toSorted((a, b) => rank(a) - rank(b));
}

/** The type and those that are written as part of it. */
const partsOf = (type: Type): readonly Type[] => [
  ...type.declared.flatMap((field) => (field.declaration.inline === true ? partsOf(field.type) : [])),
  type,
];

/**
 * The checks that declarations carry, compiled for a type when it is first met: a plan that visits the fields which
 * have a check or lead to one. The fields of a type are asked in the order in which they are declared, each with all
 * that is below it, and then the type's own rule between them.
 */
export class DeclaredChecks {
  readonly #rules: ReadonlyMap<string, AnyRule>;

  /** @param rules By key of their type. */
  constructor(rules: ReadonlyMap<string, AnyRule>) {
    this.#rules = rules;
  }

  /** @returns The checks of one member of a type's values, without the rules of the type; undefined: there are none. */
  members(type: Type, isWanted: (member: string) => boolean): Visit | undefined {
    const steps = this.#steps(type, isWanted);
    return steps.length === 0 ? undefined : planOf({ first: [], steps });
  }

  /** @returns The same for all members that are wanted, and the rules of the type. */
  visit(type: Type, isWanted: (member: string) => boolean): Visit | undefined {
    if (!this.#leads(type)) return undefined;
    const { checkedFirst = [] } = type.declaration;
    const isFirst = (member: string): boolean => checkedFirst.includes(member);
    return planOf({
      first: this.#steps(type, (member) => isWanted(member) && isFirst(member)),
      steps: this.#steps(type, (member) => isWanted(member) && !isFirst(member)),
      unions: unionsOf(type),
      rules: this.#rulesOf(type).map((rule) => (typeof rule === 'function' ? { last: rule } : rule)),
    });
  }

  /** Compares what is immutable below members that are wanted. */
  compare(type: Type, isWanted: (member: string) => boolean): Compare | undefined {
    return comparing(type.fields.filter(({ name }) => isWanted(name)));
  }

  readonly #visitOf = facet((type): { readonly visit?: Visit } => {
    const visit = this.visit(type, () => true);
    return visit === undefined ? {} : { visit };
  });

  #rulesOf(type: Type): readonly AnyRule[] {
    return partsOf(type).flatMap(({ key }) => this.#rules.get(key) ?? []);
  }

  /** Whether there is anything to check in values of the type. */
  #leads(type: Type, seen = new Set<Type>()): boolean {
    if (type.form !== 'struct' || seen.has(type)) return false;
    seen.add(type);
    if (this.#rulesOf(type).length > 0 || unionsOf(type).length > 0) return true;
    return [...type.declared, ...type.fields].some(
      (field) =>
        !isSkipped(field) &&
        (field.declaration.check !== undefined ||
          field.declaration.within !== undefined ||
          this.#leads(field.type, seen)),
    );
  }

  #steps(type: Type, isWanted: (member: string) => boolean): readonly Step[] {
    const overrides = overridesOf(type);
    return inOrder(type).flatMap((field) => {
      if (!isWanted(field.name) || isSkipped(field)) return [];
      const { [field.name]: override } = overrides;
      return this.#step(field, override === undefined ? checksOf(field) : [override]) ?? [];
    });
  }

  #step(field: Field, declared: readonly FieldCheck[]): Step | undefined {
    const inner = field.holds === 'list' ? this.#items(field, declared) : this.#single(field);
    const checks = declared
      .map((check) => (field.holds === 'list' ? listChecks(check) : valueChecks(check, isEmptyAsked(field, check))))
      .filter((list) => list.length > 0);
    if (checks.length === 0 && inner === undefined) return undefined;
    const isAbsentSkipped = field.declaration.nullable === true || declared.some(({ empty }) => empty === 'skipped');
    return {
      name: field.name,
      zero: isAbsentSkipped ? undefined : zeroOf(field),
      asksAbsent: declared.some(({ required, empty }) => required !== undefined && empty !== 'skipped'),
      checks,
      inner,
    };
  }

  /** Types may be part of themselves: what is below a field is compiled when a value is first there. */
  #below(field: Field): Visit | undefined {
    const { within } = field.declaration;
    const here = within === undefined ? undefined : planOf({ first: [], steps: this.#withinSteps(field.type, within) });
    if (!this.#leads(field.type)) return here;
    return (at, value) => {
      here?.(at, value);
      this.#visitOf(field.type).visit?.(at, value);
    };
  }

  #withinSteps(type: Type, within: Within): readonly Step[] {
    return Object.entries(within).flatMap(([name, check]) => {
      const field = type.field(name);
      if (field === undefined) throw new Error(`${type.key} has no member ${name}`);
      return this.#step(field, [check]) ?? [];
    });
  }

  #single(field: Field): Step['inner'] {
    const visit = this.#below(field);
    if (visit === undefined) return undefined;
    if (field.holds === 'one') return (at, name, value) => visit(at.child(name), value as Members);
    return (at, name, value) => {
      const mapAt = at.child(name);
      for (const [key, item] of Object.entries(value as Members)) visit(mapAt.key(key), item as Members);
    };
  }

  #items(field: Field, declared: readonly FieldCheck[]): Step['inner'] {
    const visit = this.#below(field);
    const itemChecks = declared.flatMap(({ items }) =>
      items === undefined ? [] : [{ place: items.at, checks: valueChecks(items, true) }],
    );
    const { unique, empty } = declared.find((check) => check.unique !== undefined) ?? {};
    if (visit === undefined && itemChecks.length === 0 && unique === undefined) return undefined;
    return (at, name, value) => {
      const list = value as readonly unknown[];
      if (list.length === 0) return;
      const listAt = at.child(name);
      const seen = list.length === 1 ? undefined : new Set<unknown>();
      list.forEach((item, i) => {
        const itemAt = listAt.index(i);
        for (const { place, checks } of itemChecks) {
          if (place === 'list') ask(checks, at, name, item);
          else ask(checks, itemAt, '', item);
        }
        visit?.(itemAt, item as Members);
        if (seen !== undefined && unique !== undefined) checkUnique(itemAt, unique, item, seen, empty === 'asked');
      });
    };
  }
}

function zeroOf({ holds, type }: Field): unknown {
  if (holds === 'map') return undefined;
  if (holds === 'list') return NO_ITEMS;
  if (type.form === 'struct') return NOTHING;
  if (type.scalar === 'string') return '';
  return NUMBERS.has(type.scalar ?? '') ? 0 : undefined;
}

interface Union {
  readonly members: readonly string[];
  readonly check: Visit;
}

const unionsOf = (type: Type): readonly Union[] =>
  partsOf(type).flatMap((part) => {
    const { oneOf } = part.declaration;
    if (oneOf === undefined) return [];
    const { none, more, except = [] } = oneOf;
    const members = oneOf.members ?? part.fields.flatMap(({ name }) => (except.includes(name) ? [] : [name]));
    const check: Visit = (at, object) => {
      const [first, ...others] = members.filter((member) => object[member] !== undefined);
      if (first === undefined) at.required('', none);
      for (const other of others) at.forbidden(other, more);
    };
    return [{ members, check }];
  });

interface Plan {
  /** Steps before the rules that come first. */
  readonly first: readonly Step[];
  readonly steps: readonly Step[];
  readonly unions?: readonly Union[];
  readonly rules?: readonly Partial<AroundRule<never>>[];
}

function planOf({ first, steps, unions = [], rules = [] }: Plan): Visit {
  const firstRules = rules.flatMap((rule) => rule.first ?? []);
  const lastRules = rules.flatMap((rule) => rule.last ?? []);
  /** Of members that exclude each other, the first is looked into. */
  const isLookedInto = (object: Members, name: string): boolean =>
    unions.every(({ members }) => !members.includes(name) || firstOf(members, object) === name);
  return (at, object) => {
    for (const step of first) take(step, at, object);
    for (const rule of firstRules) rule(at, object as never);
    for (const step of steps) if (unions.length === 0 || isLookedInto(object, step.name)) take(step, at, object);
    for (const union of unions) union.check(at, object);
    for (const rule of lastRules) rule(at, object as never);
  };
}

const comparisonOf = facet((type): { readonly compare?: Compare } => {
  const compare = comparing(type.fields);
  return compare === undefined ? {} : { compare };
});

const holdsImmutable = (type: Type, seen = new Set<Type>()): boolean => {
  if (type.form !== 'struct' || seen.has(type)) return false;
  seen.add(type);
  return type.fields.some((field) => isImmutable(field) || (isPlain(field) && holdsImmutable(field.type, seen)));
};
const isImmutable = (field: Field): boolean => checksOf(field).some(({ immutable }) => immutable === true);
/** Items of lists and maps are not compared with former ones: they have no place of their own. */
const isPlain = (field: Field): boolean => field.holds === 'one' && !isSkipped(field);

function comparing(fields: readonly Field[]): Compare | undefined {
  const steps = fields.flatMap((field): readonly Compare[] => {
    const { name } = field;
    if (isImmutable(field)) return [(at, next, old) => checkImmutable(at, name, next[name], old[name])];
    if (!isPlain(field) || !holdsImmutable(field.type)) return [];
    return [
      (at, next, old) =>
        comparisonOf(field.type).compare?.(at.child(name), membersOf(next[name]), membersOf(old[name])),
    ];
  });
  if (steps.length === 0) return undefined;
  return (at, next, old) => {
    for (const step of steps) step(at, next, old);
  };
}

const membersOf = (value: unknown): Members => (value ?? {}) as Members;

const firstOf = (members: readonly string[], object: Members): string | undefined =>
  members.find((member) => object[member] !== undefined);

function ask(checks: readonly Check[], at: At, member: string, value: unknown): boolean {
  for (const check of checks) if (!check(at, member, value)) return false;
  return true;
}

function take({ name, zero, asksAbsent, checks, inner }: Step, at: At, object: Members): void {
  const value = object[name] ?? zero;
  if (value === undefined && !asksAbsent) return;
  let isWorthMore = true;
  for (const list of checks) if (!ask(list, at, name, value)) isWorthMore = false;
  if (isWorthMore && value !== undefined) inner?.(at, name, value);
}

function checkUnique(at: At, member: string, item: unknown, seen: Set<unknown>, isEmptyOne: boolean): void {
  const value = member === '' ? item : ((item as Members)[member] ?? '');
  if (value === '' && !isEmptyOne) return;
  if (seen.has(value)) at.duplicate(member, value);
  seen.add(value);
}
