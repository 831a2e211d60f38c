import { SCALAR_TYPES, type FieldDeclaration, type ScalarType, type TypeDeclaration } from './declarations.js';

/** The declarations that a graph begins with; asked for one at a time. A `Map` is one. */
export interface Declarations {
  get(key: string): TypeDeclaration | undefined;
  keys(): Iterable<string>;
}

/** An immutable set of types that refer to each other. */
export interface TypeGraph {
  /** @param key e.g. `core/v1.Pod`; scalars are no keys. */
  get(key: string): Type | undefined;
  /** @throws {Error} when there is no such type: a mistake of the caller's. */
  of(key: string): Type;
  /** Asks for all declarations that the graph began with. */
  keys(): Iterable<string>;
  /**
   * The next graph. It shares with this one every type that is the same in both: neither declared anew nor leading to
   * one that is. Types that came later refer to those of their own group version and to those that the graph began
   * with, which stay, and refer to none that came later. Takes the time that the group versions in question take.
   *
   * @param added Declarations of new types, or new declarations of types that came later.
   * @param removed Keys of types that came later; others are passed over. A key in both is added.
   * @throws {Error} when `added` declares a type that the graph began with.
   */
  with(added: ReadonlyMap<string, TypeDeclaration>, removed: Iterable<string>): TypeGraph;
}

/**
 * How values of a type look in JSON: objects with members, a scalar, a list of `items`, or the value of the one of its
 * fields that is set.
 */
export type Form = 'struct' | 'scalar' | 'list' | 'choice';

type Resolve = (key: string) => Type;

/** A field, its type by reference. */
export class Field {
  readonly name: string;
  readonly declaration: FieldDeclaration;
  readonly holds: 'one' | 'list' | 'map';
  /** The type that declares the field: that of an inlined field is the inlined type. */
  readonly owner: Type;
  readonly #resolve: Resolve;
  #type: Type | undefined;

  constructor(owner: Type, declaration: FieldDeclaration, resolve: Resolve) {
    this.name = declaration.name;
    this.declaration = declaration;
    this.holds = declaration.list === true ? 'list' : declaration.map === true ? 'map' : 'one';
    this.owner = owner;
    this.#resolve = resolve;
  }

  /** The type of the value, or of each value in the list or map. @throws {Error} when it is not declared. */
  get type(): Type {
    return (this.#type ??= this.#resolve(this.declaration.type));
  }
}

/** A declaration resolved at first use: types may contain themselves. Never changes, and is equal to itself only. */
export class Type {
  readonly key: string;
  readonly declaration: TypeDeclaration;
  readonly form: Form;
  /** Values look in JSON, and mean, as those of this scalar. */
  readonly scalar: ScalarType | undefined;
  readonly #resolve: Resolve;
  #declared: readonly Field[] | undefined;
  #members: ReadonlyMap<string, Field> | undefined;
  #fields: readonly Field[] | undefined;

  constructor(key: string, declaration: TypeDeclaration, resolve: Resolve) {
    this.key = key;
    this.declaration = declaration;
    this.form = formOf(declaration);
    this.scalar = declaration.scalar;
    this.#resolve = resolve;
  }

  /**
   * The members of the JSON object, in the order they are written in. @throws {Error} when it inlines what is not
   * declared.
   */
  get fields(): readonly Field[] {
    return (this.#fields ??= [...this.#byName.values()]);
  }

  /** The member of that name in JSON. */
  field(name: string): Field | undefined {
    return this.#byName.get(name);
  }

  /** The fields as declared, inlined types being one field each, without those that JSON hides. */
  get declared(): readonly Field[] {
    return (this.#declared ??= (this.declaration.fields ?? [])
      .filter((field) => field.jsonHidden !== true)
      .map((field) => new Field(this, field, this.#resolve)));
  }

  /** The type of each item, where the type is a list. */
  get items(): Type {
    return this.#resolve(this.declaration.listOf ?? '');
  }

  /** Inlined fields stand where their type is inlined. Of two fields with one name its own counts, else the first. */
  get #byName(): ReadonlyMap<string, Field> {
    if (this.#members !== undefined) return this.#members;
    const isInlined = ({ declaration }: Field): boolean => declaration.inline === true;
    const own = new Set(this.declared.filter((field) => !isInlined(field)).map(({ name }) => name));
    const members = new Map<string, Field>();
    for (const field of this.declared) {
      if (!isInlined(field)) members.set(field.name, field);
      else for (const it of field.type.fields) if (!own.has(it.name) && !members.has(it.name)) members.set(it.name, it);
    }
    return (this.#members = members);
  }
}

function formOf({ scalar, listOf, jsonForm }: TypeDeclaration): Form {
  if (scalar !== undefined) return 'scalar';
  return listOf !== undefined ? 'list' : jsonForm !== undefined ? 'choice' : 'struct';
}

const undeclared = (key: string): Error => new Error(`No declaration of type ${key}`);

const SCALARS: ReadonlyMap<string, Type> = new Map(
  SCALAR_TYPES.map((scalar) => [
    scalar,
    new Type(scalar, { scalar }, (key) => {
      throw undeclared(key);
    }),
  ]),
);

/** The types that a graph begins with, each made when it is first asked for; shared by all graphs that come of it. */
class FirstTypes {
  readonly #declarations: Declarations;
  readonly #made = new Map<string, Type>();

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  keys(): Iterable<string> {
    return this.#declarations.keys();
  }

  get(key: string): Type | undefined {
    const known = this.#made.get(key);
    const declaration = known === undefined ? this.#declarations.get(key) : undefined;
    if (declaration === undefined) return known;
    const type = new Type(key, declaration, this.resolve);
    this.#made.set(key, type);
    return type;
  }

  readonly resolve: Resolve = (key) => {
    const type = SCALARS.get(key) ?? this.get(key);
    if (type === undefined) throw undeclared(key);
    return type;
  };
}

type Types = ReadonlyMap<string, Type>;

class Graph implements TypeGraph {
  readonly #first: FirstTypes;
  /** By group version. */
  readonly #later: ReadonlyMap<string, Types>;

  constructor(first: FirstTypes, later: ReadonlyMap<string, Types>) {
    this.#first = first;
    this.#later = later;
  }

  get(key: string): Type | undefined {
    return this.#first.get(key) ?? this.#later.get(groupVersionOf(key))?.get(key);
  }

  of(key: string): Type {
    const type = this.get(key);
    if (type === undefined) throw undeclared(key);
    return type;
  }

  *keys(): Iterable<string> {
    yield* this.#first.keys();
    for (const types of this.#later.values()) yield* types.keys();
  }

  with(added: ReadonlyMap<string, TypeDeclaration>, removed: Iterable<string>): TypeGraph {
    const changes = new Map<string, Changes>();
    const change = (key: string, declaration: TypeDeclaration | undefined): void => {
      const groupVersion = groupVersionOf(key);
      const changed = changes.get(groupVersion) ?? new Map<string, TypeDeclaration | undefined>();
      changes.set(groupVersion, changed.set(key, declaration));
    };
    for (const key of removed) change(key, undefined);
    for (const [key, declaration] of added) {
      if (this.#first.get(key) !== undefined) throw new Error(`Type ${key} is declared already`);
      change(key, declaration);
    }
    const later = new Map(this.#later);
    for (const [groupVersion, changed] of changes) {
      const types = nextTypes(later.get(groupVersion) ?? new Map<string, Type>(), changed, this.#first.resolve);
      if (types.size === 0) later.delete(groupVersion);
      else later.set(groupVersion, types);
    }
    return new Graph(this.#first, later);
  }
}

/** `example.com/v1.Widget` is of `example.com/v1`. */
function groupVersionOf(key: string): string {
  const dot = key.indexOf('.', key.indexOf('/') + 1);
  return dot < 0 ? key : key.slice(0, dot);
}

/** By key; undefined for a type that goes. */
type Changes = Map<string, TypeDeclaration | undefined>;

/** The types of one group version after a change. */
function nextTypes(before: Types, changes: Changes, resolve: Resolve): Types {
  const after = new Map(before);
  const made = new Map<Type, Map<string, Type>>();
  for (const key of affected(before, changes)) {
    const declaration = changes.has(key) ? changes.get(key) : before.get(key)?.declaration;
    if (declaration === undefined) {
      after.delete(key);
      continue;
    }
    const links = new Map<string, Type>(); // its own: a type that held all the others would never let old ones go
    const type = new Type(key, declaration, (ref) => links.get(ref) ?? resolve(ref));
    after.set(key, type);
    made.set(type, links);
  }
  for (const [type, links] of made) {
    for (const key of references(type)) {
      const target = after.get(key);
      if (target !== undefined) links.set(key, target);
    }
  }
  return after;
}

/** The keys of types that come, change or go, and of those that lead to one. */
function affected(before: Types, changes: Changes): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [key, declaration] of changes) if (declaration !== before.get(key)?.declaration) found.add(key);
  for (const key of found) for (const type of before.values()) if (references(type).has(key)) found.add(type.key); // grows on the way
  return found;
}

/** The first graph of those declarations. Each is asked for when its type first is. */
export const typeGraph = (declarations: Declarations): TypeGraph => new Graph(new FirstTypes(declarations), new Map());

/** The result of a walker's compilation of a type: made at the first request, kept for as long as the type. */
export function facet<Compiled extends object | boolean>(make: (type: Type) => Compiled): (type: Type) => Compiled {
  const compiled = new WeakMap<Type, Compiled>();
  return (type) => {
    let form = compiled.get(type);
    if (form === undefined) compiled.set(type, (form = make(type)));
    return form;
  };
}

/** The keys that a declaration has, scalars among them. */
const references = facet(
  ({ declaration: { fields = [], listOf } }): ReadonlySet<string> =>
    new Set([...fields.map(({ type }) => type), ...(listOf === undefined ? [] : [listOf])]),
);
