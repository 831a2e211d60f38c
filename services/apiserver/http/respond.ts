import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { REASONS, StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../pipeline/request.js';
import type { AnswerType } from './negotiation.js';

const compress = promisify(gzip);
/** Smaller answers are not worth the time. */
const GZIP_FROM_BYTES = 128 * 1024;
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED };

const flag = (value: string | null): boolean => value !== null && value !== '0' && value.toLowerCase() !== 'false';

/** `?pretty`, `?pretty=true`, `?pretty=1` */
export const wantsPretty = (ctx: Context): boolean => flag(ctx.state.query.get('pretty'));

/** Answers with JSON bytes, in the form that was asked for. The bytes may be shared: they are not written to. */
export async function respondJson(ctx: Context, code: number, json: Buffer, type: AnswerType): Promise<void> {
  ctx.status = code;
  ctx.set('Cache-Control', 'no-cache, private');
  ctx.set('Content-Type', type);
  ctx.body = await compressed(ctx, await inForm(ctx, json, type));
}

async function inForm(ctx: Context, json: Buffer, type: AnswerType): Promise<Buffer> {
  if (type === 'application/yaml') {
    const { stringify } = await import('yaml'); // few ask for it, and it is slow to load
    return Buffer.from(stringify(JSON.parse(json.toString('utf8')), { aliasDuplicateObjects: false }));
  }
  return wantsPretty(ctx) ? Buffer.from(`${JSON.stringify(JSON.parse(json.toString('utf8')), null, 2)}\n`) : json;
}

async function compressed(ctx: Context, body: Buffer): Promise<Buffer> {
  if (body.length < GZIP_FROM_BYTES || !/\bgzip\b/.test(ctx.get('Accept-Encoding'))) return body;
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
