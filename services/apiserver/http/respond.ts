import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { JsonObject } from '../../machinery/meta/object.js';
import { REASONS, type StatusError } from '../../machinery/meta/status.js';
import { encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { META_TYPES } from '../../machinery/types/meta-types.js';
import type { Context } from '../request/request.js';
import { negotiateForm, type Form } from './negotiation.js';
import { BlockYaml, IndentedJson, printed, type Printer } from './print.js';
import { booleanParameter } from './query.js';

const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
/** A list of this size goes out in pieces. */
const STREAM_FROM_BYTES = 64 * 1024;
const WRITE_BYTES = 48 * 1024;
/** Smaller answers are not worth the time. */
const GZIP_FROM_BYTES = 128 * 1024;
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED, chunkSize: WRITE_BYTES };

/** Programs that show answers to people. */
const PEOPLE = /^(?:curl|Wget|Mozilla\/5\.0)/;

/** `?pretty=true`, `?pretty=0`; undefined: it is not said. */
export function asksForIndents({ state }: Context): boolean | undefined {
  const { query } = state;
  return (query.get('pretty') ?? '') === '' ? undefined : booleanParameter(query, 'pretty');
}

/** In what form other than its own a body is sent: JSON may be asked for as YAML, or with a member a line. */
function printerFor(ctx: Context, type: string): Printer | undefined {
  if (type === YAML) return new BlockYaml();
  if (type !== JSON_TYPE) return undefined;
  return (asksForIndents(ctx) ?? PEOPLE.test(ctx.req.headers['user-agent'] ?? '')) ? new IndentedJson() : undefined;
}

/**
 * Answers with bytes: JSON for the types of JSON and YAML, for any other type what it is. They may be shared: they are not
 * written to.
 */
export const respondJson = (ctx: Context, code: number, body: Buffer, type: string): Promise<void> =>
  respondPieces(ctx, [body], type, code);

/**
 * The same for a long answer in pieces that end where a word ends. They go out as the connection takes them, without a copy
 * of the whole: many clients may be listing at once, and the pieces are shared among them.
 */
export async function respondPieces(ctx: Context, body: readonly Buffer[], type: string, code = 200): Promise<void> {
  const told = ctx.state.audit?.answered(code, body, type);
  if (told !== undefined) await told;
  const printer = printerFor(ctx, type);
  const pieces = printer === undefined ? body : await printed(ctx.state, body, printer);
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length >= STREAM_FROM_BYTES) {
    if (wantsGzip(ctx, length)) await sendCompressed(ctx, code, type, pieces);
    else await sendPieces(ctx, code, type, pieces, length);
    return;
  }
  // Written here and not by the framework: its setters are a tenth of the time that a cached read takes.
  const [only] = pieces;
  ctx.respond = false;
  ctx.res.writeHead(code, head(type, length));
  ctx.res.end(pieces.length === 1 ? only : Buffer.concat(pieces, length));
}

const head = (type: string, length: number): Record<string, string | number> => ({
  'Cache-Control': 'no-cache, private',
  'Content-Type': type,
  'Content-Length': length,
});

async function sendPieces(
  ctx: Context,
  code: number,
  type: string,
  pieces: readonly Buffer[],
  length: number,
): Promise<void> {
  const { res } = ctx;
  ctx.respond = false;
  res.writeHead(code, head(type, length));
  if (ctx.method !== 'HEAD') {
    for (const piece of inWrites(pieces)) {
      if (!res.write(piece)) await drained(ctx);
    }
  }
  res.end();
}

/**
 * Pieces of a good size to write: each write has its price whatever its length, so small ones are joined. Long ones are
 * cut: what is handed over at once counts against the memory of an HTTP/2 session, and all requests of a client share
 * one; a few lists of large objects would fill it, and the next request would be refused.
 */
function* inWrites(pieces: readonly Buffer[]): Generator<Buffer> {
  let small: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (piece.length < WRITE_BYTES / 2) {
      small.push(piece);
      bytes += piece.length;
      if (bytes < WRITE_BYTES) continue;
      yield Buffer.concat(small, bytes);
    } else {
      const fits = small.length === 0 ? 0 : WRITE_BYTES - bytes;
      if (fits > 0) yield Buffer.concat([...small, piece.subarray(0, fits)]);
      for (let at = fits; at < piece.length; at += WRITE_BYTES) yield piece.subarray(at, at + WRITE_BYTES);
    }
    [small, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(small, bytes);
}

/** @throws {StatusError} When the client goes away, or takes too long. */
const drained = ({ res, state }: Context): Promise<unknown> => once(res, 'drain', { signal: state.signal });

function setHeaders(ctx: Context, code: number, type: string): void {
  ctx.status = code;
  ctx.set('Cache-Control', 'no-cache, private');
  ctx.set('Content-Type', type);
}

const wantsGzip = (ctx: Context, length: number): boolean =>
  length >= GZIP_FROM_BYTES && /\bgzip\b/.test(ctx.get('Accept-Encoding'));

/** Compresses piece by piece: one copy of the whole would take longer than a turn of the event loop may. */
async function sendCompressed(ctx: Context, code: number, type: string, pieces: readonly Buffer[]): Promise<void> {
  const zipped: Buffer[] = [];
  let length = 0;
  const take = async (parts: AsyncIterable<Buffer>): Promise<void> => {
    for await (const part of parts) {
      zipped.push(part);
      length += part.length;
    }
  };
  await pipeline(Readable.from(inWrites(pieces)), createGzip(GZIP_OPTIONS), take, { signal: ctx.state.signal });
  ctx.set('Content-Encoding', 'gzip');
  ctx.set('Vary', 'Accept-Encoding');
  await sendPieces(ctx, code, type, zipped, length);
}

/** A Status wrapped as Protobuf bodies are. */
export const protobufStatus = (status: object): Buffer =>
  encodeEnvelope('v1', 'Status', encodeProtobuf(META_TYPES.of('meta/v1.Status'), status as JsonObject)); // plain data

/** The form of failures when the client accepts none that we have. */
const AS_JSON = { encoding: 'json', type: JSON_TYPE } as const;

/** A Status in the encoding that was asked for. */
function encodedStatus(ctx: Context, status: object, { encoding, type }: FailureForm): Buffer {
  if (encoding === 'protobuf') return protobufStatus(status);
  const json = Buffer.from(JSON.stringify(status));
  const printer = printerFor(ctx, type);
  return printer === undefined ? json : Buffer.concat([...printer.print(json), printer.end()]);
}

type FailureForm = Pick<Form, 'encoding' | 'type'>;

function formOfFailure(ctx: Context): FailureForm {
  try {
    return negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  } catch {
    return AS_JSON;
  }
}

/** Answers with a failure. Works at any point before the first byte of an answer. */
export function respondStatus(ctx: Context, error: StatusError): void {
  const form = formOfFailure(ctx);
  const body = encodedStatus(ctx, error.body(), form);
  setHeaders(ctx, error.code, form.type);
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) ctx.set('Retry-After', String(retry));
  if (error.code === REASONS.Unauthorized) ctx.set('WWW-Authenticate', 'Bearer');
  ctx.body = body;
}
