import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { traced } from '../../../machinery/tracing/trace.js';
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

/**
 * Asks over a connection of its own. Closing the connection ends the question.
 *
 * @throws {StatusError} ServiceUnavailable when no answer comes
 */
export const ask = (socket: Socket, q: Question): Promise<Reply> =>
  traced('Ask', { 'http.request.method': q.method }, () => asked(socket, q));

async function asked(socket: Socket, q: Question): Promise<Reply> {
  const { method, path, headers } = q;
  const req = request({ createConnection: () => socket, setHost: false, method, path, headers });
  return new Promise((settle, reject) => {
    const idle = new IdleTimer(q.answerMs, () => fail(unreachable('timed out waiting for an answer')));
    const fail = (err: Error): void => {
      idle.stop();
      q.body?.unpipe(req);
      socket.destroy();
      reject(err);
    };
    // Stays for the time after the answer has begun: what goes wrong then shows in the answer.
    req.on('error', (err) => fail(unreachable(wordsOf(err), err)));
    req.once('response', (answer) => {
      idle.stop();
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
