import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { JsonObject } from '../../machinery/meta/object.js';
import { REASONS, type StatusError } from '../../machinery/meta/status.js';
import { encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { META_TYPES } from '../../machinery/types/meta-types.js';
import type { Context } from '../pipeline/request.js';
import { negotiateForm, type Form } from './negotiation.js';

const compress = promisify(gzip);
const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
/** A list of this size goes out in pieces. */
const STREAM_FROM_BYTES = 64 * 1024;
const WRITE_BYTES = 48 * 1024;
/** Smaller answers are not worth the time. */
const GZIP_FROM_BYTES = 128 * 1024;
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED };

const flag = (value: string | null): boolean => value !== null && value !== '0' && value.toLowerCase() !== 'false';

/** `?pretty`, `?pretty=true`, `?pretty=1` */
export const wantsPretty = (ctx: Context): boolean => flag(ctx.state.query.get('pretty'));

/** Whether the bytes of a body are not what is sent: JSON may be asked for as YAML, or in a form for people. */
const isRewritten = (ctx: Context, type: string): boolean => type === YAML || (type === JSON_TYPE && wantsPretty(ctx));

/**
 * Answers with bytes: JSON for the types of JSON and YAML, for any other type what it is. They may be shared: they are not
 * written to.
 */
export async function respondJson(ctx: Context, code: number, body: Buffer, type: string): Promise<void> {
  const told = ctx.state.audit?.answered(code, [body], type);
  if (told !== undefined) await told;
  const asItIs = body.length < GZIP_FROM_BYTES && !isRewritten(ctx, type);
  send(ctx, code, type, asItIs ? body : await compressed(ctx, await inForm(ctx, body, type)));
}

/** Written here and not by the framework: its setters are a tenth of the time that a cached read takes. */
function send(ctx: Context, code: number, type: string, body: Buffer): void {
  ctx.respond = false;
  ctx.res.writeHead(code, {
    'Cache-Control': 'no-cache, private',
    'Content-Type': type,
    'Content-Length': body.length,
  });
  ctx.res.end(body);
}

/**
 * The same for a long answer in pieces. They go out as the connection takes them, without a copy of the whole: many
 * clients may be listing at once, and the pieces are shared among them.
 */
export async function respondPieces(ctx: Context, pieces: readonly Buffer[], type: string): Promise<void> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const plain = !isRewritten(ctx, type) && !wantsGzip(ctx, length);
  if (!plain || length < STREAM_FROM_BYTES) return respondJson(ctx, 200, Buffer.concat(pieces, length), type);
  await ctx.state.audit?.answered(200, pieces, type);
  setHeaders(ctx, 200, type);
  ctx.set('Content-Length', String(length));
  return sendPieces(ctx, pieces);
}

async function sendPieces(ctx: Context, pieces: readonly Buffer[]): Promise<void> {
  const { res } = ctx;
  ctx.respond = false; // written here, piece by piece
  res.statusCode = 200;
  if (ctx.method !== 'HEAD') {
    for (const piece of inWrites(pieces)) {
      if (!res.write(piece) && !(await drained(res))) return;
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
    if (piece.length >= WRITE_BYTES / 2) {
      if (bytes > 0) yield Buffer.concat(small, bytes);
      [small, bytes] = [[], 0];
      for (let at = 0; at < piece.length; at += WRITE_BYTES) yield piece.subarray(at, at + WRITE_BYTES);
      continue;
    }
    small.push(piece);
    bytes += piece.length;
    if (bytes < WRITE_BYTES) continue;
    yield Buffer.concat(small, bytes);
    [small, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(small, bytes);
}

/** False when the client went away. */
async function drained(res: Context['res']): Promise<boolean> {
  if (res.destroyed || res.closed) return false;
  return new Promise((resolve) => {
    const onDrain = (): void => finish(true);
    const onClose = (): void => finish(false);
    const finish = (open: boolean): void => {
      res.off('drain', onDrain).off('close', onClose);
      resolve(open);
    };
    res.on('drain', onDrain).on('close', onClose);
  });
}

function setHeaders(ctx: Context, code: number, type: string): void {
  ctx.status = code;
  ctx.set('Cache-Control', 'no-cache, private');
  ctx.set('Content-Type', type);
}

async function inForm(ctx: Context, body: Buffer, type: string): Promise<Buffer> {
  if (!isRewritten(ctx, type)) return body;
  const value: unknown = JSON.parse(body.toString('utf8'));
  return type === YAML ? yamlOf(value) : Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

async function yamlOf(value: unknown): Promise<Buffer> {
  const { stringify } = await import('yaml'); // few ask for it, and it is slow to load
  return Buffer.from(stringify(value, { aliasDuplicateObjects: false }));
}

const wantsGzip = (ctx: Context, length: number): boolean =>
  length >= GZIP_FROM_BYTES && /\bgzip\b/.test(ctx.get('Accept-Encoding'));

async function compressed(ctx: Context, body: Buffer): Promise<Buffer> {
  if (!wantsGzip(ctx, body.length)) return body;
  ctx.set('Content-Encoding', 'gzip');
  ctx.set('Vary', 'Accept-Encoding');
  return compress(body, GZIP_OPTIONS);
}

/** A Status wrapped as Protobuf bodies are. */
export const protobufStatus = (status: object): Buffer =>
  encodeEnvelope('v1', 'Status', encodeProtobuf(META_TYPES, 'meta/v1.Status', status as JsonObject)); // plain data

/** What failures are told in when the client accepts nothing that we have. */
const AS_JSON = { encoding: 'json', type: JSON_TYPE } as const;

/** A Status in the encoding that was asked for. */
async function encodedStatus(status: object, encoding: Form['encoding']): Promise<Buffer> {
  if (encoding === 'protobuf') return protobufStatus(status);
  return encoding === 'yaml' ? yamlOf(status) : Buffer.from(JSON.stringify(status));
}

function formOfFailure(ctx: Context): Pick<Form, 'encoding' | 'type'> {
  try {
    return negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  } catch {
    return AS_JSON;
  }
}

/** Answers with a failure. Works at any point before the first byte of an answer. */
export async function respondStatus(ctx: Context, error: StatusError): Promise<void> {
  const { encoding, type } = formOfFailure(ctx);
  const body = await encodedStatus(error.body(), encoding);
  setHeaders(ctx, error.code, type);
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) ctx.set('Retry-After', String(retry));
  if (error.code === REASONS.Unauthorized) ctx.set('WWW-Authenticate', 'Bearer');
  ctx.body = body;
}
