import { decodeObject } from '../../machinery/schema/decode.js';
import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import { badRequest } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import { negotiateView } from '../views/views.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import { deleteOptions, type DeleteOptions } from '../registry/delete-options.js';
import { checkPreconditions, nextDeletionStep } from '../registry/deletion.js';
import type { ServedResource } from '../registry/resources.js';
import type { WriteDecision, Written } from '../registry/writer.js';
import { answerObject, answerSuccess } from './answers.js';
import { booleanParameter, dryRunParameter, integerParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

const OPTIONS_TYPE = 'meta/v1.DeleteOptions';

export const deleteOne =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    negotiateView(ctx, served, 'object'); // refuse before anything is done
    const options = await readDeleteOptions(ctx, deps);
    const written = await removeObject(deps, ctx, request, served, request, options);
    if (!written.removed || served.stored.strategy.returnsDeleted) return answerObject(ctx, served, written.object);
    const { metadata } = written.object.parse() as ApiObject; // we encoded it
    return answerSuccess(ctx, served, { name: written.object.name, uid: metadata.uid });
  };

/** Deletes or marks one object; `options` may name preconditions. Used for each object of a collection, too. */
export async function removeObject(
  { writer, admission }: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  options: DeleteOptions,
): Promise<Written> {
  const { stored } = served;
  let wouldRemove = false;
  const decide = async (current: CachedObject): Promise<WriteDecision> => {
    const old = current.parse() as ApiObject; // we encoded it
    checkPreconditions(served.declaration, old, options);
    const { user } = ctx.state;
    const resource = served.declaration;
    await admission.validate({
      operation: 'DELETE',
      resource,
      subresource: request.subresource,
      namespace,
      name,
      object: undefined,
      oldObject: old,
      user,
      dryRun: options.dryRun,
    });
    const step = nextDeletionStep(stored.strategy, old, options, Date.now());
    wouldRemove = step.do === 'remove';
    if (options.dryRun || step.do === 'nothing') return { do: 'nothing' };
    return step.do === 'remove' ? { do: 'delete' } : { do: 'put', object: step.object };
  };
  const written = await writer.change(stored, namespace, name, decide);
  return options.dryRun ? { ...written, removed: wouldRemove } : written;
}

/** From the body when there is one, else from the query. @throws {StatusError} */
export async function readDeleteOptions(ctx: Context, { bodies, catalog }: VerbDeps): Promise<DeleteOptions> {
  const dryRun = dryRunParameter(ctx.state.query);
  const parsed = await bodies.parsed(ctx, OPTIONS_TYPE);
  if (parsed === undefined) return deleteOptions(fromQuery(ctx.state.query), dryRun);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw badRequest('The body of a delete request must be a DeleteOptions object');
  }
  const kind = (parsed as JsonObject)['kind'] ?? 'DeleteOptions';
  if (kind !== 'DeleteOptions')
    throw badRequest(`expected a DeleteOptions object in the body, got ${JSON.stringify(kind)}`);
  const { value } = decodeObject(catalog.types, OPTIONS_TYPE, parsed);
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
