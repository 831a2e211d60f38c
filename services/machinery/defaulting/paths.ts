import { getOwn, setOwn } from '../meta/own.js';
import { facet, type Field, type Type } from '../types/graph.js';
import type { Members, Order } from './members.js';
import { inOrder, isMembers, orderOf, withEntries } from './members.js';
import type { RulePath } from './rules.js';

/** One step of a path: a member of a declared type, or of a map. */
interface Step {
  readonly name: string;
  /** The members of the type that the member is in; undefined in a map. */
  readonly order: Order | undefined;
}

export interface Path {
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
export function memberOf(type: Type, name: string): Field {
  const field = type.field(name);
  if (field === undefined) throw new Error(`Type ${type.key} has no member ${name}`);
  return field;
}

/** @param from The type that the path starts at. @throws {Error} when it leads through members that are not declared. */
export function pathOf(from: Type, path: RulePath): Path {
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
export const isUnset = (value: unknown, nullable: boolean): boolean => {
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
    for (const { name } of steps) node = isMembers(node) ? getOwn(node, name) : undefined;
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
  const inner = isMembers(before) ? before : {};
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
