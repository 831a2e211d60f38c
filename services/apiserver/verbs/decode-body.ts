import { BODY_DECODERS } from '../../machinery/codec/bodies.js';
import { refuseWide } from '../../machinery/codec/json.js';
import { decodeProtobuf } from '../../machinery/codec/protobuf/decode.js';
import { decodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import type { ApiObject, ObjectMeta } from '../../machinery/meta/object.js';
import { badRequest, StatusError } from '../../machinery/meta/status.js';
import type { Type } from '../../machinery/types/graph.js';
import { readBody, type BodyLimits } from '../http/exchange.js';
import { turns, worked } from '../http/turns.js';
import { addWarnings } from '../http/warnings.js';
import type { ServedResource } from '../registry/resources.js';
import type { Context } from '../request/request.js';

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

/** The parts of a text that its value does not keep: names that it has twice, and how it writes numbers. */
type TextNotes = Pick<FieldValidation, 'duplicates' | 'literals'>;

export interface BodyOptions {
  readonly limits: BodyLimits;
  readonly protobufMediaTypes: readonly string[];
}

/**
 * An object that was sent, for a write that changes it in each attempt. It is decoded when it comes, and again only for
 * a second attempt.
 */
export class SentObject {
  /** As it was sent. */
  readonly metadata: Readonly<ObjectMeta>;
  readonly #again: () => ApiObject;
  #first: ApiObject | undefined;

  /** @param parsed Decoded JSON, which stays as it is. @param first What it says, in the served version's shape. */
  constructor(served: ServedResource, parsed: unknown, first: ApiObject, { literals }: FieldValidation) {
    this.#first = first;
    this.metadata = { ...first.metadata };
    this.#again = () => served.decode(parsed, { literals });
  }

  /** A copy that the caller may change. */
  take(): ApiObject {
    const object = this.#first ?? this.#again();
    this.#first = undefined;
    return object;
  }
}

/** Reads bodies that hold objects, in every form that a client may send them in. */
export class Bodies {
  readonly limits: BodyLimits;
  readonly #protobuf: ReadonlySet<string>;
  readonly #supported: readonly string[];

  constructor(o: BodyOptions) {
    this.limits = o.limits;
    this.#protobuf = new Set(o.protobufMediaTypes);
    this.#supported = [...BODY_DECODERS.keys(), ...o.protobufMediaTypes];
  }

  /**
   * The body as JSON would say it; undefined when there is none.
   *
   * @param message What a Protobuf body is a message of: unlike JSON it cannot be read without knowing.
   * @param fields Takes what the text says beside its value.
   * @throws {StatusError} UnsupportedMediaType, BadRequest, RequestEntityTooLarge, Timeout
   */
  async parsed(ctx: Context, message: Type, fields?: TextNotes): Promise<unknown> {
    const type = contentType(ctx);
    const decode = this.#protobuf.has(type) ? fromProtobuf(message) : BODY_DECODERS.get(type);
    const body = await readBody(ctx, this.limits);
    if (body.length === 0) return undefined;
    if (decode === undefined) throw unsupportedMediaType(type, this.#supported);
    const value: unknown = await decode(body, undefined, fields?.duplicates, fields?.literals);
    if (ctx.state.heavy === true) await turns.alone();
    refuseWide(value, body.length);
    ctx.state.audit?.sent(body, type, value);
    if (ctx.state.heavy === true) await turns.alone();
    return value;
  }

  /** An object in the body, in the served version's shape. @throws {StatusError} also when there is none */
  async object(ctx: Context, served: ServedResource): Promise<SentObject> {
    const fields = new FieldValidation(ctx);
    const parsed = await this.parsed(ctx, served.type, fields);
    if (parsed === undefined) throw badRequest('The request has no body');
    const first = await worked(ctx.state, served.decoding(parsed, fields));
    return new SentObject(served, parsed, first, fields);
  }
}

const fromProtobuf =
  (type: Type) =>
  (body: Buffer): unknown => {
    const { apiVersion, kind, raw } = decodeEnvelope(body);
    const object = decodeProtobuf(type, raw);
    return { ...object, ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }) };
  };

type Mode = 'Ignore' | 'Warn' | 'Strict';
const MODES: ReadonlyMap<string, Mode> = new Map(
  Object.entries<Mode>({ '': 'Warn', Ignore: 'Ignore', Warn: 'Warn', Strict: 'Strict' }),
);

/**
 * The parameter `fieldValidation`: the treatment of members that are not stored, unknown ones and all but the last of
 * several of one name: nothing, a warning each (the default), or a refusal that names all of them.
 */
export class FieldValidation {
  /** Where a decoder notes duplicates; undefined where they are ignored. */
  readonly duplicates: string[] | undefined;
  /** Where a decoder notes how numbers are written that may be no integers. */
  readonly literals = new Map<string, string>();
  readonly #ctx: Context;
  readonly #mode: Mode;

  /** @throws {StatusError} BadRequest for another value */
  constructor(ctx: Context) {
    const asked = ctx.state.query.get('fieldValidation') ?? '';
    const mode = MODES.get(asked);
    if (mode === undefined) {
      throw badRequest(
        `Invalid value for query parameter fieldValidation: ${JSON.stringify(asked)}, supported: Ignore, Warn, Strict`,
      );
    }
    this.#ctx = ctx;
    this.#mode = mode;
    this.duplicates = mode === 'Ignore' ? undefined : [];
  }

  /**
   * Takes the paths of members that no declaration knows, and settles what is to be said of them and of the duplicates.
   *
   * @throws {StatusError} BadRequest in the strict mode
   */
  readonly onUnknown = (unknown: readonly string[]): void => {
    if (this.duplicates === undefined) return;
    const problems = [...named('duplicate', this.duplicates), ...named('unknown', unknown)];
    if (problems.length === 0) return;
    if (this.#mode === 'Strict') throw badRequest(`strict decoding error: ${problems.join(', ')}`);
    addWarnings(this.#ctx, problems);
  };
}

const named = (what: string, paths: readonly string[]): string[] =>
  paths.map((path) => `${what} field ${JSON.stringify(path)}`);
