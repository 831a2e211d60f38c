import { BODY_DECODERS } from '../../machinery/codec/bodies.js';
import { decodeProtobuf } from '../../machinery/codec/protobuf/decode.js';
import { decodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { badRequest, StatusError } from '../../machinery/meta/status.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import { readBody, type BodyLimits } from '../http/body.js';
import type { Context } from '../pipeline/request.js';
import type { ServedResource } from '../registry/resources.js';
import { FieldValidation } from './field-validation.js';

/** The media type of the body, without parameters; JSON when the client does not say. */
export function contentType(ctx: Context): string {
  const header = ctx.get('Content-Type');
  const end = header.indexOf(';');
  const type = (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
  return type === '' ? 'application/json' : type;
}

export const unsupportedMediaType = (type: string, supported: readonly string[]): StatusError =>
  new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format (${JSON.stringify(type)}) - accepted media types include: ${supported.join(', ')}`,
  );

export interface BodyOptions {
  readonly limits: BodyLimits;
  readonly catalog: Catalog;
  readonly protobufMediaTypes: readonly string[];
}

/** Reads bodies that hold objects, in every form that a client may send them in. */
export class Bodies {
  readonly limits: BodyLimits;
  readonly #catalog: Catalog;
  readonly #protobuf: ReadonlySet<string>;
  readonly #supported: readonly string[];

  constructor(o: BodyOptions) {
    this.limits = o.limits;
    this.#catalog = o.catalog;
    this.#protobuf = new Set(o.protobufMediaTypes);
    this.#supported = [...BODY_DECODERS.keys(), ...o.protobufMediaTypes];
  }

  /**
   * The body as JSON would say it; undefined when there is none.
   *
   * @param typeKey What a Protobuf body is a message of: unlike JSON it cannot be read without knowing.
   * @param duplicates Takes the paths of members that the text names twice.
   * @throws {StatusError} UnsupportedMediaType, BadRequest, RequestEntityTooLarge, Timeout
   */
  async parsed(ctx: Context, typeKey: string, duplicates?: string[]): Promise<unknown> {
    const type = contentType(ctx);
    const decode = this.#protobuf.has(type) ? this.#fromProtobuf(typeKey) : BODY_DECODERS.get(type);
    const body = await readBody(ctx.req, this.limits);
    if (body.length === 0) return undefined;
    if (decode === undefined) throw unsupportedMediaType(type, this.#supported);
    const value: unknown = await decode(body, undefined, duplicates);
    ctx.state.audit?.sent(body, type, value);
    return value;
  }

  /** An object in the body, in the served version's shape. @throws {StatusError} also when there is none */
  async object(ctx: Context, served: ServedResource): Promise<ApiObject> {
    const fields = new FieldValidation(ctx);
    return served.decode(await this.required(ctx, served, fields), fields.onUnknown);
  }

  /** The same before it is brought into shape. */
  async required(ctx: Context, served: ServedResource, { duplicates }: FieldValidation): Promise<unknown> {
    const parsed = await this.parsed(ctx, served.declaration.type, duplicates);
    if (parsed === undefined) throw badRequest('The request has no body');
    return parsed;
  }

  #fromProtobuf(typeKey: string): (body: Buffer) => unknown {
    return (body) => {
      const { apiVersion, kind, raw } = decodeEnvelope(body);
      const object = decodeProtobuf(this.#catalog.types, typeKey, raw);
      return { ...object, ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }) };
    };
  }
}
