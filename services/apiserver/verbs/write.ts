import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import { decodeManagedFields, type ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import { admissionRequest } from '../admission/request.js';
import type { AdmissionRequest } from '../admission/plugin.js';
import type { CachedObject } from '../cache/cached-object.js';
import { addWarnings } from '../http/warnings.js';
import { turns, weigh, worked } from '../http/turns.js';
import type { Context, ResourceRequest } from '../request/request.js';
import { WriteAllocator } from '../registry/allocation/allocations.js';
import { deletionIsDue } from '../registry/deletion.js';
import { withOtherVersions } from '../registry/conversion/other-versions.js';
import { record, type FieldManager } from '../registry/field-ownership.js';
import { partOf, type Part } from '../registry/parts.js';
import {
  matchPlace,
  prepareForCreate,
  prepareForUpdate,
  stateSent,
  validateForCreate,
  validateForUpdate,
} from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import type { Decide, Written } from '../registry/writer.js';
import { inVersion } from '../views/converted.js';
import type { VerbDeps } from './types.js';

/*
 * The recipe of every write of an object: CREATE and UPDATE below, from left to right, between what is wanted of the
 * present state and the transaction. It is gone through again when another write was quicker. Creates, updates,
 * patches, applies and the sub-resources that change an object differ in what they want of the present state.
 */

/** One write of one object. */
export interface Write {
  /** Where. */
  readonly request: ResourceRequest;
  readonly served: ServedResource;
  readonly by: FieldManager;
  readonly dryRun: boolean;
  /** Nothing is expected to be there: the store's transaction finds out. */
  readonly isNew?: boolean;
  /** The client sends the whole object, not what is to be changed of it. */
  readonly whole?: boolean;
  /** How admission sees the object. Default: as it will be stored. */
  readonly shownAs?: AdmissionView | 'nothing';
  /**
   * Makes the wanted state of the present one, undefined when there is none. Called again after a lost race; may throw
   * to refuse. The object that it returns is changed.
   */
  readonly wanted: (present: PresentState | undefined) => Wanted | Promise<Wanted>;
}

/** The state that a request wants, in the served version. */
export interface Wanted {
  readonly object: ApiObject;
  /** The owners of its fields, where the request has worked them out itself: an apply does. */
  readonly managers?: readonly ManagedFieldsEntry[];
}

/** The state that a write starts from. Each call gives a copy that the caller may change. */
export interface PresentState {
  readonly stored: () => ApiObject;
  readonly served: () => ApiObject;
}

/** A sub-resource with a kind of its own, as admission sees it. */
export interface AdmissionView {
  /** The view of a state in the storage version. */
  readonly of: (object: ApiObject) => ApiObject;
  /** That state with what admission has made of the view. */
  readonly into: (object: ApiObject, view: ApiObject) => ApiObject;
}

const WHOLE: AdmissionView = { of: (object) => object, into: (_, view) => view };

/**
 * Writes an object.
 *
 * @throws {StatusError} NotFound; AlreadyExists; Conflict; Invalid; what `wanted` and admission throw
 */
export async function write(d: VerbDeps, ctx: Context, w: Write): Promise<Written> {
  const { served, dryRun, isNew = false, request } = w;
  const { stored } = served;
  const { namespace, name } = request;
  const { allocator: chooser } = stored.strategy;
  const allocator = chooser === undefined ? undefined : new WriteAllocator(chooser);
  const decide: Decide = async (current, leaveTurn) => {
    const state = await nextState({ d, ctx, w, allocator, leaveTurn }, current);
    const isOver = current !== undefined && deletionIsDue(stored.strategy, state);
    const object = isOver || served.conversion === undefined ? state : await toStored(served, state, ctx);
    const next = isOver ? undefined : object;
    const companions = await d.admission.charge({ stored, namespace, name, current, next });
    return isOver ? { do: 'delete', object, companions } : { do: 'put', object, allocator, companions };
  };
  const written = await d.writer.write({ stored, namespace, name, isNew, dryRun }, decide);
  const { object, state } = written;
  if (object !== undefined && state !== undefined) state.metadata.resourceVersion = String(object.revision);
  return written;
}

/** In the version that is stored, where another server brings it there. @throws {StatusError} InternalError */
function toStored(served: ServedResource, object: ApiObject, { state }: Context): Promise<ApiObject> | ApiObject {
  const { conversion } = served.inVersion(apiVersionOf(served.stored.hub)) ?? served;
  return conversion === undefined ? object : conversion.state(object, state.signal);
}

/** A write that may create what it was to change needs the right to create. @throws {StatusError} Forbidden */
export const createInstead = ({ authorize }: VerbDeps, { state }: Context, request: ResourceRequest): Promise<void> =>
  authorize(state.user, { ...request, verb: 'create' }, state);

/** The part of a write that all its attempts share. */
interface Writing {
  readonly leaveTurn: () => void;
  readonly d: VerbDeps;
  readonly ctx: Context;
  readonly w: Write;
  /** undefined: the server chooses nothing for objects of the kind. */
  readonly allocator: WriteAllocator | undefined;
}

/**
 * One attempt. `old` is the present state in the storage version, undefined for a new object. Where versions have a
 * `conversion`, it is in that of the request, as is everything else up to the end.
 */
interface Attempt<Old extends ApiObject | undefined> extends Writing {
  readonly old: Old;
  readonly part: Part;
  /** The managedFields that the client has sent along, as they came. */
  sentManagers: unknown;
  /** The owners of fields, where they are known before the object is complete. */
  managers: readonly ManagedFieldsEntry[] | undefined;
}

type AnyAttempt = Attempt<ApiObject | undefined>;

/** Makes of an object what the next step goes on from: the same one, changed, or another. */
type Step<Old extends ApiObject | undefined> = (a: Attempt<Old>, object: ApiObject) => ApiObject | Promise<ApiObject>;

const CREATE: readonly Step<undefined>[] = [
  place,
  convert,
  ownNew,
  mutate,
  prepareNew,
  validateNew,
  recordOwners,
  allocate,
  admit,
];
const UPDATE: readonly Step<ApiObject>[] = [
  place,
  convert,
  ownChanged,
  mutate,
  prepareNext,
  validateNext,
  recordOwners,
  allocate,
  admit,
];

/** From the present state to the one that will be stored. */
async function nextState(writing: Writing, present: CachedObject | undefined): Promise<ApiObject> {
  const { w, ctx } = writing;
  weigh(ctx.state, present?.bytes.length ?? 0);
  const current = present === undefined || w.served.conversion === undefined ? present : await inOwnVersion(writing, present); // prettier-ignore
  if (ctx.state.heavy === true) await turns.alone();
  const old = current?.parse() as ApiObject | undefined; // we encoded it
  if (ctx.state.heavy === true) await turns.alone();
  const { object, managers } = await w.wanted(current === undefined ? undefined : presentState(w.served, current));
  const part = partOf(w.request.subresource) ?? '';
  const attempt = { ...writing, part, managers, sentManagers: undefined };
  return old === undefined ? run(CREATE, { ...attempt, old }, object) : run(UPDATE, { ...attempt, old }, object);
}

/** Everything that a write goes through is in the version that it is made in. For that another server is asked, or will be. */
function inOwnVersion({ w: { served }, ctx, leaveTurn }: Writing, present: CachedObject): Promise<CachedObject> {
  const isStored = served.apiVersion === apiVersionOf(served.stored.hub);
  if (!isStored || served.conversion?.has(present) === false) leaveTurn();
  return inVersion(served, present, ctx.state);
}

/** Each step on a large object has a turn of the event loop. */
async function run<Old extends ApiObject | undefined>(
  steps: readonly Step<Old>[],
  attempt: Attempt<Old>,
  wanted: ApiObject,
): Promise<ApiObject> {
  const { state } = attempt.ctx;
  let object = wanted;
  for (const step of steps) {
    if (state.heavy === true) await turns.alone();
    const next = step(attempt, object);
    object = next instanceof Promise ? await next : next;
  }
  return object;
}

const presentState = (served: ServedResource, current: CachedObject): PresentState => ({
  stored: () => current.parse() as ApiObject, // we encoded it
  served: () => served.fromStorage(current.parse() as ApiObject),
});

function place(a: AnyAttempt, object: ApiObject): ApiObject {
  matchPlace(object, a.w.request);
  // Owners cannot be written through a part of an object.
  if (a.part === '') a.sentManagers = object.metadata.managedFields;
  return object;
}

function convert({ w }: AnyAttempt, object: ApiObject): ApiObject {
  return stateSent(w.served, object);
}

/** Before the server fills in its own fields, which have no owner. */
async function ownNew(a: Attempt<undefined>, object: ApiObject): Promise<ApiObject> {
  a.managers ??= await worked(a.ctx.state, a.d.ownership.created(a.w.served, object, a.w.by));
  return object;
}

function prepareNew({ ctx, w }: Attempt<undefined>, object: ApiObject): ApiObject {
  if (w.dryRun) delete object.metadata.resourceVersion; // clients rehearse with what they have read
  prepareForCreate(w.served.stored, object, ctx.state.user, w.served.apiVersion);
  return object;
}

function prepareNext({ w, part, old }: Attempt<ApiObject>, object: ApiObject): ApiObject {
  return prepareForUpdate(w.served, part, object, old);
}

async function mutate(a: AnyAttempt, object: ApiObject): Promise<ApiObject> {
  if (a.w.shownAs === 'nothing') return object;
  const view = a.w.shownAs ?? WHOLE;
  showOwners(a, object);
  const { managedFields } = object.metadata;
  const shown = view.of(object);
  await a.d.admission.mutate(review(a, view, shown));
  const next = view.into(object, shown);
  if (next.metadata.managedFields !== managedFields) takeOwners(a, next);
  return next;
}

function showOwners({ managers, old }: AnyAttempt, { metadata }: ApiObject): void {
  const owners = managers === undefined ? old?.metadata.managedFields : [...managers];
  if (owners !== undefined) metadata.managedFields = owners;
  else if (metadata.managedFields !== undefined) delete metadata.managedFields;
}

/** Admission may change who owns what. What it changes of the object itself belongs to nobody. */
function takeOwners(a: AnyAttempt, { metadata }: ApiObject): void {
  const owners = decodeManagedFields(metadata.managedFields ?? []);
  if (owners === undefined) addWarnings(a.ctx, [UNREADABLE_OWNERS]);
  else a.managers = owners;
}

const UNREADABLE_OWNERS =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests';

async function validateNew({ ctx, w }: Attempt<undefined>, object: ApiObject): Promise<ApiObject> {
  await validateForCreate(w.served, object);
  addWarnings(ctx, w.served.stored.strategy.warnings?.(object, undefined) ?? []);
  return object;
}

async function validateNext({ ctx, w, part, old }: Attempt<ApiObject>, object: ApiObject): Promise<ApiObject> {
  await validateForUpdate(w.served, part, object, old);
  addWarnings(ctx, w.served.stored.strategy.warnings?.(object, old) ?? []);
  return object;
}

function recordOwners({ managers, old }: AnyAttempt, object: ApiObject): ApiObject {
  if (managers !== undefined || old === undefined) record(object, managers ?? []);
  return object;
}

/** Of what the client sent: what admission and the server make of it belongs to nobody. */
async function ownChanged(a: Attempt<ApiObject>, object: ApiObject): Promise<ApiObject> {
  const { d, ctx, w, part, old, sentManagers } = a;
  const sent = { managers: sentManagers, whole: w.whole === true, part };
  a.managers ??= await withOtherVersions(w.served, ctx.state, (others) =>
    worked(ctx.state, d.ownership.changed(w.served, object, old, { ...sent, others }, w.by)),
  );
  return object;
}

/** Fills in addresses and ports: late, so that nothing is chosen for an object that is refused. */
function allocate({ allocator, part, old }: AnyAttempt, object: ApiObject): ApiObject | Promise<ApiObject> {
  return part === '' && allocator !== undefined ? allocator.allocate(object, old) : object;
}

async function admit(a: AnyAttempt, object: ApiObject): Promise<ApiObject> {
  if (a.w.shownAs === 'nothing') return object;
  const view = a.w.shownAs ?? WHOLE;
  await a.d.admission.validate(review(a, view, view.of(object)));
  return object;
}

function review({ ctx, w, old, leaveTurn }: AnyAttempt, view: AdmissionView, object: ApiObject): AdmissionRequest {
  const { request, served, dryRun } = w;
  const { name = request.name } = object.metadata;
  return admissionRequest(
    ctx,
    { ...request, name, declaration: served.declaration },
    old === undefined
      ? { operation: 'CREATE', object, oldObject: undefined, dryRun, leaveTurn }
      : { operation: 'UPDATE', object, oldObject: view.of(old), dryRun, leaveTurn },
  );
}
