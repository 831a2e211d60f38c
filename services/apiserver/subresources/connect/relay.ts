import type { IncomingMessage } from 'node:http';
import { breakOff } from '../../http/exchange.js';
import type { Context } from '../../request/request.js';
import { unreachable } from './dial.js';
import type { Headers } from './headers.js';

/**
 * Answers with what another server answers, as it comes and as fast as the client takes it. Resolves when the answer is
 * over, on whichever side it ended.
 *
 * @throws {StatusError} ServiceUnavailable for an answer that no client may be given
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
