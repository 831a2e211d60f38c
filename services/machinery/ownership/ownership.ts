import { getOwn, isJsonObject } from '../meta/own.js';
import type { ApiObject, JsonObject } from '../meta/object.js';
import { badRequest } from '../meta/status.js';
import { decodeObject } from '../schema/decode.js';
import { facet, type Type } from '../types/graph.js';
import { done, type Work } from '../work/work.js';
import { capUpdaters, byPlace, entryOf, isSameWriter, type ManagedFieldsEntry } from './managed-fields.js';
import { applyConflict, type Contest } from './conflicts.js';
import { difference, equal, intersection, isEmpty, LEAF, NO_FIELDS, union, type FieldsTree } from './fields-tree.js';
import { LastApplied } from './last-applied.js';
import { isUnchanged, leftOf, ObjectWalker, type Changes } from './object-walker.js';
import { objectShape, structShape } from './shape.js';

/** The two states of a write in another served version. */
export interface InVersion {
  readonly type: Type;
  readonly live: ApiObject | undefined;
  readonly next: ApiObject;
}

export interface Write {
  /** In the request's version. */
  readonly type: Type;
  readonly apiVersion: string;
  /** In the request's version; undefined on create. */
  readonly live: ApiObject | undefined;
  /** As decoded: from the stored object, or from the client where it may send them. */
  readonly managers: readonly ManagedFieldsEntry[];
  readonly manager: string;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly time: string;
  /**
   * The states in another served version; undefined when that is not known any more: its entries are dropped. Called
   * only for versions that entries name, once for each and each `next`.
   */
  inVersion(apiVersion: string, next: ApiObject): InVersion | undefined;
}

export interface ApplyOptions {
  /** Take contested fields from their owners instead of failing. */
  readonly force: boolean;
  /** Decodes and defaults a merged object, so that `1000m` and `1` are the same. */
  readonly normalise: (object: unknown) => Work<ApiObject>;
}

export interface Applied {
  readonly object: ApiObject;
  /** The very list that was given if no record changed. */
  readonly managers: readonly ManagedFieldsEntry[];
}

export interface OwnershipOptions {
  /** Where clients that apply by themselves keep what they applied; without, there is no way over from them. */
  readonly lastAppliedAnnotation?: string;
  /** The manager that takes over from them. @default the first label of the annotation's name */
  readonly lastAppliedManager?: string;
}

/** Owns what was there before the first apply, where there are no records of it. */
const BEFORE_FIRST_APPLY = 'before-first-apply';
const UNKNOWN_MANAGER = 'unknown';
/** Says which object it is: no pruning takes it away. */
const ALWAYS_KEPT: FieldsTree = { 'f:metadata': LEAF };

const walkerOf = facet((type) => new ObjectWalker(objectShape(structShape(type)), () => decodeObject(type, {}).value));

/** Which manager set which field. Spec 1, 3.2. Pure; compiles a walker for each type when it is first met. */
export class Ownership {
  readonly #lastApplied: LastApplied | undefined;

  constructor(o: OwnershipOptions = {}) {
    const { lastAppliedAnnotation: annotation } = o;
    if (annotation !== undefined) {
      this.#lastApplied = new LastApplied(annotation, o.lastAppliedManager ?? annotation.replace(/\..*/s, ''));
    }
  }

  /**
   * The records after a write other than apply: changed fields are the writer's alone, and removed ones have no owner.
   *
   * @param next What is about to be stored, in the request's version.
   * @returns The very list `write.managers` when no record changed.
   */
  *update(write: Write, next: ApiObject): Work<readonly ManagedFieldsEntry[]> {
    const walker = walkerOf(write.type);
    const changes = walker.diff(write.live, next);
    if (isUnchanged(changes)) return write.managers;
    yield;
    const views = this.#views(write, next, changes);
    const writer = entryFor(write, 'Update', changes.changed);
    let before: ManagedFieldsEntry | undefined;
    const after: ManagedFieldsEntry[] = [];
    for (const entry of write.managers) {
      if (isSameWriter(entry, writer)) before = entry;
      else keep(after, entry, left(entry, views));
      yield;
    }
    const had = before && left(before, views);
    yield;
    const now = had === undefined ? writer : { ...writer, fieldsV1: union(had, changes.changed) };
    yield;
    // Who gives an own field another value has written, though the set stays: `time` tells of the last write.
    keepOwn(after, isEmpty(changes.changed) ? before : undefined, now);
    return settled(write.managers, capUpdaters(after));
  }

  /**
   * Merges a configuration into the live object, or makes the object from it.
   *
   * A set of another version is taken by its paths when fields are taken out that are not applied any more:
   * a field that has another name in the request's version stays, without an owner.
   *
   * @param config The body as JSON, not decoded: only what the applier wrote counts.
   * @throws {StatusError} Conflict when other managers own what would change, and `force` is not set; BadRequest when
   * the configuration cannot be applied; whatever `normalise` throws.
   */
  *apply(write: Write, config: JsonObject, o: ApplyOptions): Work<Applied> {
    checkConfig(write, config);
    const walker = walkerOf(write.type);
    const fields = walker.applied(config);
    yield;
    const writer = entryFor(write, 'Apply', fields);
    const records = this.#recordsBefore(write, walker);
    yield;
    const before = records.find((entry) => isSameWriter(entry, writer));
    const others = records.filter((entry) => entry !== before);
    const last = before === undefined ? NO_FIELDS : walker.lift(before.fieldsV1);
    const { object, views } = yield* this.#nextState(write, others, { config, fields, last, normalise: o.normalise });
    yield;
    if (!o.force) this.#refuseContests(write, contests(write, others, fields, views), walker, o);
    const after: ManagedFieldsEntry[] = [];
    for (const entry of others) {
      yield;
      keep(after, entry, left(entry, views));
    }
    yield;
    keepOwn(after, before, writer);
    return { object: this.#takenOver(write, object, config), managers: settled(write.managers, after) };
  }

  /** An object without records gets one for what it is made of: conflicts need an owner. */
  #recordsBefore(write: Write, walker: ObjectWalker): readonly ManagedFieldsEntry[] {
    if (write.live === undefined || write.managers.length > 0) return write.managers;
    const { changed } = walker.diff(undefined, write.live);
    return isEmpty(changed) ? [] : [entryFor({ ...write, manager: BEFORE_FIRST_APPLY }, 'Update', changed)];
  }

  *#nextState(write: Write, others: readonly ManagedFieldsEntry[], o: Configuration): Work<NextState> {
    const walker = walkerOf(write.type);
    const stateOf = function* (state: unknown): Work<NextState> {
      const object = yield* o.normalise(state);
      yield;
      return { object, views: viewsOf(object, walker.diff(write.live, object)) };
    };
    const viewsOf = (object: ApiObject, changes: Changes): Views => this.#views(write, object, changes);
    const merged = walker.merge(write.live, o.config);
    yield;
    const dropped = difference(o.last, o.fields);
    const pruned = isEmpty(dropped) ? merged : walker.prune(merged, dropped, keptBy(others, o.fields, walker));
    yield;
    const state = yield* stateOf(pruned);
    yield;
    // Paths of another version protect what has the same path here. Where that was not enough, nothing is taken out.
    const isTooMuch = pruned !== merged && others.some((entry) => losesElsewhere(write, entry, state.views));
    return isTooMuch ? yield* stateOf(merged) : state;
  }

  /** @throws {StatusError} Conflict, unless the contested fields were the manager's own before there were records. */
  #refuseContests({ manager, live }: Write, found: readonly Contest[], walker: ObjectWalker, o: ApplyOptions): void {
    if (found.length === 0) return;
    const lastApplied = this.#lastApplied?.isOf(manager) === true ? this.#lastApplied : undefined;
    const own = live && lastApplied?.fieldsOf(walker, live, (it) => done(o.normalise(it)));
    const contested = own === undefined ? found : found.flatMap((it) => reduced(it, own));
    if (contested.length > 0) throw applyConflict(contested);
  }

  #takenOver({ manager }: Write, object: ApiObject, config: JsonObject): ApiObject {
    const lastApplied = this.#lastApplied;
    return lastApplied?.isOf(manager) === true ? lastApplied.refreshed(object, config) : object;
  }

  #views(write: Write, next: ApiObject, changes: Changes): Views {
    const known = new Map<string, View | undefined>([[write.apiVersion, { walker: walkerOf(write.type), changes }]]);
    return (apiVersion) => {
      if (known.has(apiVersion)) return known.get(apiVersion);
      const states = write.inVersion(apiVersion, next);
      const walker = states === undefined ? undefined : walkerOf(states.type);
      const view = walker && { walker, changes: walker.diff(states?.live, states?.next) };
      known.set(apiVersion, view);
      return view;
    };
  }
}

interface View {
  readonly walker: ObjectWalker;
  readonly changes: Changes;
}
/** The changes of a write as one version sees them; undefined for an unknown version. */
type Views = (apiVersion: string) => View | undefined;

interface NextState {
  readonly object: ApiObject;
  readonly views: Views;
}

interface Configuration {
  readonly config: JsonObject;
  /** Fields of the configuration. */
  readonly fields: FieldsTree;
  /** Fields of the applier's last configuration. */
  readonly last: FieldsTree;
  readonly normalise: (object: unknown) => Work<ApiObject>;
}

function checkConfig({ apiVersion }: Write, config: JsonObject): void {
  const version = getOwn(config, 'apiVersion');
  if (typeof version === 'string' && version !== apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${version}, expected: ${apiVersion}`,
    );
  }
  const metadata = getOwn(config, 'metadata');
  const records = isJsonObject(metadata) ? getOwn(metadata, 'managedFields') : undefined;
  if (records !== undefined && records !== null) throw badRequest('metadata.managedFields must be nil');
}

const entryFor = (
  { manager, apiVersion, time, subresource }: Write,
  operation: 'Apply' | 'Update',
  fields: FieldsTree,
): ManagedFieldsEntry =>
  entryOf({ manager: manager === '' ? UNKNOWN_MANAGER : manager, operation, apiVersion, time, fields, subresource });

/** An entry after a write by another manager; undefined when its version is not known any more. */
function left(entry: ManagedFieldsEntry, views: Views): FieldsTree | undefined {
  const view = views(entry.apiVersion);
  return view && leftOf(view.walker.lift(entry.fieldsV1), view.changes);
}

/** Adds what is left of an entry: none without fields, and its time stays. */
function keep(after: ManagedFieldsEntry[], entry: ManagedFieldsEntry, fields: FieldsTree | undefined): void {
  if (fields === undefined || isEmpty(fields)) return;
  after.push(fields === entry.fieldsV1 ? entry : { ...entry, fieldsV1: fields });
}

/** Adds the writer's entry: with the time of this write if its set or version is another than before. */
function keepOwn(after: ManagedFieldsEntry[], before: ManagedFieldsEntry | undefined, now: ManagedFieldsEntry): void {
  if (isEmpty(now.fieldsV1)) return;
  const isSame = before?.apiVersion === now.apiVersion && equal(before.fieldsV1, now.fieldsV1);
  after.push(isSame ? before : now);
}

/** The list that was given, if it has the same entries. */
function settled(
  given: readonly ManagedFieldsEntry[],
  after: readonly ManagedFieldsEntry[],
): readonly ManagedFieldsEntry[] {
  const known = new Set(given);
  const isSame = after.length === given.length && after.every((entry) => known.has(entry));
  return isSame ? given : [...after].sort(byPlace);
}

/** The owned fields of all managers once the configuration is applied. */
const keptBy = (
  others: readonly ManagedFieldsEntry[],
  fields: FieldsTree,
  walker: ObjectWalker,
): readonly FieldsTree[] => [ALWAYS_KEPT, fields, ...others.map((entry) => walker.lift(entry.fieldsV1))];

function losesElsewhere(write: Write, entry: ManagedFieldsEntry, views: Views): boolean {
  if (entry.apiVersion === write.apiVersion) return false;
  const view = views(entry.apiVersion);
  return view !== undefined && !isEmpty(intersection(view.walker.lift(entry.fieldsV1), view.changes.removed));
}

/** The fields of others that would change because the configuration sets them. */
function contests(
  write: Write,
  others: readonly ManagedFieldsEntry[],
  fields: FieldsTree,
  views: Views,
): readonly Contest[] {
  return others.flatMap((owner) => {
    const view = views(owner.apiVersion);
    if (view === undefined) return [];
    const { changed, removed } = view.changes;
    // What the configuration sets is known in its own version only; there, a null or a zero that removes counts too.
    const isHere = owner.apiVersion === write.apiVersion;
    const touched = isHere ? intersection(union(changed, removed), fields) : changed;
    return reduced({ owner, fields: intersection(view.walker.lift(owner.fieldsV1), touched) }, NO_FIELDS);
  });
}

/** A contest without some of its fields; none when that are all. */
function reduced({ owner, fields }: Contest, allowed: FieldsTree): readonly Contest[] {
  const contested = difference(fields, allowed);
  return isEmpty(contested) ? [] : [{ owner, fields: contested }];
}
