import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Agent } from 'node:https';
import { request } from 'node:https';
import { codeOf, connectionError } from './connection-errors.js';
import { RemoteError } from './remote-service.js';

/** One request over https. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  readonly agent: Agent;
  /** The longest answer. */
  readonly maxBytes: number;
  /** Begins errors, where the URL is not the name that people know. */
  readonly what?: string;
  /** Longest time until a new connection stands. @default As long as the request may take. */
  readonly connectMs?: number;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A request as errors show it: without the query, which may hold a secret. */
export const shown = ({ method, url }: Pick<Exchange, 'method' | 'url'>): string =>
  `${method} ${url.origin}${url.pathname}`;

/**
 * Sends a request and reads the answer, whatever it is: no redirect is followed. A connection that was kept and turns out
 * to be closed is replaced by a new one, once.
 *
 * @throws {RemoteError} When none came, or a longer one. @throws `signal.reason` if it fires first.
 */
export async function exchange(e: Exchange, signal: AbortSignal): Promise<Exchanged> {
  try {
    return await once(e, signal);
  } catch (err) {
    if (!(err instanceof ClosedMeanwhile)) throw err;
    return await once(e, signal).catch((again: unknown) => {
      throw again instanceof ClosedMeanwhile ? again.error : again;
    });
  }
}

const about = (e: Exchange): string => e.what ?? shown(e);

/** The other side had closed the connection when the request was written, so it has not been looked at. */
class ClosedMeanwhile extends Error {
  readonly error: RemoteError;

  constructor(error: RemoteError) {
    super();
    this.error = error;
  }
}

function once(e: Exchange, signal: AbortSignal): Promise<Exchanged> {
  signal.throwIfAborted();
  const { method, agent } = e;
  const headers = e.body === undefined ? e.headers : { ...e.headers, 'content-length': e.body.length };
  return new Promise((resolve, reject) => {
    const req = request(e.url, { method, headers, agent, signal });
    let isAnswered = false;
    req.on('error', (err) => {
      const isStale = req.reusedSocket && !isAnswered && STALE.has(codeOf(err));
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
      reject(signal.aborted ? signal.reason : failed(e, err, isStale));
    });
    req.on('response', (res) => {
      isAnswered = true;
      collect(e, req, res, resolve);
    });
    if (e.connectMs !== undefined) limitConnecting(e, req, e.connectMs);
    req.end(e.body);
  });
}

function limitConnecting(e: Exchange, req: ClientRequest, ms: number): void {
  req.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = (): unknown => req.destroy(new RemoteError(`${about(e)}: no connection within ${ms} ms`));
    const timer = setTimeout(late, ms);
    for (const end of ['secureConnect', 'close'] as const) socket.once(end, () => clearTimeout(timer));
  });
}

/** How a connection ends that the other side closes just when a request is written. */
const STALE = new Set(['ECONNRESET', 'EPIPE']);

function failed(e: Exchange, err: Error, isStale: boolean): Error {
  if (err instanceof RemoteError) return err;
  const error = connectionError(about(e), err);
  return isStale ? new ClosedMeanwhile(error) : error;
}

/** Whatever ends it early ends as an error of the request, which rejects. */
function collect(e: Exchange, req: ClientRequest, res: IncomingMessage, done: (answer: Exchanged) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  res.on('data', (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length <= e.maxBytes) return;
    const why = `the answer is longer than ${e.maxBytes} bytes`;
    res.destroy(new RemoteError(`${about(e)}: ${why}`, { failure: 'answer' }));
  });
  res.on('error', (err) => req.emit('error', err));
  res.on('end', () => done({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(pieces) }));
}
