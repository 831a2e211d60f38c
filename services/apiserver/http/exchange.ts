import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../request/request.js';
import { turns, weigh } from './turns.js';

export type ServerRequest = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** The reason when a client has gone. One for all, so that no stack is taken for each. */
export const CLIENT_LEFT = new StatusError('Timeout', 'The client has gone away');

/** Of a write nobody knows whether it was done: nothing says that it may be tried again. */
const tooLong = (method = ''): StatusError =>
  new StatusError('Timeout', 'Timeout: the request could not be completed in time', {
    ...(method === 'GET' || method === 'HEAD' ? { details: { retryAfterSeconds: 1 } } : {}),
  });

/**
 * The emitters that close when an exchange is over. On HTTP/2 that is the stream. On HTTP/1.1 it is the response, or
 * the connection: a response that waits behind others on its connection is not told when that closes.
 */
const ends = (req: ServerRequest, res: Response): readonly (EventEmitter & { readonly destroyed: boolean })[] =>
  'stream' in res ? [res.stream] : [res, req.socket];

/** Whether an exchange is over, also when it ended before the question. HTTP/2's response itself does not tell. */
const isOver = (req: ServerRequest, res: Response): boolean =>
  'stream' in res ? res.stream.closed || res.stream.destroyed : res.closed || req.socket.destroyed;

/**
 * Fires when no answer is waited for any more: the client has gone away, or its answer is out. The same on both
 * protocols.
 *
 * @param withinMs The signal fires after this with a Timeout as well; undefined for what may go on until it is ended.
 */
export function exchangeSignal(req: ServerRequest, res: Response, withinMs?: number): AbortSignal {
  const over = new AbortController();
  if (isOver(req, res)) {
    over.abort(CLIENT_LEFT);
    return over.signal;
  }
  const watched = ends(req, res);
  const late =
    withinMs === undefined ? undefined : setTimeout(() => over.abort(tooLong(req.method)), Math.max(0, withinMs));
  const onClose = (): void => {
    clearTimeout(late);
    for (const end of watched) end.off('close', onClose);
    over.abort(CLIENT_LEFT);
  };
  for (const end of watched) end.on('close', onClose);
  return over.signal;
}

/** Breaks an answer off so that the client cannot take it for a whole one. */
export function breakOff(res: Response): void {
  if ('stream' in res) res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else res.destroy();
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Longest that a whole body may take. */
  readonly timeoutMs: number;
}

/**
 * Reads a request's body. A body that is too large is refused before it is read when it says so, else as soon as it is.
 *
 * @throws {StatusError} RequestEntityTooLarge, Timeout; BadRequest for a body that breaks off
 * @throws `ctx.state.signal.reason` if it fires first: the client has gone away, also before this began
 */
export async function readBody(ctx: Context, limits: BodyLimits): Promise<Buffer> {
  const body = await received(ctx, limits);
  weigh(ctx.state, body.length);
  if (ctx.state.heavy === true) await turns.alone();
  return body;
}

function received({ req, state: { signal } }: Context, limits: BodyLimits): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const finish = (outcome: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onOver);
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('aborted', onBroken);
      outcome();
    };
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size <= limits.maxBytes) parts.push(part);
      else finish(() => reject(tooLarge(limits.maxBytes)));
    };
    const onEnd = (): void => {
      const [only] = parts;
      finish(() => resolve(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, size)));
    };
    const onOver = (): void => finish(() => reject(signal.reason as Error));
    const onBroken = (cause?: Error): void =>
      finish(() => reject(new StatusError('BadRequest', 'The request body ended before it was complete', { cause })));
    const timer = setTimeout(
      () => finish(() => reject(new StatusError('Timeout', 'The request body did not arrive in time'))),
      limits.timeoutMs,
    );
    signal.addEventListener('abort', onOver);
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('aborted', onBroken);
  });
}

const tooLarge = (maxBytes: number): StatusError =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
