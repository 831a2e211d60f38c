import { decodeJson } from '../../machinery/codec/bodies.js';
import type { Json } from '../../machinery/meta/object.js';
import { applyJsonPatch } from '../../machinery/patch/json-patch.js';
import { applyMergePatch } from '../../machinery/patch/merge-patch.js';
import { applyStrategicMergePatch } from '../../machinery/patch/strategic-merge.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { badRequest, field, invalid } from '../../machinery/meta/status.js';
import { readBody } from '../http/body.js';
import type { Context } from '../pipeline/request.js';
import { apply } from './apply.js';
import { changeObject, type PresentState, type Wanted } from './change.js';
import { contentType, unsupportedMediaType } from './decode-body.js';
import { fieldManager } from './field-manager.js';
import { FieldValidation } from './field-validation.js';
import { dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

/** @param typeKey The declared type of the document. */
type ApplyPatch = (document: Json, patch: Json, types: Catalog['types'], typeKey: string) => Json;

/** By content type. The order is the one that a refusal names them in. */
const PATCHES: ReadonlyMap<string, ApplyPatch> = new Map<string, ApplyPatch>([
  ['application/json-patch+json', applyJsonPatch],
  ['application/merge-patch+json', mergePatch],
  ['application/strategic-merge-patch+json', strategicMergePatch],
]);
/** An apply is a way of writing of its own. */
const APPLY = 'application/apply-patch+yaml';
const PATCH_TYPES: readonly string[] = [...PATCHES.keys(), APPLY];

export const patch =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    if (contentType(ctx) === APPLY) return apply(deps, ctx, request, served);
    const dryRun = dryRunParameter(ctx.state.query);
    const by = fieldManager(deps, ctx, request, 'PatchOptions');
    const fields = new FieldValidation(ctx);
    const patched = await readPatch(deps, ctx, served.declaration.type, fields);
    const next = (present: PresentState): Wanted => ({
      object: served.decode(patched(present.served() as unknown as Json), fields.onUnknown),
    });
    return changeObject(deps, ctx, request, served, { by, dryRun, next });
  };

/**
 * Reads a patch other than an apply.
 *
 * @returns What makes the patched document of a document. @throws {StatusError} when the patch does not fit it
 * @throws {StatusError} UnsupportedMediaType, Invalid, BadRequest
 */
export async function readPatch(
  { bodies, catalog, vocabulary }: VerbDeps,
  ctx: Context,
  typeKey: string,
  { duplicates }: FieldValidation,
): Promise<(document: Json) => Json> {
  const type = contentType(ctx);
  const applyPatch = PATCHES.get(type);
  if (applyPatch === undefined) throw unsupportedMediaType(type, PATCH_TYPES);
  refuseForce(ctx.state.query, vocabulary);
  const bytes = await readBody(ctx.req, bodies.limits);
  if (bytes.length === 0) throw badRequest('The request has no body');
  const parsed = decodeJson(bytes, undefined, duplicates);
  ctx.state.audit?.sent(bytes, type, parsed);
  return (document) => applyPatch(document, parsed, catalog.types, typeKey);
}

function strategicMergePatch(document: Json, patchDocument: Json, types: Catalog['types'], typeKey: string): Json {
  return applyStrategicMergePatch(types, typeKey, document, patchDocument);
}

function mergePatch(document: Json, patchDocument: Json): Json {
  if (typeof patchDocument !== 'object' || patchDocument === null || Array.isArray(patchDocument)) {
    throw badRequest('A merge patch of an object must be an object');
  }
  return applyMergePatch(document, patchDocument);
}

/** Only an apply has conflicts that could be overridden. @throws {StatusError} Invalid */
function refuseForce(query: URLSearchParams, { metaGroup }: Vocabulary): void {
  if (!query.has('force')) return;
  throw invalid({ group: metaGroup, kind: 'PatchOptions' }, '', [
    field.forbidden('force', 'may not be specified for non-apply patch'),
  ]);
}
