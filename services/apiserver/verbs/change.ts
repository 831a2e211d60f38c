import type { ApiObject } from '../../machinery/meta/object.js';
import type { ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import type { AdmissionRequest } from '../admission/types.js';
import type { CachedObject } from '../cache/cached-object.js';
import { negotiateView } from '../views/views.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import { Choices } from '../registry/claims-choices.js';
import { deletionIsDue } from '../registry/deletion.js';
import { record, type FieldManager } from '../registry/field-ownership.js';
import { partOf, type Part } from '../registry/parts.js';
import { matchPlace, prepareForUpdate, validateForUpdate } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import type { WriteDecision } from '../registry/writer.js';
import { answerObject, answerState } from './answers.js';
import type { VerbDeps } from './types.js';

/** What a request wants an object to be, in the served version. */
export interface Wanted {
  readonly object: ApiObject;
  /** Who will own what, where the request has worked that out itself: an apply does. */
  readonly managers?: readonly ManagedFieldsEntry[];
}

/** A change of one object or of one of its parts. */
export interface Change {
  readonly by: FieldManager;
  readonly dryRun: boolean;
  /** What to make of the present state. Called again after a lost race; may throw to refuse. */
  readonly next: (present: PresentState) => Wanted;
}

/** The state that a change starts from. Each call gives a copy that the caller may change. */
export interface PresentState {
  readonly stored: () => ApiObject;
  readonly served: () => ApiObject;
}

/** The end of a change. */
export interface Changed {
  readonly object: CachedObject;
  /** In the storage version: what would be there after a dry run, or the last state of what this write removed. */
  readonly state: ApiObject | undefined;
}

/** Changes an object and answers it. */
export async function changeObject(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  change: Change,
): Promise<void> {
  negotiateView(ctx, served, 'object'); // refuse before anything is done
  const { object, state } = await changeStored(deps, ctx, request, served, change);
  // Nothing was stored in a dry run, or when the last finalizer of a deleted object went: clients expect an object.
  await (state === undefined ? answerObject(ctx, served, object) : answerState(ctx, served, state));
}

/**
 * Changes an object: everything that every write of an existing object has in common.
 *
 * @throws {StatusError} NotFound; Conflict; Invalid; what `change.next` and admission throw
 */
export async function changeStored(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  change: Change,
): Promise<Changed> {
  const part = partOf(request.subresource) ?? '';
  const choices = new Choices(served.stored);
  let wouldBe: ApiObject | undefined;
  const decide = async (current: CachedObject): Promise<WriteDecision> => {
    const old = current.parse() as ApiObject; // we encoded it
    const wanted = change.next({
      stored: () => current.parse() as ApiObject,
      served: () => served.fromStorage(current.parse() as ApiObject),
    });
    const next = await nextState(deps, ctx, request, served, { part, old, wanted, change, choices });
    wouldBe = next;
    return decided(served, next, change.dryRun);
  };
  const { object, removed } = await choices.settle(async () => {
    const written = await deps.writer.change(served.stored, request.namespace, request.name, decide);
    if (change.dryRun && wouldBe !== undefined) await deps.writer.rehearse(served.stored, wouldBe, written.object);
    return written;
  });
  if (wouldBe === undefined || !(change.dryRun || removed)) return { object, state: undefined };
  wouldBe.metadata.resourceVersion = String(object.revision);
  return { object, state: wouldBe };
}

/** From what is wanted to what will be stored: prepared, admitted, validated, with its owners, and with nothing open. */
async function nextState(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { part, old, wanted, change, choices }: NextStateOptions,
): Promise<ApiObject> {
  const { object, managers } = wanted;
  matchPlace(object, request);
  const sent = object.metadata.managedFields;
  const next = prepareForUpdate(served, part, served.toStorage(object), old);
  const review: AdmissionRequest = {
    operation: 'UPDATE',
    resource: served.declaration,
    subresource: request.subresource,
    namespace: request.namespace,
    name: request.name,
    object: next,
    oldObject: old,
    user: ctx.state.user,
    dryRun: change.dryRun,
  };
  await deps.admission.mutate(review);
  validateForUpdate(served, part, next, old);
  if (managers === undefined) deps.ownership.changed(served, next, old, sent, change.by);
  else record(next, managers);
  const whole = part === '' ? await choices.fill(next, old) : next;
  await deps.admission.validate({ ...review, object: whole });
  return whole;
}

interface NextStateOptions {
  readonly part: Part;
  readonly old: ApiObject;
  readonly wanted: Wanted;
  readonly change: Change;
  readonly choices: Choices;
}

function decided({ stored }: ServedResource, next: ApiObject, dryRun: boolean): WriteDecision {
  if (dryRun) return { do: 'nothing' };
  return deletionIsDue(stored.strategy, next) ? { do: 'delete' } : { do: 'put', object: next };
}
