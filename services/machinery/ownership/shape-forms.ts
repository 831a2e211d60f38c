/** The parts of a type that have owners of their own. */
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
  /** Declared fields that never have an owner. */
  readonly ownerless?: ReadonlySet<string>;
}

export interface ListKey {
  readonly name: string;
  /** Stands for an absent one, in what is applied too. */
  readonly default?: unknown;
  /** Stands for an absent one in what is stored: the writer left it out because it is the zero of its type. */
  readonly zero: unknown;
}

export const SCALAR: Shape = { kind: 'scalar' };
export const ATOMIC: Shape = { kind: 'atomic' };
export const DEDUCED: Shape = { kind: 'deduced' };
