import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';

/** What ownership needs to know of a type: how far down its parts have owners of their own. */
export type Shape =
  | { readonly kind: 'scalar' }
  /** A list, map or structure with one owner, compared as a whole. */
  | { readonly kind: 'atomic' }
  | StructShape
  /** Keys of the client's choice, each with an owner. */
  | { readonly kind: 'map'; readonly values: Shape }
  /** Scalars, each with an owner. */
  | { readonly kind: 'list-set' }
  /** Structures that are told apart by some of their fields. */
  | { readonly kind: 'list-map'; readonly keys: readonly ListKey[]; readonly items: Shape }
  /** No schema: what is an object has keys with owners, and what is a list is atomic. */
  | { readonly kind: 'deduced' };

export interface StructShape {
  readonly kind: 'struct';
  /** Called at the first use: types may contain themselves. */
  readonly fields: () => ReadonlyMap<string, Shape>;
  /** Members that are no declared fields, where they are allowed. */
  readonly others?: Shape;
  /** Declared fields that nobody ever owns. */
  readonly ownerless?: ReadonlySet<string>;
}

export interface ListKey {
  readonly name: string;
  /** Stands for an absent one, in what is applied too. */
  readonly default?: unknown;
  /** Stands for an absent one in what is stored: the writer left it out because it is the zero of its type. */
  readonly zero: unknown;
}

type Types = ReadonlyMap<string, TypeDeclaration>;

export const SCALAR: Shape = { kind: 'scalar' };
export const ATOMIC: Shape = { kind: 'atomic' };
export const DEDUCED: Shape = { kind: 'deduced' };

const OWNERLESS_ROOT = new Set(['apiVersion', 'kind']);
const OWNERLESS_METADATA = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'resourceVersion',
  'managedFields',
]);
const ZEROS: ReadonlyMap<string, unknown> = new Map(
  Object.entries<unknown>({ string: '', bool: false, int32: 0, int64: 0 }),
);

/** A whole object of that shape: what says which object it is, and what only the server writes, has no owner. */
export function objectShape(shape: StructShape): StructShape {
  return {
    ...shape,
    ownerless: OWNERLESS_ROOT,
    fields: () => {
      const fields = new Map(shape.fields());
      const metadata = fields.get('metadata');
      if (metadata?.kind === 'struct') fields.set('metadata', { ...metadata, ownerless: OWNERLESS_METADATA });
      for (const name of OWNERLESS_ROOT) fields.set(name, SCALAR);
      return fields;
    },
  };
}

/** The shapes of declared types, each made once. */
export class DeclaredShapes {
  readonly #types: Types;
  readonly #named = new Map<string, Shape>();

  constructor(types: Types) {
    this.#types = types;
  }

  /** The shape of a kind. @throws {Error} for a key without declaration: a mistake of the caller's. */
  object(typeKey: string): StructShape {
    return objectShape(this.#struct(this.#declaration(typeKey)));
  }

  #declaration(key: string): TypeDeclaration {
    const declaration = this.#types.get(key);
    if (declaration === undefined) throw new Error(`No declaration of type ${key}`);
    return declaration;
  }

  #type(key: string): Shape {
    if (!key.includes('.')) return key === 'rawJSON' ? ATOMIC : SCALAR; // no type's key, so one of the wire's scalars
    let shape = this.#named.get(key);
    if (shape === undefined) {
      shape = this.#make(this.#declaration(key));
      this.#named.set(key, shape);
    }
    return shape;
  }

  #make(declaration: TypeDeclaration): Shape {
    const { scalar, listOf, jsonForm } = declaration;
    if (scalar !== undefined) return scalar === 'rawJSON' ? ATOMIC : SCALAR;
    return listOf !== undefined || jsonForm !== undefined ? ATOMIC : this.#struct(declaration);
  }

  #struct(declaration: TypeDeclaration): StructShape {
    return {
      kind: 'struct',
      fields: () => new Map(this.#flattened(declaration).map((field) => [field.name, this.#field(field)])),
    };
  }

  /** Inline types give their fields to the type they stand in; its own count where names meet. */
  #flattened(declaration: TypeDeclaration): readonly FieldDeclaration[] {
    const declared = (declaration.fields ?? []).filter((f) => f.jsonHidden !== true);
    return [
      ...declared.filter((f) => f.inline === true).flatMap((f) => this.#flattened(this.#declaration(f.type))),
      ...declared.filter((f) => f.inline !== true),
    ];
  }

  #field(field: FieldDeclaration): Shape {
    if (field.list === true) return this.#list(field);
    if (field.map === true) {
      return field.mapType === 'atomic' ? ATOMIC : { kind: 'map', values: this.#type(field.type) };
    }
    const shape = this.#type(field.type);
    if (shape.kind !== 'struct') return shape;
    return (field.structType ?? this.#declaration(field.type).structType) === 'atomic' ? ATOMIC : shape;
  }

  #list(field: FieldDeclaration): Shape {
    const items = this.#type(field.type);
    const keys = listKeys(field);
    if (items.kind === 'struct') {
      if (keys === undefined) return ATOMIC;
      const isWhole = this.#declaration(field.type).structType === 'atomic';
      return { kind: 'list-map', keys: this.#keys(field.type, keys), items: isWhole ? ATOMIC : items };
    }
    return items.kind === 'scalar' && isSet(field) ? { kind: 'list-set' } : ATOMIC;
  }

  #keys(type: string, names: readonly string[]): readonly ListKey[] {
    const fields = new Map(this.#flattened(this.#declaration(type)).map((field) => [field.name, field]));
    return names.map((name) => {
      const field = fields.get(name);
      const zero = ZEROS.get(field?.type ?? '') ?? null;
      const byDefault = field?.default ?? (isAlwaysThere(field) ? zero : undefined);
      return byDefault === undefined ? { name, zero } : { name, default: byDefault, zero };
    });
  }
}

/** Such a member has a value in every object: who leaves it out means the zero of its type. */
const isAlwaysThere = (field: FieldDeclaration | undefined): boolean =>
  field?.alwaysEmit === true && field.nullable !== true;

/** The older marker, where there is none of the new ones. */
const isMerged = ({ listType, patchStrategy }: FieldDeclaration): boolean =>
  listType === undefined && (patchStrategy ?? '').split(',').includes('merge');

function listKeys(field: FieldDeclaration): readonly string[] | undefined {
  if (field.listType === 'map') return field.listMapKeys;
  return isMerged(field) && field.patchMergeKey !== undefined ? [field.patchMergeKey] : undefined;
}

const isSet = (field: FieldDeclaration): boolean =>
  field.listType === 'set' || (isMerged(field) && field.patchMergeKey === undefined);
