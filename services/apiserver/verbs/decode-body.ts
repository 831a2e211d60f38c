import { BODY_DECODERS } from '../../machinery/codec/bodies.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { badRequest, StatusError } from '../../machinery/meta/status.js';
import { readBody, type BodyLimits } from '../http/body.js';
import { onUnknownFields } from './field-validation.js';
import type { Context } from '../pipeline/request.js';
import type { ServedResource } from '../registry/resources.js';

/** The media type of the body, without parameters; JSON when the client does not say. */
export function contentType(ctx: Context): string {
  const header = ctx.get('Content-Type');
  const end = header.indexOf(';');
  const type = (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
  return type === '' ? 'application/json' : type;
}

/** Reads and parses the body. @throws {StatusError} UnsupportedMediaType, BadRequest, RequestEntityTooLarge, Timeout */
export async function parsedBody(ctx: Context, limits: BodyLimits): Promise<unknown> {
  const type = contentType(ctx);
  const decode = BODY_DECODERS.get(type);
  if (decode === undefined) throw unsupportedMediaType(type, [...BODY_DECODERS.keys()]);
  const body = await readBody(ctx.req, limits);
  if (body.length === 0) throw badRequest('The request has no body');
  return decode(body);
}

export const unsupportedMediaType = (type: string, supported: readonly string[]): StatusError =>
  new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format (${JSON.stringify(type)}) - accepted media types include: ${supported.join(', ')}`,
  );

/** An object in the body, in the served version's shape. */
export async function objectBody(ctx: Context, limits: BodyLimits, served: ServedResource): Promise<ApiObject> {
  const onUnknown = onUnknownFields(ctx);
  return served.decode(await parsedBody(ctx, limits), onUnknown);
}
