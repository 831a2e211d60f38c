import { getOwn, setOwn } from '../meta/own.js';
import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';
import { flattenedFields } from '../types/flattened.js';
import type { Members, Order } from './members.js';
import { inOrder, isMembers, orderOf, withEntries } from './members.js';
import type { RulePath } from './rules.js';

type Types = ReadonlyMap<string, TypeDeclaration>;

/** A type as far as it matters where its members stand. */
export interface Layout {
  readonly fields: ReadonlyMap<string, FieldDeclaration>;
  readonly order: Order;
}

/** One step of a path: a member of a declared type, or of a map. */
interface Step {
  readonly name: string;
  /** Of the type that the member is in; undefined in a map. */
  readonly layout: Layout | undefined;
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

/** Finds out what paths lead through. Layouts are kept, as many paths start at few types. */
export class Paths {
  readonly #types: Types;
  readonly #layouts = new Map<string, Layout>();

  constructor(types: Types) {
    this.#types = types;
  }

  layout(typeKey: string): Layout {
    const known = this.#layouts.get(typeKey);
    if (known !== undefined) return known;
    const declaration = this.#types.get(typeKey);
    if (declaration === undefined) throw new Error(`No declaration of type ${typeKey}`);
    const fields = flattenedFields(this.#types, declaration);
    const layout = {
      fields: new Map(fields.map((field) => [field.name, field])),
      order: orderOf(fields.map(({ name }) => name)),
    };
    this.#layouts.set(typeKey, layout);
    return layout;
  }

  /** @throws {Error} when the type has no such member. */
  field(typeKey: string, name: string): FieldDeclaration {
    const field = this.layout(typeKey).fields.get(name);
    if (field === undefined) throw new Error(`Type ${typeKey} has no member ${name}`);
    return field;
  }

  path(typeKey: string, path: RulePath): Path {
    const steps: Step[] = [];
    let type: string | undefined = typeKey;
    let last: FieldDeclaration | undefined;
    for (const name of named(path)) {
      if (type === undefined) {
        steps.push({ name, layout: undefined }); // behind a map there are its values
        last = undefined;
        continue;
      }
      last = this.field(type, name);
      steps.push({ name, layout: this.layout(type) });
      type = last.map === true ? undefined : last.type;
    }
    return steps.length === 1 ? shortPath(steps, last) : longPath(steps, last);
  }
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
function shortPath(steps: readonly Step[], field: FieldDeclaration | undefined): Path {
  const name = steps[0]?.name ?? '';
  const nullable = field?.nullable === true;
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

function longPath(steps: readonly Step[], field: FieldDeclaration | undefined): Path {
  const nullable = field?.nullable === true;
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
  if (next?.layout === undefined) {
    const { [next?.name ?? '']: _, ...others } = inner; // a map: written anew, in the order of its keys
    setOwn(object, name, withEntries(others, [[next?.name ?? '', value]]));
  } else {
    const isAdded = writeAt(inner, steps, at + 1, value);
    setOwn(object, name, isAdded ? inOrder(inner, next.layout.order) : inner);
  }
  return before === undefined;
}
