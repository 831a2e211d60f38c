import type { ClientRequest, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Agent } from 'node:https';
import { request } from 'node:https';
import type { Readable } from 'node:stream';
import { traced, traceHeaders } from '../../machinery/tracing/trace.js';
import { unlessAborted } from '../deadline/deadline.js';
import { suspect, type Http2Sessions } from './http2-sessions.js';
import { codeOf, connectionError } from './connection-errors.js';
import { RemoteError } from './remote-service.js';

/** One request over https. */
export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
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
  /** Whether it may be sent again on a new connection when a kept one ends before the answer. @default true */
  readonly isRepeatable?: boolean;
}

interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface Exchanged extends Head {
  readonly body: Buffer;
}

/** An answer that has begun. */
export interface Opened extends Head {
  /** Read by the caller, or destroyed. Fails when the signal of the request fires. */
  readonly stream: Readable;
  /** Whether all of it came, once the stream has ended: one that is cut may end without an error. */
  readonly isWhole: () => boolean;
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
  const opened = await openExchange(e, signal);
  return { status: opened.status, headers: opened.headers, body: await readWhole(e, opened, signal) };
}

/** The same, of which the caller reads the answer: `maxBytes` does not bind it. */
export function openExchange(asked: Exchange, signal: AbortSignal): Promise<Opened> {
  const { method, url } = asked;
  const about = { 'http.request.method': method, 'server.address': url.hostname, 'server.port': url.port };
  return traced(`HTTP ${method}`, about, () =>
    openRepeatable({ ...asked, headers: { ...asked.headers, ...traceHeaders() } }, signal),
  );
}

async function openRepeatable(e: Exchange, signal: AbortSignal): Promise<Opened> {
  try {
    return await attempt(e, signal);
  } catch (err) {
    if (!(err instanceof ClosedMeanwhile)) throw err;
    if (e.isRepeatable === false) throw err.error;
    return await attempt(e, signal).catch((again: unknown) => {
      throw again instanceof ClosedMeanwhile ? again.error : again;
    });
  }
}

/** Reads all of an answer, up to `maxBytes`. @throws As `exchange` does. */
export function readWhole(e: Exchange, { stream, isWhole }: Opened, signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  let hasEnded = false;
  stream.on('data', (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length <= e.maxBytes) return;
    const why = `the answer is longer than ${e.maxBytes} bytes`;
    stream.destroy(new RemoteError(`${about(e)}: ${why}`, { failure: 'answer' }));
  });
  stream.on('end', () => (hasEnded = true));
  return new Promise((resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
    const fail = (err: Error): void => reject(signal.aborted ? signal.reason : asRemoteError(e, err));
    stream.on('error', fail);
    stream.on('close', () => {
      if (hasEnded && isWhole()) resolve(Buffer.concat(pieces));
      else fail(cut()); // where it has failed already, this comes too late to matter
    });
    if (stream.destroyed) fail(stream.errored ?? cut());
  });
}

const cut = (): Error => Object.assign(new Error('The stream ended'), { code: 'ECONNRESET' });

const about = (e: Exchange): string => e.what ?? shown(e);

const asRemoteError = (e: Exchange, err: Error, o?: { readonly isUnsent: boolean }): RemoteError =>
  err instanceof RemoteError ? err : connectionError(about(e), err, o);

/** The other side had closed the connection when the request was written, so it has most likely not been looked at. */
class ClosedMeanwhile extends Error {
  readonly error: RemoteError;

  constructor(error: RemoteError) {
    super();
    this.error = error;
  }
}

async function attempt(e: Exchange, signal: AbortSignal): Promise<Opened> {
  if (e.http2 === undefined) return once(e, signal);
  const connecting = e.http2.of(e.url, e.connectMs).catch((err: unknown) => {
    throw asRemoteError(e, err as Error, { isUnsent: true });
  });
  const session = await unlessAborted(connecting, signal);
  return session === undefined ? once(e, signal) : onSession(e, session, signal);
}

/** Sessions that have answered before. */
const USED = new WeakSet<ClientHttp2Session>();

function onSession(e: Exchange, session: ClientHttp2Session, signal: AbortSignal): Promise<Opened> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(headersOf(e), { endStream: e.body === undefined });
    } catch (err) {
      reject(new ClosedMeanwhile(asRemoteError(e, err as Error, { isUnsent: true }))); // it has ended since
      return;
    }
    // As with sockets: only what was kept may have been closed by the other side.
    const wasUsed = USED.has(session);
    let isAnswered = false;
    const leave = (): void => {
      if (!isAnswered) suspect(session);
      stream.close(constants.NGHTTP2_CANCEL);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
      reject(signal.reason);
      stream.destroy(signal.reason instanceof Error ? signal.reason : undefined);
    };
    signal.addEventListener('abort', leave, { once: true });
    // Once it is answered, these come too late to matter here.
    const fail = (err: Error): void => {
      const isUnsent = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      const error = asRemoteError(e, err, { isUnsent });
      reject(wasUsed || isUnsent ? new ClosedMeanwhile(error) : error);
    };
    stream.on('error', fail);
    stream.on('close', () => {
      signal.removeEventListener('abort', leave);
      fail(cut());
    });
    stream.on('response', (headers) => {
      isAnswered = true;
      USED.add(session);
      const isWhole = (): boolean => stream.rstCode === constants.NGHTTP2_NO_ERROR;
      resolve({ status: headers[':status'] ?? 0, headers, stream, isWhole });
    });
    if (e.body !== undefined) stream.end(e.body);
  });
}

function headersOf({ method, url, headers: { host, ...headers }, body }: Exchange): OutgoingHttpHeaders {
  return {
    ...headers,
    ':method': method,
    ':path': `${url.pathname}${url.search}`,
    ':authority': typeof host === 'string' ? host : url.host,
    ...(body === undefined ? {} : { 'content-length': body.length }),
  };
}

function once(e: Exchange, signal: AbortSignal): Promise<Opened> {
  signal.throwIfAborted();
  const { method, agent } = e;
  const headers = e.body === undefined ? e.headers : { ...e.headers, 'content-length': e.body.length };
  return new Promise((resolve, reject) => {
    const req = request(e.url, { method, headers, agent });
    let isConnected = false;
    const leave = (): void => {
      req.destroy();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a reason is what the caller made it
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    req.on('close', () => signal.removeEventListener('abort', leave));
    req.on('socket', (socket) => {
      isConnected = !socket.connecting;
      if (socket.connecting) socket.once('secureConnect', () => (isConnected = true));
    });
    req.on('error', (err) => {
      const error = asRemoteError(e, err, { isUnsent: !isConnected });
      reject(req.reusedSocket && STALE.has(codeOf(err)) ? new ClosedMeanwhile(error) : error);
    });
    req.on('response', (res) => {
      res.on('error', () => undefined); // for who reads it; it may come before
      resolve({ status: res.statusCode ?? 0, headers: res.headers, stream: res, isWhole: () => res.complete });
    });
    if (e.connectMs !== undefined) limitConnecting(e, req, e.connectMs);
    req.end(e.body);
  });
}

function limitConnecting(e: Exchange, req: ClientRequest, ms: number): void {
  req.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = (): unknown =>
      req.destroy(new RemoteError(`${about(e)}: no connection within ${ms} ms`, { isUnsent: true }));
    const timer = setTimeout(late, ms);
    for (const end of ['secureConnect', 'close'] as const) socket.once(end, () => clearTimeout(timer));
  });
}

/** How a connection ends that the other side closes just when a request is written. */
const STALE = new Set(['ECONNRESET', 'EPIPE']);
