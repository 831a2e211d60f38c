import { jsonEqual, getOwn, isJsonObject, setOwn } from '../meta/own.js';
import {
  isMember,
  type FieldsTree,
  isLeaf,
  LEAF,
  inOrder,
  mapChildren,
  SELF,
  type TreeDraft,
  FIELD,
} from './fields-tree.js';

/** Two values' differences as sets below one node; undefined where there are none. Reused from call to call. */
export interface Difference {
  /** Added or of another value. */
  changed: FieldsTree | undefined;
  removed: FieldsTree | undefined;
}

/**
 * Fields to take out: those of the applier's last configuration and not of this one, unless another manager has them.
 */
export interface Pruning {
  /** The applier's former fields, at and below this node. */
  readonly dropped: FieldsTree;
  /** The fields of each other manager, at and below this node. */
  readonly kept: readonly FieldsTree[];
}

/** Steps from the root to a value that is being applied: problems are told with their place. */
export type Steps = string[];

/** Ownership of the values of one shape. Values are JSON; nothing of them is changed. */
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

/** Whether a manager has the container itself, which then stays when it is emptied. */
export const isKept = ({ kept }: Pruning): boolean => kept.some(isMember);

/** The same of one member; undefined when nothing of it is taken out. */
export function pruningOf({ dropped, kept }: Pruning, element: string): Pruning | undefined {
  const below = dropped[element];
  return below && { dropped: below, kept: kept.flatMap((tree) => tree[element] ?? []) };
}

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

type Members = Record<string, unknown>;

interface Field {
  readonly name: string;
  readonly element: string;
  readonly walker: Walker;
  /** Objects inherit something of that name: only own members count. */
  readonly isInherited: boolean;
}

export interface StructParts {
  /** Fields that can have an owner. */
  readonly fields: ReadonlyMap<string, Walker>;
  /** Fields that never have one: merged and no more. */
  readonly ownerless: ReadonlySet<string>;
}

interface Loaded {
  /** In the order of a canonical tree. */
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
  readonly ownerless: ReadonlySet<string>;
}

const NONE: Members = {};

/** Objects: with declared fields, with keys of the client's choice, or with both. */
export class StructWalker implements Walker {
  readonly #load: () => StructParts;
  readonly #others: Walker | undefined;
  #loaded: Loaded | undefined;

  /**
   * @param load Called once, at the first value: types may contain themselves.
   * @param others The walker of members that are no fields; without it they have no owner.
   */
  constructor(load: () => StructParts, others?: Walker) {
    this.#load = load;
    this.#others = others;
  }

  diff(before: unknown, after: unknown, out: Difference): void {
    const isBefore = isJsonObject(before);
    const isAfter = isJsonObject(after);
    if (!isBefore && !isAfter) diffLeaves(before, after, out);
    else this.#diff(isBefore ? before : NONE, isAfter ? after : NONE, out);
  }

  #diff(before: Members, after: Members, out: Difference): void {
    let changed: TreeDraft | undefined;
    let removed: TreeDraft | undefined;
    for (const { name, element, walker, isInherited } of this.#parts().fields) {
      const was = isInherited ? getOwn(before, name) : before[name];
      const is = isInherited ? getOwn(after, name) : after[name];
      if (was === is) continue;
      diffMembers(walker, was, is, out);
      if (out.changed !== undefined) (changed ??= {})[element] = out.changed;
      if (out.removed !== undefined) (removed ??= {})[element] = out.removed;
    }
    out.changed = changed;
    out.removed = removed;
    if (this.#others !== undefined) this.#diffOthers(this.#others, before, after, out);
  }

  #diffOthers(others: Walker, before: Members, after: Members, out: Difference): void {
    const { byName, ownerless } = this.#parts();
    const changed: TreeDraft = { ...out.changed };
    const removed: TreeDraft = { ...out.removed };
    const visit = (name: string, was: unknown, is: unknown): void => {
      if (was === is || byName.has(name) || ownerless.has(name)) return;
      diffMembers(others, was, is, out);
      if (out.changed !== undefined) changed[FIELD + name] = out.changed;
      if (out.removed !== undefined) removed[FIELD + name] = out.removed;
    };
    for (const name of Object.keys(after)) visit(name, getOwn(before, name), after[name]);
    for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) visit(name, before[name], undefined);
    out.changed = isLeaf(changed) ? undefined : inOrder(changed);
    out.removed = isLeaf(removed) ? undefined : inOrder(removed);
  }

  fields(value: unknown, isItem: boolean, applied: Steps | undefined): FieldsTree | undefined {
    if (!isJsonObject(value)) return LEAF;
    const out: TreeDraft = isItem ? { [SELF]: LEAF } : {};
    let count = this.#addFields(value, applied, out);
    if (this.#others !== undefined) count += this.#addOthers(this.#others, value, applied, out);
    if (count > 0) return this.#others === undefined ? out : inOrder(out);
    return isItem || isEmptyObject(value) ? LEAF : undefined;
  }

  #addFields(value: Members, applied: Steps | undefined, out: TreeDraft): number {
    let count = 0;
    for (const { name, element, walker, isInherited } of this.#parts().fields) {
      const member = isInherited ? getOwn(value, name) : value[name];
      if (member === undefined) continue;
      applied?.push(element);
      const tree = walker.fields(member, applied === undefined, applied);
      applied?.pop();
      if (tree === undefined) continue;
      out[element] = tree;
      count++;
    }
    return count;
  }

  #addOthers(others: Walker, value: Members, applied: Steps | undefined, out: TreeDraft): number {
    const { byName, ownerless } = this.#parts();
    let count = 0;
    for (const name of Object.keys(value)) {
      if (byName.has(name) || ownerless.has(name)) continue;
      const element = FIELD + name;
      applied?.push(element);
      out[element] = others.fields(value[name], true, applied) ?? LEAF;
      applied?.pop();
      count++;
    }
    return count;
  }

  /** Null says nothing about an object that holds something: there is no taking out what others may have put in. */
  merge(live: unknown, config: unknown): unknown {
    if (!isJsonObject(live)) return config;
    if (!isJsonObject(config)) return config === null && !isEmptyObject(live) ? live : config;
    const { byName } = this.#parts();
    let out: Members | undefined;
    for (const name of Object.keys(config)) {
      const was = getOwn(live, name);
      const walker = byName.get(name)?.walker ?? this.#others ?? scalarWalker;
      const is = was === undefined ? config[name] : walker.merge(was, config[name]);
      if (is === was) continue;
      out ??= { ...live };
      setOwn(out, name, is);
    }
    return out ?? live;
  }

  prune(value: unknown, pruning: Pruning): unknown {
    if (!isJsonObject(value)) return value;
    let out: Members | undefined;
    for (const element in pruning.dropped) {
      const name = element.slice(FIELD.length);
      const member = element.startsWith(FIELD) ? getOwn(value, name) : undefined;
      if (member === undefined) continue;
      const left = this.#prunedMember(name, member, pruning);
      if (left === member) continue;
      out ??= { ...value };
      if (left === undefined) Reflect.deleteProperty(out, name);
      else setOwn(out, name, left);
    }
    if (out === undefined) return value;
    return isEmptyObject(out) && !isKept(pruning) ? undefined : out;
  }

  /** A named field belongs to the owners of fields in it; defaults in it go with the last of these. */
  #prunedMember(name: string, member: unknown, pruning: Pruning): unknown {
    const field = this.#parts().byName.get(name);
    const walker = field?.walker ?? (this.#parts().ownerless.has(name) ? undefined : this.#others);
    const below = pruningOf(pruning, FIELD + name);
    if (below === undefined || walker === undefined) return member;
    const isNamed = field !== undefined;
    const isHeld = isNamed || isMember(below.dropped);
    const isStillKept = isNamed ? below.kept.length > 0 : isKept(below);
    if (isHeld && !isStillKept) return undefined;
    return isLeaf(below.dropped) ? member : walker.prune(member, below);
  }

  lift(tree: FieldsTree): FieldsTree {
    const { byName } = this.#parts();
    return mapChildren(tree, (element, child) => {
      if (!element.startsWith(FIELD)) return child;
      const walker = byName.get(element.slice(FIELD.length))?.walker ?? this.#others;
      return walker === undefined ? child : walker.lift(child);
    });
  }

  #parts(): Loaded {
    return (this.#loaded ??= loaded(this.#load()));
  }
}

function loaded({ fields, ownerless }: StructParts): Loaded {
  const owned = [...fields]
    .filter(([name]) => !ownerless.has(name))
    .map(([name, walker]) => ({ name, element: FIELD + name, walker, isInherited: name in Object.prototype }))
    .sort((a, b) => (a.element < b.element ? -1 : 1));
  return { fields: owned, byName: new Map(owned.map((field) => [field.name, field])), ownerless };
}

function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
