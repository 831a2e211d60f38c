import { isJsonObject } from '../../machinery/codec/own.js';
import { parseYaml } from '../../machinery/codec/yaml.js';
import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import { badRequest, hasReason, notFound } from '../../machinery/meta/status.js';
import { readBody } from '../http/body.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import type { FieldManager } from '../registry/field-ownership.js';
import { hasStatus } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { changeObject } from './change.js';
import { createObject } from './create.js';
import { applyManager } from './field-manager.js';
import { FieldValidation } from './field-validation.js';
import { booleanParameter, dryRunParameter } from './parameters.js';
import type { VerbDeps } from './types.js';

/** How often an apply tries both to change and to create, when others delete and create the object at the same time. */
const MAX_ATTEMPTS = 4;

/** What an apply asks for, read once for all attempts. */
interface Application {
  readonly by: FieldManager;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** What the applier has an opinion about, and may write here. */
  readonly config: JsonObject;
}

/** Server-side apply (spec 1, 3.2): a partial object, merged into what is there by who owns what. Creates what is not. */
export async function apply(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
): Promise<void> {
  const { query } = ctx.state;
  const dryRun = dryRunParameter(query);
  const by = applyManager(deps, ctx, request);
  const force = booleanParameter(query, 'force');
  const config = await readConfig(deps, ctx, request, served);
  const application: Application = { by, force, dryRun, config };
  for (let attempt = 1; ; attempt++) {
    try {
      await change(deps, ctx, request, served, application);
      return;
    } catch (err) {
      if (!hasReason(err, 'NotFound') || request.subresource !== '') throw err;
    }
    await deps.authorize(ctx.state.user, { ...request, verb: 'create' });
    try {
      await createApplied(deps, ctx, request, served, application);
      return;
    } catch (err) {
      if (attempt === MAX_ATTEMPTS || !hasReason(err, 'AlreadyExists')) throw err;
    }
  }
}

function change(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { by, force, dryRun, config }: Application,
): Promise<void> {
  const normalise = (object: unknown): ApiObject => served.decode(object);
  return changeObject(deps, ctx, request, served, {
    by,
    dryRun,
    // A uid or resourceVersion in the configuration is in the merged object, and is compared as in any update.
    next: ({ stored }) => deps.ownership.applied(served, stored(), config, by, { force, normalise }),
  });
}

function createApplied(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { by, force, dryRun, config }: Application,
): Promise<void> {
  const { uid = '' } = config['metadata'] as ApiObject['metadata'];
  if (uid !== '') throw notFound(served.declaration, request.name); // the object that had it is gone
  const normalise = (object: unknown): ApiObject => served.decode(object);
  const { object, managers } = deps.ownership.applied(served, undefined, config, by, { force, normalise });
  return createObject(deps, ctx, request, served, { body: object, by, dryRun, managers });
}

/** @throws {StatusError} BadRequest for what is no partial object of this kind, or says who owns its fields. */
async function readConfig(
  { bodies }: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
): Promise<JsonObject> {
  const bytes = await readBody(ctx.req, bodies.limits);
  if (bytes.length === 0) throw badRequest('The request has no body');
  const fields = new FieldValidation(ctx);
  const body = await parseYaml(bytes, undefined, fields.duplicates);
  ctx.state.audit?.sent(bytes, 'application/yaml', body); // JSON may be in it, but need not
  if (!isJsonObject(body)) throw badRequest(`The body must be an object of kind ${served.declaration.kind}`);
  const checked = served.decode(body, fields.onUnknown); // kind, version and the types of what is there
  if (checked.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  const { name = request.name, namespace } = checked.metadata;
  if (name !== request.name) {
    throw badRequest(`name in URL does not match name in the object: expected ${request.name}, got ${name}`);
  }
  const metadata = {
    ...(body['metadata'] as JsonObject | undefined),
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
  return withinReach({ ...body, metadata }, request, served);
}

/** Without what this path does not write: nobody can own what they cannot set. */
function withinReach(config: JsonObject, { subresource }: ResourceRequest, { stored }: ServedResource): JsonObject {
  const { apiVersion, kind, metadata, ['status']: status, ...rest } = config;
  if (subresource === '') return hasStatus(stored) ? { apiVersion, kind, metadata, ...rest } : config;
  const { name, namespace } = metadata as JsonObject;
  const own: JsonObject = { apiVersion, kind, metadata: { name, namespace } };
  return subresource === 'status' ? { ...own, status } : { ...own, ...rest };
}
