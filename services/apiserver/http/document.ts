import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { IndentedJson, printed } from './print.js';
import { asksForIndents } from './respond.js';
import type { Context } from '../request/request.js';

const compress = promisify(gzip);
/** Smaller documents are not worth the time. */
const GZIP_FROM_BYTES = 16 * 1024;
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED };

/** JSON, or bytes of another form, made once and sent to many. */
export class Document {
  readonly bytes: Buffer;
  readonly isJson: boolean;
  /** Of the content, upper-case hex. */
  readonly hash: string;
  #zipped: Promise<Buffer> | undefined;

  /** @param content Bytes are sent as they are; of another form than JSON, unless it is said. */
  constructor(content: object | Buffer, isJson = !Buffer.isBuffer(content)) {
    this.isJson = isJson;
    this.bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    this.hash = createHash('sha256').update(this.bytes).digest('hex').toUpperCase();
  }

  zipped(): Promise<Buffer> {
    this.#zipped ??= compress(this.bytes, GZIP_OPTIONS);
    return this.#zipped;
  }
}

/** Answers with a document, or with 304 when the client's copy is the same. `headers` come on top of what both need. */
export async function respondDocument(
  ctx: Context,
  document: Document,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  ctx.status = 200;
  ctx.set({ ETag: `"${document.hash}"`, Vary: 'Accept, Accept-Encoding', ...headers });
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (document.isJson && asksForIndents(ctx) === true) {
    ctx.body = Buffer.concat(await printed(ctx.state, [document.bytes], new IndentedJson()));
  } else if (document.bytes.length >= GZIP_FROM_BYTES && /\bgzip\b/.test(ctx.get('Accept-Encoding'))) {
    ctx.set('Content-Encoding', 'gzip');
    ctx.body = await document.zipped();
  } else {
    ctx.body = document.bytes;
  }
}
