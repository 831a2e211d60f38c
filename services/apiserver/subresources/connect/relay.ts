import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Context } from '../../pipeline/request.js';
import { unreachable } from './dial.js';
import type { Headers } from './headers.js';

/** Breaks an answer off so that the client cannot take it for a whole one. */
function breakOff(res: ServerResponse | Http2ServerResponse): void {
  if ('stream' in res) res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else res.destroy();
}

/**
 * Answers with what another server answers, as it comes and as fast as the client takes it. Resolves when the answer is
 * over, whoever ended it.
 *
 * @throws {StatusError} ServiceUnavailable for an answer that cannot be given to anybody
 */
export async function relay(ctx: Context, answer: IncomingMessage, headers: Headers): Promise<void> {
  const { res } = ctx;
  begin(ctx, answer, headers);
  await new Promise<void>((settle) => {
    res.once('close', () => {
      answer.destroy();
      settle();
    });
    answer.on('error', () => breakOff(res)); // cut in the middle
    answer.pipe(res);
  });
}

function begin(ctx: Context, answer: IncomingMessage, headers: Headers): void {
  const { res } = ctx;
  try {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.statusCode = answer.statusCode ?? 0;
    ctx.respond = false; // written here, piece by piece
    void ctx.state.audit?.started(res.statusCode); // not waited for: the answer is coming in already
    res.flushHeaders();
  } catch (err) {
    answer.on('error', () => undefined); // its end is of our making
    for (const name of Object.keys(headers)) if (!res.headersSent) res.removeHeader(name);
    ctx.respond = true;
    throw unreachable('malformed HTTP response', err);
  }
}
