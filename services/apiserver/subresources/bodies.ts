import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import { badRequest } from '../../machinery/meta/status.js';
import { isJsonObject } from '../../machinery/meta/own.js';
import { decodeObject } from '../../machinery/schema/decode.js';
import { typeKey } from '../../machinery/types/catalog.js';
import type { Type } from '../../machinery/types/graph.js';
import type { Context } from '../request/request.js';
import type { VerbDeps } from '../verbs/types.js';
import type { DecodeFields } from '../registry/resources.js';
import { FieldValidation } from '../verbs/decode-body.js';

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Reads a body that is an object of one of these kinds, the first one when it does not say; they have one shape.
 *
 * @throws {StatusError} BadRequest
 */
export async function readKind(
  { bodies, catalog }: VerbDeps,
  ctx: Context,
  kinds: readonly [Kind, ...Kind[]],
): Promise<ApiObject> {
  const [usual] = kinds;
  const fields = new FieldValidation(ctx);
  const parsed = await bodies.parsed(ctx, typeOf(catalog.types, usual), fields);
  if (!isJsonObject(parsed)) throw badRequest(`The body must be an object of kind ${usual.kind}`);
  return decodeKind(catalog.types, parsed, kinds, fields);
}

const typeOf = (types: VerbDeps['catalog']['types'], { group, version, kind }: Kind): Type =>
  types.of(typeKey(group, version, kind));

/** The same for what was parsed already. @throws {StatusError} BadRequest */
export function decodeKind(
  types: VerbDeps['catalog']['types'],
  parsed: Readonly<Record<string, unknown>>,
  kinds: readonly [Kind, ...Kind[]],
  fields?: DecodeFields,
): ApiObject {
  const [usual] = kinds;
  const { kind = usual.kind, apiVersion = apiVersionOf(usual) } = parsed;
  const found = kinds.find((k) => k.kind === kind && apiVersionOf(k) === apiVersion);
  if (found === undefined) {
    const wanted = kinds.map((k) => `${apiVersionOf(k)} ${k.kind}`).join(' or ');
    throw badRequest(`expected ${wanted}, got ${JSON.stringify(`${String(apiVersion)} ${String(kind)}`)}`);
  }
  const { value, unknown } = decodeObject(typeOf(types, found), parsed, {
    literals: fields?.literals,
  });
  fields?.onUnknown?.(unknown);
  const object = value as Partial<ApiObject>;
  object.kind = found.kind;
  object.apiVersion = apiVersionOf(found);
  object.metadata ??= {};
  return object as ApiObject; // now it has all three
}
