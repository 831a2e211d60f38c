import type { Json, JsonObject } from '../meta/object.js';
import { getOwn, isJsonObject, setOwn } from '../meta/own.js';
import { type Type, facet, type Field } from '../types/graph.js';
import { applyMergePatch } from './merge-patch.js';
import { refused } from './strategic-errors.js';
import { type ListMerge, DIRECTIVE, listInOrder, mergedList } from './strategic-lists.js';

/** Bodies are bounded in depth where they are parsed; this holds for whatever comes from elsewhere. */
const MAX_DEPTH = 1000;
/** Items of lists gone through and members copied, in all: a patch may name the same item over and over. */
const MAX_SPENT = 500_000;

const RETAIN_KEYS = '$retainKeys';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';
const ORDER_PREFIX = '$setElementOrder/';

/**
 * Applies a strategic merge patch: objects merge as in a JSON merge patch, lists as their declarations say, by the
 * member that tells their items apart. Directives in the patch delete, replace and order. Where there is nothing to
 * merge with, directives in the patch act on nothing, and nulls are left out. Nothing of `document` or `patch` is
 * changed: the result shares with them what it can, and `document` itself comes back when the patch changes nothing.
 *
 * @param type Of the document, in the version that the patch was written for. Where a member is not declared, objects
 * merge and lists are replaced.
 * @throws {StatusError} BadRequest for what is no such patch; Invalid when an item cannot be told from others.
 */
export function applyStrategicMergePatch(type: Type, document: Json, patch: Json): Json {
  if (!isObject(patch)) throw refused.notAnObject(patch);
  return new Merge().object(isObject(document) ? document : undefined, patch, shapeOf(type), 0);
}

const isObject = (value: Json | undefined): value is JsonObject => isJsonObject(value);
const ownJson = (object: JsonObject, key: string): Json | undefined => getOwn(object, key) as Json | undefined;

/** An object that is copied when it first changes. */
class Draft {
  readonly #before: JsonObject;
  readonly #spend: (members: number) => void;
  #copy: Record<string, Json | undefined> | undefined;

  constructor(before: JsonObject | undefined, spend: (members: number) => void) {
    this.#before = before ?? {};
    this.#spend = spend;
  }

  get value(): JsonObject {
    return this.#copy ?? this.#before;
  }

  get(key: string): Json | undefined {
    return ownJson(this.value, key);
  }

  set(key: string, value: Json): void {
    if (this.get(key) !== value) setOwn(this.#own(), key, value);
  }

  delete(key: string): void {
    if (Object.hasOwn(this.value, key)) Reflect.deleteProperty(this.#own(), key);
  }

  #own(): Record<string, Json | undefined> {
    if (this.#copy === undefined) {
      this.#spend(Object.keys(this.#before).length);
      this.#copy = { ...this.#before };
    }
    return this.#copy;
  }
}

/** One patch being applied. */
class Merge {
  #spent = 0;

  readonly #spend = (count: number): void => {
    this.#spent += count;
    if (this.#spent > MAX_SPENT) throw refused.tooLarge();
  };

  object(before: JsonObject | undefined, patch: JsonObject, shape: Shape, depth: number): Json {
    if (depth > MAX_DEPTH) throw refused.tooDeep(MAX_DEPTH);
    const directive = ownJson(patch, DIRECTIVE);
    if (directive === 'delete') return {};
    if (directive === 'replace') return this.#members(undefined, patch, shape, depth);
    if (directive !== undefined) throw refused.directive(directive, patch);
    return this.#members(before, patch, shape, depth);
  }

  #members(before: JsonObject | undefined, patch: JsonObject, shape: Shape, depth: number): Json {
    const draft = new Draft(before, this.#spend);
    const names = Object.keys(patch);
    const ordered = new Set<string>();
    if (names.some((name) => name.startsWith('$'))) {
      retainKeys(draft, patch, names);
      for (const directive of names.filter((name) => name.startsWith(ORDER_PREFIX))) {
        const name = directive.slice(ORDER_PREFIX.length);
        if (this.#order(draft, patch, name, shape.member(name), depth)) ordered.add(name);
      }
      for (const name of names) if (name.startsWith(DELETE_PREFIX)) this.#deleteItems(draft, patch, name);
    }
    for (const name of names) {
      if (ordered.has(name) || isDirective(name)) continue;
      const change = ownJson(patch, name);
      if (change === null || change === undefined) draft.delete(name);
      else draft.set(name, this.#value(draft.get(name), change, shape.member(name), depth + 1));
    }
    return draft.value;
  }

  #value(before: Json | undefined, change: Json, member: MemberShape, depth: number): Json {
    if (member.isRaw) return applyMergePatch(before, change);
    if (isObject(change)) {
      return this.object(
        isObject(before) && member.strategy !== 'replace' ? before : undefined,
        change,
        member.shape,
        depth,
      );
    }
    if (Array.isArray(change) && member.strategy === 'merge') {
      return mergedList(asList(before), change as readonly Json[], this.#listMerge(member, depth));
    }
    return change;
  }

  #listMerge({ mergeKey, shape }: MemberShape, depth: number): ListMerge {
    return {
      mergeKey,
      mergedItem: (before, patch) => this.object(before, patch, shape, depth + 1),
      spend: this.#spend,
    };
  }

  /** Merges and orders a list. False: it is one that is replaced, so it will have the patch's order anyway. */
  #order(draft: Draft, patch: JsonObject, name: string, member: MemberShape, depth: number): boolean {
    const order = asList(ownJson(patch, ORDER_PREFIX + name));
    const change = ownJson(patch, name);
    const items = asList(change);
    if (order === undefined || (change !== undefined && items === undefined)) throw refused.elementOrder();
    if (member.strategy !== 'merge') return false;
    const list = listInOrder(asList(draft.get(name)), items, order, this.#listMerge(member, depth + 1));
    if (list !== undefined) draft.set(name, list);
    return true;
  }

  #deleteItems(draft: Draft, patch: JsonObject, directive: string): void {
    const name = directive.slice(DELETE_PREFIX.length);
    const items = asList(ownJson(patch, directive));
    if (items === undefined || items.some((item) => typeof item === 'object')) throw refused.primitiveList();
    const before = asList(draft.get(name));
    if (before === undefined) return;
    this.#spend(before.length);
    const deleted = new Set(items);
    const kept = before.filter((item) => !deleted.has(item));
    if (kept.length < before.length) draft.set(name, kept);
  }
}

const asList = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) ? (value as readonly Json[]) : undefined;

const isDirective = (name: string): boolean =>
  name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(DELETE_PREFIX) || name.startsWith(ORDER_PREFIX);

/** Deletes the members that a directive does not name. The patch may only say something about those that it names. */
function retainKeys(draft: Draft, patch: JsonObject, names: readonly string[]): void {
  const directive = ownJson(patch, RETAIN_KEYS);
  if (directive === undefined) return;
  const retained = asList(directive);
  if (retained === undefined) throw refused.retainKeys();
  const keys = new Set(retained);
  for (const name of names) {
    if (!isDirective(name) && ownJson(patch, name) !== null && !keys.has(name)) throw refused.retainKeys();
  }
  for (const key of Object.keys(draft.value)) if (!keys.has(key)) draft.delete(key);
}

/** How the members of a JSON object are merged. */
interface Shape {
  /** The merge rule of a member; every name has one. */
  readonly member: (name: string) => MemberShape;
}

/** How one member is merged. */
interface MemberShape {
  /** Of the value; of the items, where the value is a list. */
  readonly shape: Shape;
  /** `merge` is for lists, `replace` for objects. Without one, lists are replaced and objects merged. */
  readonly strategy: string | undefined;
  /** The member that tells items of a merged list apart; undefined where they are no objects. */
  readonly mergeKey: string | undefined;
  /** JSON of no declared form: directives are data there. */
  readonly isRaw: boolean;
}

/** Nothing is known of it: objects merge, lists are replaced. */
const UNKNOWN: MemberShape = {
  shape: { member: () => UNKNOWN },
  strategy: undefined,
  mergeKey: undefined,
  isRaw: false,
};

/** The shape of a declared type. */
const shapeOf = facet((type): Shape => (type.form === 'struct' ? structShape(type) : UNKNOWN.shape));

/** Shapes of members are made when they are met: types may contain themselves. */
function structShape(type: Type): Shape {
  const members = new Map<string, MemberShape>();
  return {
    member(name) {
      const present = members.get(name);
      if (present !== undefined) return present;
      const field = type.field(name);
      if (field === undefined) return UNKNOWN; // and not kept: names are the client's
      const made = memberShape(field);
      members.set(name, made);
      return made;
    },
  };
}

function memberShape({ type, holds, declaration: { patchStrategy, patchMergeKey } }: Field): MemberShape {
  const isRaw = type.scalar === 'rawJSON';
  const value = shapeOf(type);
  const entry: MemberShape = { shape: value, strategy: undefined, mergeKey: undefined, isRaw };
  return {
    shape: holds === 'map' ? { member: () => entry } : value,
    strategy: patchStrategy,
    mergeKey: patchMergeKey,
    isRaw: isRaw && holds === 'one',
  };
}
