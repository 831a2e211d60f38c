import { isMember, type FieldsTree } from './fields-tree.js';

/** Two values' differences as sets below one node; undefined where there are none. Reused from call to call. */
export interface Difference {
  /** Added or of another value. */
  changed: FieldsTree | undefined;
  removed: FieldsTree | undefined;
}

/** What is being taken out: what the applier applied the last time and not now, unless somebody has it. */
export interface Pruning {
  /** What the applier had, at and below this node. */
  readonly dropped: FieldsTree;
  /** What each of those has who have something here now. */
  readonly kept: readonly FieldsTree[];
}

/** Steps from the root to a value that is being applied: problems are told with their place. */
export type Steps = string[];

/** What ownership does with the values of one shape. Values are JSON; nothing of them is changed. */
export interface Walker {
  /** Both are present and not identical. Sets both members of `out`, which come in undefined. */
  diff(before: unknown, after: unknown, out: Difference): void;
  /**
   * Every path that a present value has, as it is added or removed.
   *
   * @param isItem Whether the value itself counts, as items of lists and maps do and named fields do not.
   * @param applied Given for a configuration: of named fields only what they hold counts, not the container.
   * @throws {NotApplicable} for items of a configuration that cannot be told apart.
   */
  fields(value: unknown, isItem: boolean, applied: Steps | undefined): FieldsTree | undefined;
  /** A configuration's value laid over the present one; the present one itself if that changes nothing. */
  merge(live: unknown, config: unknown): unknown;
  /** Undefined when nothing is left of it; the value itself when nothing is taken. */
  prune(value: unknown, pruning: Pruning): unknown;
  /** Ownership of parts of what now has one owner becomes ownership of the whole. The tree itself if there is none. */
  lift(tree: FieldsTree): FieldsTree;
}

/** An applied configuration with items that cannot be told apart. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
  readonly steps: readonly string[];

  constructor(steps: Steps, why: string) {
    super(why);
    this.steps = [...steps];
  }
}

/** As `diff`, for values that may be absent or identical; what `out` held before is forgotten. */
export function diffMembers(walker: Walker, before: unknown, after: unknown, out: Difference): void {
  out.changed = out.removed = undefined;
  if (before === after) return;
  if (before === undefined) out.changed = walker.fields(after, true, undefined);
  else if (after === undefined) out.removed = walker.fields(before, true, undefined);
  else walker.diff(before, after, out);
}

/** Somebody has the container itself, and so keeps it when it is emptied. */
export const isKept = ({ kept }: Pruning): boolean => kept.some(isMember);

/** The same of one member; undefined when nothing of it is taken out. */
export function pruningOf({ dropped, kept }: Pruning, element: string): Pruning | undefined {
  const below = dropped[element];
  return below && { dropped: below, kept: kept.flatMap((tree) => tree[element] ?? []) };
}
