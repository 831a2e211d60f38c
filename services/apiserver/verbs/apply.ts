import { isJsonObject } from '../../machinery/meta/own.js';
import { refuseWide } from '../../machinery/codec/json.js';
import { parseYaml } from '../../machinery/codec/yaml.js';
import type { Work } from '../../machinery/work/work.js';
import type { ApiObject, Json, JsonObject } from '../../machinery/meta/object.js';
import { badRequest, notFound, StatusError } from '../../machinery/meta/status.js';
import { readBody } from '../http/exchange.js';
import { turns, worked } from '../http/turns.js';
import { booleanParameter } from '../http/query.js';
import type { Context, ResourceRequest } from '../request/request.js';
import { withOtherVersions } from '../registry/conversion/other-versions.js';
import { partOf, strategyOf, withinPart } from '../registry/parts.js';
import { hasStatus } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { answerWritten } from './answers.js';
import { applyManager, dryRunParameter } from './parameters.js';
import { FieldValidation } from './decode-body.js';
import type { VerbDeps } from './types.js';
import { createInstead, write, type Write } from './write.js';

/**
 * Server-side apply (spec 1, 3.2): a partial object, merged into what is there by who owns what. Creates what is not.
 */
export async function apply(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
): Promise<void> {
  const dryRun = dryRunParameter(ctx.state.query);
  const by = applyManager(deps, ctx, request);
  const force = booleanParameter(ctx.state.query, 'force');
  const whole = await readConfig(deps, ctx, request, served);
  const config = withinReach(whole, request, served);
  const firstConfig = served.stored.strategy.keepsFirstStatus ? whole : config;
  const normalise = (object: unknown): Work<ApiObject> => served.decoding(object);
  const wanted: Write['wanted'] = async (present) => {
    if (present === undefined) await refuseOrCreate(deps, ctx, request, served, config);
    // A uid or resourceVersion in the configuration is in the merged object, and is compared as in any update.
    const [old, applied] = present === undefined ? [undefined, firstConfig] : [present.stored(), config];
    return withOtherVersions(served, ctx.state, (others) =>
      worked(ctx.state, deps.ownership.applied(served, old, applied, by, { force, normalise, others })),
    );
  };
  await answerWritten(ctx, served, await write(deps, ctx, { request, served, by, dryRun, wanted }));
}

/** @throws {StatusError} NotFound; Forbidden */
async function refuseOrCreate(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  { stored, declaration }: ServedResource,
  config: JsonObject,
): Promise<void> {
  if (request.subresource !== '') throw notFound(stored.hub, request.name);
  await createInstead(deps, ctx, request);
  const { uid = '' } = config['metadata'] as ApiObject['metadata'];
  if (uid !== '') throw notFound(declaration, request.name); // the object that had it is gone
}

/** A body of an apply, and what to tell its decoder of members that no declaration knows. */
export interface Partially {
  readonly body: Readonly<Record<string, Json | undefined>>;
  readonly onUnknown: (unknown: readonly string[]) => void;
}

/**
 * Reads the body of an apply. Who applies a field would own it, so one that there is not is refused, whatever
 * `fieldValidation` says of others.
 *
 * @throws {StatusError} BadRequest
 */
export async function readPartial(
  { bodies }: VerbDeps,
  ctx: Context,
  { namespace, name }: ResourceRequest,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): Promise<Partially> {
  const bytes = await readBody(ctx, bodies.limits);
  if (bytes.length === 0) throw badRequest('The request has no body');
  const fields = new FieldValidation(ctx);
  const body = await parseYaml(bytes, undefined, fields.duplicates);
  if (ctx.state.heavy === true) await turns.alone();
  refuseWide(body, bytes.length);
  ctx.state.audit?.sent(bytes, 'application/yaml', body); // JSON may be in it, but need not
  if (!isJsonObject(body)) throw badRequest(`The body must be an object of kind ${kind}`);
  const onUnknown = (unknown: readonly string[]): void => {
    if (unknown.length > 0) throw undeclared(`${namespace}/${name}; ${apiVersion}, Kind=${kind}`, unknown);
    fields.onUnknown(unknown);
  };
  return { body, onUnknown };
}

function undeclared(what: string, paths: readonly string[]): StatusError {
  const why = 'field not declared in schema';
  const each = paths.map((path) => `.${path}: ${why}`);
  const all = each.length === 1 ? each.join('') : `errors:\n  ${each.join('\n  ')}`;
  return new StatusError('BadRequest', `failed to create typed patch object (${what}): ${all}`, {
    details: { causes: paths.map((field) => ({ reason: 'FieldValueInvalid', message: why, field })) },
  });
}

/** @throws {StatusError} BadRequest for what is no partial object of this kind, or says who owns its fields. */
async function readConfig(
  deps: VerbDeps,
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
): Promise<JsonObject> {
  const { kind } = served.declaration;
  const { body, onUnknown } = await readPartial(deps, ctx, request, { apiVersion: served.apiVersion, kind });
  // Kind, version and the types of what is there.
  const checked = await worked(ctx.state, served.decoding(body, { onUnknown }));
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
  return { ...body, metadata };
}

/** Without the fields that this path does not write: they cannot be owned through it. */
function withinReach(config: JsonObject, { subresource }: ResourceRequest, served: ServedResource): JsonObject {
  const part = partOf(subresource) ?? '';
  if (part !== '') return withinPart(part, config, strategyOf(served));
  if (!hasStatus(served.stored)) return config;
  const { ['status']: _, ...own } = config;
  return own;
}
