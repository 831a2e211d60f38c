import { generateName } from '../../machinery/meta/random.js';
import { hasReason, StatusError } from '../../machinery/meta/status.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import type { ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import type { AdmissionRequest } from '../admission/types.js';
import type { CachedObject } from '../cache/cached-object.js';
import { negotiateView } from '../views/views.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import { Choices } from '../registry/claims-choices.js';
import { record, type FieldManager } from '../registry/field-ownership.js';
import { matchPlace, prepareForCreate, validateForCreate } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { answerObject, answerState } from './answers.js';
import { fieldManager } from './field-manager.js';
import { dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

/** How often a made name is made again when somebody has it. */
const NAME_ATTEMPTS = 8;

export const create =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    negotiateView(ctx, served, 'object'); // refuse before anything is read
    const dryRun = dryRunParameter(ctx.state.query);
    const by = fieldManager(deps, ctx, request, 'CreateOptions');
    const body = await deps.bodies.object(ctx, served);
    await createObject(deps, ctx, request, served, { body, by, dryRun });
  };

/** A new object. */
export interface Creation {
  /** In the served version. */
  readonly body: ApiObject;
  readonly by: FieldManager;
  readonly dryRun: boolean;
  /** Who will own what, where the request has worked that out itself: an apply does. */
  readonly managers?: readonly ManagedFieldsEntry[];
}

/** Creates what `body` says and answers it. @throws {StatusError} AlreadyExists */
export async function createObject(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  creation: Creation,
): Promise<void> {
  const { body, dryRun } = creation;
  matchPlace(body, request);
  const nameIsMade = (body.metadata.name ?? '') === '' && (body.metadata.generateName ?? '') !== '';
  if (nameIsMade) body.metadata.name = generateName(body.metadata.generateName ?? '');
  const { review, object } = await prepared(deps, ctx, request, served, creation);
  const choices = new Choices(served.stored);
  const filled = async (): Promise<ApiObject> => {
    const whole = await choices.fill(object, undefined);
    await deps.admission.validate({ ...review, object: whole });
    return whole;
  };
  if (dryRun) {
    const state = await choices.settle(async () => rehearsed(deps, served, await filled()));
    if (nameIsMade) ctx.state.audit?.named(state.metadata.name ?? '');
    await answerState(ctx, served, state, 201);
    return;
  }
  const stored = await choices.settle(async () => store(deps, served, await filled(), nameIsMade));
  if (nameIsMade) ctx.state.audit?.named(stored.name);
  await answerObject(ctx, served, stored, 201);
}

/** Everything up to the server's own choices: prepare, mutate, validate, note who owns it. */
async function prepared(
  { admission, ownership }: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { body, by, dryRun, managers }: Creation,
): Promise<{ readonly review: AdmissionRequest; readonly object: ApiObject }> {
  const { stored } = served;
  const object = served.toStorage(body);
  prepareForCreate(stored, object);
  const review: AdmissionRequest = {
    operation: 'CREATE',
    resource: served.declaration,
    subresource: '',
    namespace: request.namespace,
    name: object.metadata.name ?? '',
    object,
    oldObject: undefined,
    user: ctx.state.user,
    dryRun,
  };
  await admission.mutate(review);
  validateForCreate(served, object);
  if (managers === undefined) ownership.created(served, object, by);
  else record(object, managers);
  return { review, object };
}

/** What would be stored, if it could be. */
async function rehearsed({ writer }: VerbDeps, { stored }: ServedResource, object: ApiObject): Promise<ApiObject> {
  await writer.rehearse(stored, object, undefined);
  return object;
}

async function store(
  { writer }: VerbDeps,
  served: ServedResource,
  object: ApiObject,
  nameIsMade: boolean,
): Promise<CachedObject> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writer.create(served.stored, object);
    } catch (err) {
      if (!nameIsMade || !hasReason(err, 'AlreadyExists')) throw err;
      if (attempt === NAME_ATTEMPTS) throw noFreeName(err);
      object.metadata.name = generateName(object.metadata.generateName ?? '');
    }
  }
}

const noFreeName = (cause: unknown): StatusError =>
  new StatusError('AlreadyExists', 'The server was not able to generate a unique name for the object', {
    cause,
    details: { retryAfterSeconds: 1 },
  });
