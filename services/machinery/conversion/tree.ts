/** A structure of an object as decoded: any member may be anything until it is looked at. */
export type Tree = Readonly<Record<string, unknown>>;

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The structure, or an empty one where there is none. */
export const treeOf = (value: unknown): Tree => (isTree(value) ? value : {});

/** The structures of a list; whatever else it holds is no declared element. */
export const treesOf = (value: unknown): readonly Tree[] => (Array.isArray(value) ? value.filter(isTree) : []);

/** Without the members that are absent, in either way of saying so. */
export const present = (tree: Tree): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined && value !== null));

/** The structure without some members; undefined if none is left. */
export function without(tree: Tree, keys: ReadonlySet<string>): Tree | undefined {
  const left = Object.entries(tree).filter(([key]) => !keys.has(key));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
