import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { badRequest, StatusError } from '../../../machinery/meta/status.js';
import { CLIENT_LEFT } from '../../http/exchange.js';
import type { OpenStreams } from '../../http/stream.js';
import { upgradeOf, type Upgrade } from '../../http/upgrade.js';
import type { Context } from '../../request/request.js';
import { ask, type Question, type Reply } from './ask.js';
import { dial, unreachable } from './dial.js';
import { answerHeaders, bodyOf, requestHeaders, type HeaderWords, type Headers } from './headers.js';
import { redirected } from './redirect.js';
import { relay } from './relay.js';
import type { Target } from './target.js';
import { rawHead, tunnel } from './tunnel.js';

export interface ProxyLimits {
  /** Longest that a connection may take to stand, TLS included. */
  readonly connectMs: number;
  /** Longest that a server behind a proxy may be silent before it answers. */
  readonly answerMs: number;
  /** Longest that nothing may move on a connection that stands. */
  readonly idleMs: number;
}

export interface ProxyDeps {
  readonly limits: ProxyLimits;
  readonly streams: OpenStreams;
  readonly words: HeaderWords;
  /** How connections are made. @default `dial` */
  readonly connect?: (target: Target, connectMs: number, signal: AbortSignal) => Promise<Socket>;
}

/** Where a request goes. */
export interface Passage {
  readonly target: Target;
  /** Path and query there, escaped. */
  readonly path: string;
  /** The path of the proxy, for redirects; undefined: redirects are refused, for the client could not follow them. */
  readonly prefix: string | undefined;
  /** The path that the client sees. */
  readonly uri: string;
  readonly answerMs: number;
  /** Sent beside those of the client. */
  readonly headers?: Headers;
}

/** Status of a request whose client has gone, as servers behind a balancer count it. */
const CLIENT_WENT = 499;

/**
 * Runs `work` with a connection to `target`: from here on the request is its business. The connection is closed afterwards, and when nothing moves on it for too
 * long or the client goes away.
 *
 * @throws {StatusError} ServiceUnavailable when the connection does not stand in time; what `work` throws
 */
export async function withConnection(
  { limits, connect = dial }: ProxyDeps,
  ctx: Context,
  target: Target,
  work: (socket: Socket) => Promise<void>,
): Promise<void> {
  const { signal } = ctx.state;
  try {
    const socket = await connect(target, limits.connectMs, signal);
    ctx.state.onOpen?.();
    socket.on('error', () => undefined); // its user sees it close
    socket.setTimeout(limits.idleMs, () => socket.destroy());
    const onGone = (): void => void socket.destroy();
    signal.addEventListener('abort', onGone);
    try {
      await work(socket);
    } finally {
      signal.removeEventListener('abort', onGone);
      socket.destroy();
    }
  } catch (err) {
    if (!signal.aborted) throw err;
    if (signal.reason !== CLIENT_LEFT && !ctx.headerSent) throw signal.reason; // the time is over
    ctx.respond = false;
    if (!ctx.headerSent) ctx.res.statusCode = CLIENT_WENT;
  }
}

/** Passes a request on as it is, and the answer back; or the whole connection, when both sides want another protocol. */
export async function proxyRequest(d: ProxyDeps, ctx: Context, p: Passage): Promise<void> {
  const upgrade = upgradeOf(ctx.req);
  if (upgrade !== undefined && bodyOf(ctx.req) !== 'none') {
    throw badRequest('A request that asks for another protocol must not have a body');
  }
  return withConnection(d, ctx, p.target, async (socket) => {
    const { answer, upgraded } = await ask(socket, question(d, ctx, p, upgrade));
    if (upgrade !== undefined && upgraded !== undefined) {
      return join(d, ctx, upgrade, { answer, upgraded }, socket);
    }
    if (upgraded !== undefined) throw unreachable('malformed HTTP response: another protocol, which nobody asked for');
    if (p.prefix === undefined && isRedirect(answer.statusCode)) throw redirectRefused();
    return relay(ctx, answer, headersBack(ctx, p, answerHeaders(answer)));
  });
}

function question(d: ProxyDeps, ctx: Context, p: Passage, upgrade: Upgrade | undefined): Question {
  const headers = { ...requestHeaders(ctx.req, p.uri, d.words), ...p.headers };
  if (upgrade !== undefined) Object.assign(headers, { connection: 'Upgrade', upgrade: upgrade.protocol });
  const body = bodyOf(ctx.req) === 'none' ? undefined : (ctx.req as Readable);
  return { method: ctx.method, path: p.path, headers, body, answerMs: p.answerMs };
}

async function join(
  { limits, streams }: ProxyDeps,
  ctx: Context,
  upgrade: Upgrade,
  { answer, upgraded }: Reply,
  target: Socket,
): Promise<void> {
  ctx.respond = false;
  ctx.res.statusCode = answer.statusCode ?? 101; // for those who count
  void ctx.state.audit?.started(ctx.res.statusCode); // not waited for: both sides are sending already
  const client = upgrade.take();
  client.write(rawHead(answer));
  if (upgraded !== undefined && upgraded.length > 0) client.write(upgraded);
  if (upgrade.head.length > 0) target.write(upgrade.head);
  const { over, end } = tunnel(client, target, limits.idleMs);
  const release = streams.hold(end);
  await over;
  release();
}

const isRedirect = (code = 0): boolean => code >= 300 && code < 400;

const redirectRefused = (): StatusError =>
  new StatusError('InternalError', 'the backend attempted to redirect this request, which is not permitted', {
    code: 502,
  });

function headersBack(ctx: Context, { prefix, target }: Passage, headers: Headers): Headers {
  const { location } = headers;
  if (prefix === undefined || location === undefined) return headers;
  const through = { prefix, target, host: ctx.host };
  return { ...headers, location: [location].flat().map((it) => redirected(it, through)) };
}
