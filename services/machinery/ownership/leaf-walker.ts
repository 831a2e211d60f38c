import { jsonEqual } from '../patch/json-equal.js';
import { isLeaf, LEAF, type FieldsTree } from './fields-tree.js';
import type { Difference, Walker } from './walker.js';

/** Scalars, and what is atomic. */
function leafWalker(lift: (tree: FieldsTree) => FieldsTree): Walker {
  return {
    diff: diffLeaves,
    fields: () => LEAF,
    merge: (_live, config) => config,
    prune: (value) => value,
    lift,
  };
}

export function diffLeaves(before: unknown, after: unknown, out: Difference): void {
  if (!jsonEqual(before, after)) out.changed = LEAF;
}

export const scalarWalker: Walker = leafWalker((tree) => tree);
export const atomicWalker: Walker = leafWalker((tree) => (isLeaf(tree) ? tree : LEAF));
