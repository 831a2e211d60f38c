import { isJsonObject } from '../meta/own.js';
import { LEAF, SELF, type FieldsTree } from './fields-tree.js';
import {
  atomicWalker,
  scalarWalker,
  StructWalker,
  type Difference,
  type Pruning,
  type Steps,
  type Walker,
} from './walker.js';

/** Levels of objects that have owners inside. A call goes through several functions a level, and the stack has an end. */
const MAX_LEVELS = 200;

/** Values without a schema: what is an object has members with owners, and all else is atomic. */
class DeducedWalker implements Walker {
  readonly #objects: StructWalker;

  constructor(level: number) {
    const others = level < MAX_LEVELS ? new DeducedWalker(level + 1) : atomicWalker;
    this.#objects = new StructWalker(() => ({ fields: new Map(), ownerless: new Set() }), others);
  }

  diff(before: unknown, after: unknown, out: Difference): void {
    const isBefore = isJsonObject(before);
    const isAfter = isJsonObject(after);
    if (isBefore === isAfter) this.#of(before).diff(before, after, out);
    else {
      out.changed = isAfter ? this.#objects.fields(after, true, undefined) : LEAF;
      out.removed = isBefore ? membersOf(this.#objects.fields(before, true, undefined)) : undefined;
    }
  }

  fields(value: unknown, isItem: boolean, applied: Steps | undefined): FieldsTree | undefined {
    return this.#of(value).fields(value, isItem, applied);
  }

  merge(live: unknown, config: unknown): unknown {
    return isJsonObject(live) ? this.#objects.merge(live, config) : config;
  }

  prune(value: unknown, pruning: Pruning): unknown {
    return this.#of(value).prune(value, pruning);
  }

  lift(tree: FieldsTree): FieldsTree {
    return tree; // it does not say whether it once was a list
  }

  #of(value: unknown): Walker {
    return isJsonObject(value) ? this.#objects : scalarWalker;
  }
}

/** The same without the node itself, which is still there. */
function membersOf(tree: FieldsTree | undefined): FieldsTree | undefined {
  if (tree === undefined || tree[SELF] === undefined) return undefined;
  const { [SELF]: _, ...members } = tree;
  return members;
}

export const deducedWalker: Walker = new DeducedWalker(1);
