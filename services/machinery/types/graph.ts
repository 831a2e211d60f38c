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
   * one that is. The types that a graph began with stay, and refer to none that came later.
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

  /** The members of the JSON object, in the order they are written in. @throws {Error} when it inlines what is not declared. */
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

class Graph implements TypeGraph {
  readonly #first: FirstTypes;
  readonly #later: ReadonlyMap<string, Type>;

  constructor(first: FirstTypes, later: ReadonlyMap<string, Type>) {
    this.#first = first;
    this.#later = later;
  }

  get(key: string): Type | undefined {
    return this.#later.get(key) ?? this.#first.get(key);
  }

  of(key: string): Type {
    const type = this.get(key);
    if (type === undefined) throw undeclared(key);
    return type;
  }

  *keys(): Iterable<string> {
    yield* this.#first.keys();
    yield* this.#later.keys();
  }

  with(added: ReadonlyMap<string, TypeDeclaration>, removed: Iterable<string>): TypeGraph {
    const declared = new Map([...this.#later].map(([key, { declaration }]) => [key, declaration]));
    for (const key of removed) declared.delete(key);
    for (const [key, declaration] of added) {
      if (this.#first.get(key) !== undefined) throw new Error(`Type ${key} is declared already`);
      declared.set(key, declaration);
    }
    const kept = this.#unchanged(declared);
    const made = new Map<Type, Map<string, Type>>();
    const later = new Map(
      [...declared].map(([key, declaration]) => {
        const links = new Map<string, Type>(); // of its own: a type that held a whole graph would never let old ones go
        const known = kept.get(key);
        const type = known ?? new Type(key, declaration, (ref) => links.get(ref) ?? this.#first.resolve(ref));
        if (known === undefined) made.set(type, links);
        return [key, type];
      }),
    );
    for (const [type, links] of made) {
      for (const key of references(type)) {
        const target = later.get(key);
        if (target !== undefined) links.set(key, target);
      }
    }
    return new Graph(this.#first, later);
  }

  /** The types that came later and have the same declaration, as has all that they lead to. */
  #unchanged(declared: ReadonlyMap<string, TypeDeclaration>): ReadonlyMap<string, Type> {
    const kept = new Map([...this.#later].filter(([key, type]) => declared.get(key) === type.declaration));
    const isOther = (key: string): boolean => !kept.has(key) && (this.#later.has(key) || declared.has(key));
    let before: number;
    do {
      before = kept.size;
      for (const [key, type] of kept) if (references(type).some(isOther)) kept.delete(key);
    } while (kept.size < before);
    return kept;
  }
}

/** The first graph of those declarations. Each is asked for when its type first is. */
export const typeGraph = (declarations: Declarations): TypeGraph => new Graph(new FirstTypes(declarations), new Map());

/** What a walker compiles of a type: made at the first request, kept for as long as the type. */
export function facet<Compiled extends object | boolean>(make: (type: Type) => Compiled): (type: Type) => Compiled {
  const compiled = new WeakMap<Type, Compiled>();
  return (type) => {
    let form = compiled.get(type);
    if (form === undefined) compiled.set(type, (form = make(type)));
    return form;
  };
}

/** The keys that a declaration has, scalars among them. */
const references = facet(({ declaration: { fields = [], listOf } }): readonly string[] => [
  ...new Set([...fields.map(({ type }) => type), ...(listOf === undefined ? [] : [listOf])]),
]);
