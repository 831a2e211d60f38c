import type { ApiObject } from '../../machinery/meta/object.js';
import { badRequest } from '../../machinery/meta/status.js';
import type { AdmissionRequest } from '../admission/types.js';
import type { CachedObject } from '../cache/cached-object.js';
import { negotiate } from '../http/negotiation.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import { deletionIsDue } from '../registry/deletion.js';
import { matchPlace, prepareForUpdate, validateForUpdate, type Part } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import type { WriteDecision } from '../registry/writer.js';
import { answerObject, answerState } from './answers.js';
import type { VerbDeps } from './types.js';

/** The object that a request wants, given the present one in the served version. Called again after a lost race. */
export type NextState = (present: () => ApiObject) => ApiObject;

/** A PUT or PATCH of an object or of one of its parts: everything that both have in common. */
export async function changeObject(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  nextState: NextState,
  dryRun: boolean,
): Promise<void> {
  const part = partOf(request);
  negotiate(ctx.get('Accept')); // refuse before anything is done
  let wouldBe: ApiObject | undefined;
  const decide = async (current: CachedObject): Promise<WriteDecision> => {
    const old = current.parse() as ApiObject; // we encoded it
    const wanted = nextState(() => served.fromStorage(current.parse() as ApiObject));
    matchPlace(wanted, request);
    const next = prepareForUpdate(served, part, served.toStorage(wanted), old);
    await admit(deps, ctx, request, served, part, next, old, dryRun);
    wouldBe = next;
    return decided(served, next, dryRun);
  };
  const { object, removed } = await deps.writer.change(served.stored, request.namespace, request.name, decide);
  if (wouldBe === undefined || !(dryRun || removed)) {
    await answerObject(ctx, served, object);
    return;
  }
  // Nothing was stored: in a dry run, and when the last finalizer of a deleted object went. Clients expect an object.
  wouldBe.metadata.resourceVersion = String(object.revision);
  await answerState(ctx, served, wouldBe);
}

function decided({ stored }: ServedResource, next: ApiObject, dryRun: boolean): WriteDecision {
  if (dryRun) return { do: 'nothing' };
  return deletionIsDue(stored.strategy, next) ? { do: 'delete' } : { do: 'put', object: next };
}

const PARTS: ReadonlySet<string> = new Set<Part>(['', 'status', 'finalize']);

function partOf({ resource, subresource }: ResourceRequest): Part {
  if (PARTS.has(subresource)) return subresource as Part;
  throw badRequest(`${resource}/${subresource} cannot be written this way`);
}

async function admit(
  { admission }: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  part: Part,
  object: ApiObject,
  oldObject: ApiObject,
  dryRun: boolean,
): Promise<void> {
  const review: AdmissionRequest = {
    operation: 'UPDATE',
    resource: served.declaration,
    subresource: request.subresource,
    namespace: request.namespace,
    name: request.name,
    object,
    oldObject,
    user: ctx.state.user,
    dryRun,
  };
  await admission.mutate(review);
  validateForUpdate(served.stored, part, object, oldObject);
  await admission.validate(review);
}
