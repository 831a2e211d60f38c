import { constants, type ServerHttp2Session } from 'node:http2';

/** As if no request were too late: the first of two frames only says that the connection is about to close. */
const LAST_STREAM = 2 ** 31 - 1;
/** A client that does not answer has had time to read. */
const ANSWER_MS = 1_000;

const sent = new WeakSet<ServerHttp2Session>();

/**
 * Makes a client open another connection for what it asks next. What has begun goes on to its end: a first GOAWAY refuses
 * nothing, so that nothing is called refused which was carried out, and a second one follows when the client has seen it,
 * as its answer to a ping says (RFC 9113, 6.8). What was on its way meanwhile is not begun, and the second GOAWAY says so:
 * clients send that again on another connection (8.7). Node knows no notice that would let it in. A second call does
 * nothing.
 */
export function sendAway(session: ServerHttp2Session): void {
  if (sent.has(session) || session.closed || session.destroyed) return;
  sent.add(session);
  const close = (): void => {
    clearTimeout(late);
    if (!session.closed) session.close();
  };
  const late = setTimeout(close, ANSWER_MS);
  session.once('close', () => clearTimeout(late));
  session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
  if (!session.ping(close)) close(); // too many are under way already
}
