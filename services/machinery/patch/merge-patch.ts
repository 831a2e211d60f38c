import { getOwn, isJsonObject, setOwn } from '../meta/own.js';
import type { Json, JsonObject } from '../meta/object.js';
import { badRequest } from '../meta/status.js';

/** Bodies are bounded in depth where they are parsed; this holds for whatever comes from elsewhere. */
const MAX_DEPTH = 1000;

/**
 * Applies a JSON merge patch (RFC 7386). Nothing of `target` or `patch` is changed: what the patch does not touch is
 * shared with `target`, and `target` itself comes back when the patch changes nothing.
 *
 * @throws {StatusError} BadRequest when the patch nests too deep.
 */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  return merged(target, patch, 0);
}

function merged(target: Json | undefined, patch: Json, depth: number): Json {
  if (!isObject(patch)) return patch;
  if (depth > MAX_DEPTH) throw badRequest(`exceeded max depth ${MAX_DEPTH}`);
  const base: JsonObject = isObject(target) ? target : {};
  let out = isObject(target) ? undefined : {}; // a copy is made at the first change
  for (const key of Object.keys(patch)) {
    const change = ownJson(patch, key);
    const before = ownJson(base, key);
    const after = change === null || change === undefined ? undefined : merged(before, change, depth + 1);
    if (after === before) continue;
    out ??= { ...base };
    if (after === undefined) Reflect.deleteProperty(out, key);
    else setOwn(out, key, after);
  }
  return out ?? base;
}

const isObject = (value: Json | undefined): value is JsonObject => isJsonObject(value);
const ownJson = (object: JsonObject, key: string): Json | undefined => getOwn(object, key) as Json | undefined;
