import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { REASONS, type StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../pipeline/request.js';
import type { AnswerType } from './negotiation.js';

const compress = promisify(gzip);
/** A list of this size goes out in pieces. */
const STREAM_FROM_BYTES = 64 * 1024;
const WRITE_BYTES = 48 * 1024;
/** Smaller answers are not worth the time. */
const GZIP_FROM_BYTES = 128 * 1024;
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED };

const flag = (value: string | null): boolean => value !== null && value !== '0' && value.toLowerCase() !== 'false';

/** `?pretty`, `?pretty=true`, `?pretty=1` */
export const wantsPretty = (ctx: Context): boolean => flag(ctx.state.query.get('pretty'));

/** Answers with JSON bytes, in the form that was asked for. The bytes may be shared: they are not written to. */
export async function respondJson(ctx: Context, code: number, json: Buffer, type: AnswerType): Promise<void> {
  const asItIs = type === 'application/json' && json.length < GZIP_FROM_BYTES && !wantsPretty(ctx);
  send(ctx, code, type, asItIs ? json : await compressed(ctx, await inForm(ctx, json, type)));
}

/** Written here and not by the framework: its setters are a tenth of the time that a cached read takes. */
function send(ctx: Context, code: number, type: AnswerType, body: Buffer): void {
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
export async function respondPieces(ctx: Context, pieces: readonly Buffer[], type: AnswerType): Promise<void> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const plain = type === 'application/json' && !wantsPretty(ctx) && !wantsGzip(ctx, length);
  if (!plain || length < STREAM_FROM_BYTES) return respondJson(ctx, 200, Buffer.concat(pieces, length), type);
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

function setHeaders(ctx: Context, code: number, type: AnswerType): void {
  ctx.status = code;
  ctx.set('Cache-Control', 'no-cache, private');
  ctx.set('Content-Type', type);
}

async function inForm(ctx: Context, json: Buffer, type: AnswerType): Promise<Buffer> {
  if (type === 'application/yaml') {
    const { stringify } = await import('yaml'); // few ask for it, and it is slow to load
    return Buffer.from(stringify(JSON.parse(json.toString('utf8')), { aliasDuplicateObjects: false }));
  }
  return wantsPretty(ctx) ? Buffer.from(`${JSON.stringify(JSON.parse(json.toString('utf8')), null, 2)}\n`) : json;
}

const wantsGzip = (ctx: Context, length: number): boolean =>
  length >= GZIP_FROM_BYTES && /\bgzip\b/.test(ctx.get('Accept-Encoding'));

async function compressed(ctx: Context, body: Buffer): Promise<Buffer> {
  if (!wantsGzip(ctx, body.length)) return body;
  ctx.set('Content-Encoding', 'gzip');
  ctx.set('Vary', 'Accept-Encoding');
  return compress(body, GZIP_OPTIONS);
}

/** Answers with a failure. Works at any point before the first byte of an answer. */
export function respondStatus(ctx: Context, error: StatusError): void {
  ctx.status = error.code;
  ctx.set('Cache-Control', 'no-cache, private');
  ctx.set('Content-Type', 'application/json');
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) ctx.set('Retry-After', String(retry));
  if (error.code === REASONS.Unauthorized) ctx.set('WWW-Authenticate', 'Bearer');
  ctx.body = Buffer.from(JSON.stringify(error.body()));
}
