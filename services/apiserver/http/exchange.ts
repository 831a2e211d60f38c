import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { EventEmitter } from 'node:events';
import { StatusError } from '../../machinery/meta/status.js';

export type ServerRequest = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** The reason when a client has gone. One for all, so that no stack is taken for each. */
export const CLIENT_LEFT = new StatusError('Timeout', 'The client has gone away');

const tooLong = (): StatusError =>
  new StatusError('Timeout', 'Timeout: the request could not be completed in time', {
    details: { retryAfterSeconds: 1 },
  });

/**
 * What closes when an exchange is over. On HTTP/2 that is the stream. On HTTP/1.1 it is the response, or the connection: a
 * response that waits behind others on its connection is not told when that closes.
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
  const late = withinMs === undefined ? undefined : setTimeout(() => over.abort(tooLong()), Math.max(0, withinMs));
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
