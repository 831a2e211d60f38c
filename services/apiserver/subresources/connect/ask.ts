import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { StatusError } from '../../../machinery/meta/status.js';
import { traced } from '../../../machinery/tracing/trace.js';
import type { Connection } from './connection.js';
import { unreachable, wordsOf } from './dial.js';
import type { Headers } from './headers.js';
import { IdleTimer } from './idle.js';

/** One request to a server behind. */
export interface Question {
  readonly method: string;
  /** Path and query, escaped. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Readable | undefined;
  /** Longest that nothing may move before the answer begins. */
  readonly answerMs: number;
}

/** The answer's head. Its body comes with `answer`, or it is a protocol of its own on the connection. */
export interface Reply {
  readonly answer: IncomingMessage;
  /** Bytes after the head of an answer that agrees to another protocol; undefined: an ordinary answer. */
  readonly upgraded: Buffer | undefined;
}

/** A connection that was used before ended without a byte of an answer: as a rule its other end had closed it already. */
export class StaleConnection extends StatusError {}

/**
 * Asks over a connection. Closing the connection ends the question; when it is over, the connection knows whether it is free.
 *
 * @throws {StatusError} ServiceUnavailable when no answer comes
 */
export const ask = (connection: Connection, q: Question): Promise<Reply> =>
  traced('Ask', { 'http.request.method': q.method }, () => asked(connection, q));

async function asked(connection: Connection, q: Question): Promise<Reply> {
  const { socket, use } = connection;
  const { method, path } = q;
  const headers = use === 'only' ? q.headers : { connection: 'keep-alive', ...q.headers };
  const req = request({ createConnection: () => socket, setHost: false, method, path, headers });
  const isStale = staleness(connection, req);
  return new Promise((settle, reject) => {
    const idle = new IdleTimer(q.answerMs, () => fail(unreachable('timed out waiting for an answer')));
    const fail = (err: Error): void => {
      idle.stop();
      q.body?.unpipe(req);
      socket.destroy();
      reject(err);
    };
    // Stays for the time after the answer has begun: what goes wrong then shows in the answer.
    req.on('error', (err) => {
      const failure = unreachable(wordsOf(err), err);
      fail(isStale(err) ? new StaleConnection(failure.reason, failure.message, { cause: err }) : failure);
    });
    req.once('response', (answer) => {
      idle.stop();
      req.once('close', () => (connection.freeForMs = freeForMs(req, answer)));
      settle({ answer, upgraded: undefined });
    });
    req.once('upgrade', (answer, _socket, head) => {
      idle.stop();
      settle({ answer, upgraded: head });
    });
    if (q.body === undefined) req.end();
    else q.body.on('data', idle.touch).pipe(req);
  });
}

/** Tells whether an error is that of a connection which ended between two requests. */
function staleness({ use }: Connection, req: ClientRequest): (err: Error) => boolean {
  let hasHeard = use !== 'further';
  if (!hasHeard) req.once('socket', (socket) => socket.once('data', () => (hasHeard = true)));
  return (err) => !hasHeard && 'code' in err && (err.code === 'ECONNRESET' || err.code === 'EPIPE');
}

/** The time that a server keeps a connection is over for us before it is for the server. */
const AHEAD_MS = 1_000;
const TIMEOUT = /(?:^|[,;\s])timeout=(\d{1,6})(?:$|[,;\s])/i;

/** For how long a connection is free whose request is over. */
function freeForMs({ shouldKeepAlive, socket }: ClientRequest, { complete, headers }: IncomingMessage): number {
  if (!complete || !shouldKeepAlive || socket === null || socket.destroyed) return 0;
  const [, seconds] = TIMEOUT.exec(String(headers['keep-alive'] ?? '')) ?? [];
  return seconds === undefined ? Infinity : Math.max(0, Number(seconds) * 1000 - AHEAD_MS);
}
