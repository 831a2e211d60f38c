import type { ClientRequest, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpStatusHeader } from 'node:http2';
import type { Agent } from 'node:https';
import { request } from 'node:https';
import type { Readable } from 'node:stream';
import { unlessAborted } from '../deadline/deadline.js';
import { suspect, type Http2Sessions } from './http2-sessions.js';
import { codeOf, connectionError } from './connection-errors.js';
import { RemoteError } from './remote-service.js';

/** One request over https. */
export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  readonly agent: Agent;
  /** Asked over HTTP/2 where the server offers it. Absent: over HTTP/1.1. */
  readonly http2?: Http2Sessions;
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
    return await attempt(e, signal);
  } catch (err) {
    if (!(err instanceof ClosedMeanwhile)) throw err;
    return await attempt(e, signal).catch((again: unknown) => {
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

async function attempt(e: Exchange, signal: AbortSignal): Promise<Exchanged> {
  if (e.http2 === undefined) return once(e, signal);
  const connecting = e.http2.of(e.url, e.connectMs).catch((err: unknown) => {
    throw failed(e, err as Error, false);
  });
  const session = await unlessAborted(connecting, signal);
  return session === undefined ? once(e, signal) : onSession(e, session, signal);
}

/** Sessions that have answered before. */
const USED = new WeakSet<ClientHttp2Session>();

function onSession(e: Exchange, session: ClientHttp2Session, signal: AbortSignal): Promise<Exchanged> {
  signal.throwIfAborted();
  const { host, ...headers } = e.headers;
  const { method, url, body } = e;
  return new Promise((resolve, reject) => {
    let stream: ClientHttp2Stream;
    try {
      stream = session.request({
        ...headers,
        ':method': method,
        ':path': `${url.pathname}${url.search}`,
        ':authority': typeof host === 'string' ? host : url.host,
        ...(body === undefined ? {} : { 'content-length': body.length }),
      });
    } catch (err) {
      reject(failed(e, err as Error, true)); // it has ended since
      return;
    }
    // As with sockets: only what was kept may have been closed by the other side.
    const wasUsed = USED.has(session);
    let answer: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
    let isAnswered = false;
    const leave = (): void => {
      if (!isAnswered) suspect(session);
      stream.close(constants.NGHTTP2_CANCEL);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    let whole: Buffer | undefined;
    stream.on('close', () => {
      signal.removeEventListener('abort', leave);
      const isWhole = isAnswered && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (whole !== undefined && isWhole) resolve({ status: answer[':status'] ?? 0, headers: answer, body: whole });
      // Where it has failed already, this comes too late to matter.
      reject(failed(e, Object.assign(new Error('The stream ended'), { code: 'ECONNRESET' }), wasUsed && !isAnswered));
    });
    stream.on('error', (err: Error) => reject(failed(e, err, wasUsed && !isAnswered)));
    stream.on('response', (head) => {
      isAnswered = true;
      USED.add(session);
      answer = head;
    });
    collect(e, stream, (body) => (whole = body));
    stream.end(body);
  });
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
      res.on('error', (err) => req.emit('error', err));
      collect(e, res, (body) => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
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
function collect(e: Exchange, answer: Readable, done: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  answer.on('data', (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length <= e.maxBytes) return;
    const why = `the answer is longer than ${e.maxBytes} bytes`;
    answer.destroy(new RemoteError(`${about(e)}: ${why}`, { failure: 'answer' }));
  });
  answer.on('end', () => done(Buffer.concat(pieces)));
}
