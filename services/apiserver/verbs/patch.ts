import { decodeJson, refuseWide } from '../../machinery/codec/json.js';
import { isJsonObject } from '../../machinery/meta/own.js';
import type { Json } from '../../machinery/meta/object.js';
import { applyJsonPatch } from '../../machinery/patch/json-patch.js';
import { applyMergePatch } from '../../machinery/patch/merge-patch.js';
import { applyStrategicMergePatch } from '../../machinery/patch/strategic-merge.js';
import type { Type } from '../../machinery/types/graph.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { badRequest, field, invalid, notFound } from '../../machinery/meta/status.js';
import type { Work } from '../../machinery/work/work.js';
import { readBody } from '../http/exchange.js';
import { turns, worked } from '../http/turns.js';
import type { Context } from '../request/request.js';
import { apply } from './apply.js';
import { answerWritten } from './answers.js';
import { contentType, unsupportedMediaType, FieldValidation } from './decode-body.js';
import { fieldManager, dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';
import { write, type Write } from './write.js';

/** @param type Of the document. */
type ApplyPatch = (document: Json, patch: Json, type: Type) => Work<Json>;

/** Of these patches places are those of the object that comes of them; a strategic one may have `1.0` for an integer. */
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
/** By content type. The order is the one that a refusal names them in. */
const PATCHES: ReadonlyMap<string, ApplyPatch> = new Map<string, ApplyPatch>([
  ['application/json-patch+json', jsonPatch],
  [MERGE_PATCH, mergePatch],
  [STRATEGIC, strategicMergePatch],
]);
/** An apply is a way of writing of its own. */
export const APPLY = 'application/apply-patch+yaml';
const PATCH_TYPES: readonly string[] = [...PATCHES.keys(), APPLY];
/** Nothing says how members of custom objects are merged. */
const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => type !== STRATEGIC);

export const patch =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    if (contentType(ctx) === APPLY) return apply(deps, ctx, request, served);
    const dryRun = dryRunParameter(ctx.state.query);
    const by = fieldManager(deps, ctx, request, 'PatchOptions');
    const fields = new FieldValidation(ctx);
    const patched = await readPatch(deps, ctx, served.type, fields);
    const wanted: Write['wanted'] = async (present) => {
      if (present === undefined) throw notFound(served.stored.hub, request.name);
      const document = present.served() as unknown as Json;
      if (ctx.state.heavy === true) await turns.alone();
      const object = await patched(document);
      if (ctx.state.heavy === true) await turns.alone();
      return { object: await worked(ctx.state, served.decoding(object, fields)) };
    };
    await answerWritten(ctx, served, await write(deps, ctx, { request, served, by, dryRun, wanted }));
  };

/**
 * Reads a patch other than an apply.
 *
 * @returns What makes the patched document of a document. @throws {StatusError} when the patch does not fit it
 * @throws {StatusError} UnsupportedMediaType, Invalid, BadRequest, RequestEntityTooLarge
 */
export async function readPatch(
  { bodies, vocabulary }: VerbDeps,
  ctx: Context,
  type: Type,
  { duplicates, literals }: FieldValidation,
): Promise<(document: Json) => Promise<Json>> {
  const mediaType = contentType(ctx);
  const applyPatch = PATCHES.get(mediaType);
  const isCustom = type.declaration.custom !== undefined;
  if (applyPatch === undefined || (isCustom && mediaType === STRATEGIC)) {
    throw unsupportedMediaType(mediaType, isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES);
  }
  refuseForce(ctx.state.query, vocabulary);
  const bytes = await readBody(ctx, bodies.limits);
  if (bytes.length === 0) throw badRequest('The request has no body');
  const parsed = decodeJson(bytes, undefined, duplicates, mediaType === MERGE_PATCH ? literals : undefined);
  if (ctx.state.heavy === true) await turns.alone();
  if (!Array.isArray(parsed)) refuseWide(parsed, bytes.length); // a list of operations has a bound of its own
  ctx.state.audit?.sent(bytes, mediaType, parsed);
  return async (document) => {
    const patched = await worked(ctx.state, applyPatch(document, parsed, type));
    refuseWide(patched, Infinity); // many patches may make wide what was not
    return patched;
  };
}

function* strategicMergePatch(document: Json, patchDocument: Json, type: Type): Work<Json> {
  return applyStrategicMergePatch(type, document, patchDocument);
}

function* jsonPatch(document: Json, patchDocument: Json): Work<Json> {
  return versioned(yield* applyJsonPatch(document, patchDocument));
}

function* mergePatch(document: Json, patchDocument: Json): Work<Json> {
  if (!isJsonObject(patchDocument)) throw badRequest('A merge patch of an object must be an object');
  return versioned(applyMergePatch(document, patchDocument));
}

/** Patches of text leave an object that says what it is; a strategic merge patch knows that from the type. */
function versioned(patched: Json): Json {
  const { apiVersion = null } = isJsonObject(patched) ? patched : {};
  if (isJsonObject(patched) && (apiVersion === null || apiVersion === '')) {
    throw badRequest('the patch leaves an object without an apiVersion');
  }
  return patched;
}

/** Only an apply has conflicts that could be overridden. @throws {StatusError} Invalid */
function refuseForce(query: URLSearchParams, { metaGroup }: Vocabulary): void {
  if (!query.has('force')) return;
  throw invalid({ group: metaGroup, kind: 'PatchOptions' }, '', [
    field.forbidden('force', 'may not be specified for non-apply patch'),
  ]);
}
