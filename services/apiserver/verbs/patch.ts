import { parseJson } from '../../machinery/codec/json.js';
import type { Json } from '../../machinery/meta/object.js';
import { applyJsonPatch } from '../../machinery/patch/json-patch.js';
import { applyMergePatch } from '../../machinery/patch/merge-patch.js';
import { badRequest } from '../../machinery/meta/status.js';
import { readBody } from '../http/body.js';
import { changeObject } from './change.js';
import { contentType, unsupportedMediaType } from './decode-body.js';
import { onUnknownFields } from './field-validation.js';
import { dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

type ApplyPatch = (document: Json, patch: Json) => Json;

/** By content type. The order is the one that a refusal names them in. */
const PATCHES: ReadonlyMap<string, ApplyPatch> = new Map<string, ApplyPatch>([
  ['application/json-patch+json', applyJsonPatch],
  ['application/merge-patch+json', mergePatch],
]);

export const patch =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const type = contentType(ctx);
    const apply = PATCHES.get(type);
    if (apply === undefined) throw unsupportedMediaType(type, [...PATCHES.keys()]);
    const dryRun = dryRunParameter(ctx.state.query);
    const onUnknown = onUnknownFields(ctx);
    const bytes = await readBody(ctx.req, deps.bodies.limits);
    if (bytes.length === 0) throw badRequest('The request has no body');
    const document = parseJson(bytes);
    const next = (present: () => unknown): ReturnType<typeof served.decode> =>
      served.decode(apply(present() as Json, document), onUnknown);
    await changeObject(deps, ctx, request, served, next, dryRun);
  };

function mergePatch(document: Json, patchDocument: Json): Json {
  if (typeof patchDocument !== 'object' || patchDocument === null || Array.isArray(patchDocument)) {
    throw badRequest('A merge patch of an object must be an object');
  }
  return applyMergePatch(document, patchDocument);
}
