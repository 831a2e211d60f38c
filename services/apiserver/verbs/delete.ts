import { decodeObject } from '../../machinery/schema/decode.js';
import { META_TYPES } from '../../machinery/types/meta-types.js';
import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import { badRequest, forbidden, notFound } from '../../machinery/meta/status.js';
import { admissionRequest, admit } from '../admission/request.js';
import type { CachedObject } from '../cache/cached-object.js';
import { addWarnings } from '../http/warnings.js';
import { booleanParameter, integerParameter } from '../http/query.js';
import type { Context, ResourceRequest } from '../request/request.js';
import { deleteOptions, type DeleteOptions } from '../registry/delete-options.js';
import { checkPreconditions, nextDeletionStep } from '../registry/deletion.js';
import type { Strategy } from '../registry/strategy.js';
import type { ServedResource } from '../registry/resources.js';
import type { Decide, Written } from '../registry/writer.js';
import { inVersion } from '../views/converted.js';
import { answerSuccess, answerWritten } from './answers.js';
import { dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

const OPTIONS_TYPE = 'meta/v1.DeleteOptions';

export const deleteOne =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const { strategy, hub } = served.stored;
    const why = strategy.keeps?.(request.name);
    if (why !== undefined) throw forbidden(hub, request.name, why);
    const options = await readDeleteOptions(ctx, deps);
    const written = await removeObject(deps, ctx, request, served, request, options);
    const { object, removed } = written;
    if (!removed || strategy.returnsDeleted) return answerWritten(ctx, served, written);
    const { metadata } = object.parse() as ApiObject; // we encoded it
    return answerSuccess(ctx, served, { name: object.name, uid: metadata.uid });
  };

/** An object that goes. */
interface Removed {
  readonly namespace: string;
  readonly name: string;
  /** Admission has been asked about what the deletion follows from. */
  readonly isAdmitted?: boolean;
}

/** Deletes or marks one object; `options` may name preconditions. Used for each object of a collection, too. */
export async function removeObject(
  { writer, admission }: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { namespace, name, isAdmitted = false }: Removed,
  options: DeleteOptions,
): Promise<Written & { readonly object: CachedObject }> {
  const { stored, declaration } = served;
  const { dryRun, given } = options;
  const decide: Decide = async (current, leaveTurn) => {
    if (current === undefined) throw notFound(stored.hub, name);
    const old = current.parse() as ApiObject; // we encoded it
    checkPreconditions(declaration, old, options);
    const target = { ...request, declaration, namespace, name };
    const isShown = isAdmitted || served.conversion === undefined;
    const oldObject = isShown ? old : await shownToAdmission(served, current, ctx, leaveTurn);
    const asked = { operation: 'DELETE', oldObject, dryRun, options: given, leaveTurn } as const;
    if (!isAdmitted) await admit(admission, admissionRequest(ctx, target, asked));
    warnOfSilence(ctx, stored.strategy, options);
    const step = nextDeletionStep(stored.strategy, old, options, { nowMs: Date.now(), version: declaration.version });
    if (step.do === 'nothing') return { do: 'nothing' };
    const next = step.do === 'mark' ? step.object : undefined;
    const companions = await admission.charge({ stored, namespace, name, current, next });
    return next === undefined ? { do: 'delete', companions } : { do: 'put', object: next, companions };
  };
  const written = await writer.write({ stored, namespace, name, dryRun }, decide);
  const { object, state } = written;
  if (object === undefined) throw notFound(stored.hub, name);
  if (state !== undefined) state.metadata.resourceVersion = String(object.revision);
  return { ...written, object };
}

/** In the version of the request. What is stored stays in its own: a deletion changes nothing that has to be converted. */
async function shownToAdmission(
  served: ServedResource,
  current: CachedObject,
  { state }: Context,
  leaveTurn: () => void,
): Promise<ApiObject> {
  if (served.conversion?.has(current) === false) leaveTurn();
  const object = await inVersion(served, current, state);
  return object.parse() as ApiObject; // it has been decoded
}

function warnOfSilence(
  ctx: Context,
  { silentDeletionWarning }: Strategy,
  { propagationPolicy, orphanDependents }: DeleteOptions,
): void {
  const isSilent = propagationPolicy === undefined && orphanDependents === undefined;
  if (isSilent && silentDeletionWarning !== undefined) addWarnings(ctx, [silentDeletionWarning]);
}

/** From the body when there is one, else from the query. @throws {StatusError} */
export async function readDeleteOptions(ctx: Context, { bodies }: VerbDeps): Promise<DeleteOptions> {
  const dryRun = dryRunParameter(ctx.state.query);
  const type = META_TYPES.of(OPTIONS_TYPE);
  const literals = new Map<string, string>();
  const parsed = await bodies.parsed(ctx, type, { duplicates: undefined, literals });
  if (parsed === undefined) return deleteOptions(fromQuery(ctx.state.query), dryRun);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw badRequest('The body of a delete request must be a DeleteOptions object');
  }
  const kind = (parsed as JsonObject)['kind'] ?? 'DeleteOptions';
  if (kind !== 'DeleteOptions')
    throw badRequest(`expected a DeleteOptions object in the body, got ${JSON.stringify(kind)}`);
  const { value } = decodeObject(type, parsed, { literals });
  return deleteOptions(value as JsonObject, dryRun);
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = integerParameter(query, 'gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null || policy === '' ? {} : { propagationPolicy: policy }),
    ...(query.has('orphanDependents') ? { orphanDependents: booleanParameter(query, 'orphanDependents') } : {}),
  };
}
