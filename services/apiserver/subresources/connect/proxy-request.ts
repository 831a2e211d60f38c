import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { badRequest, StatusError } from '../../../machinery/meta/status.js';
import { CLIENT_LEFT } from '../../http/exchange.js';
import type { OpenStreams } from '../../http/stream.js';
import { upgradeOf, type Upgrade } from '../../http/upgrade.js';
import type { Context } from '../../request/request.js';
import { ask, StaleConnection, type Question, type Reply } from './ask.js';
import { Connection, type Wanted } from './connection.js';
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
  /** How connections are made, or found. @default `dial`, for one request each */
  readonly connect?: (target: Target, connectMs: number, signal: AbortSignal, wanted: Wanted) => Promise<Connection>;
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

/** Methods by which nothing is changed: a request may be sent again of which nobody knows whether it came. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const dialed: NonNullable<ProxyDeps['connect']> = async (target, connectMs, signal) =>
  new Connection(await dial(target, connectMs, signal));

/**
 * Runs `work` with a connection to `target`: from here on the request is its business. The connection is released afterwards,
 * and closed when nothing moves on it for too long or the client goes away.
 *
 * @throws {StatusError} ServiceUnavailable when the connection does not stand in time; what `work` throws
 */
export async function withConnection(
  { limits, connect = dialed }: ProxyDeps,
  ctx: Context,
  target: Target,
  work: (connection: Connection) => Promise<void>,
  wanted: Wanted = 'new',
): Promise<void> {
  const { signal } = ctx.state;
  try {
    const connection = await connect(target, limits.connectMs, signal, wanted);
    ctx.state.onOpen?.();
    const leave = use(connection, limits.idleMs, signal);
    try {
      await work(connection);
    } finally {
      leave();
    }
  } catch (err) {
    if (!signal.aborted) throw err;
    if (signal.reason !== CLIENT_LEFT && !ctx.headerSent) throw signal.reason; // the time is over
    ctx.respond = false;
    if (!ctx.headerSent) ctx.res.statusCode = CLIENT_WENT;
  }
}

/** @returns Ends the use: nothing of it stays on the socket, which may be somebody else's then. */
function use(connection: Connection, idleMs: number, signal: AbortSignal): () => void {
  const { socket } = connection;
  const ignore = (): void => undefined; // its user sees it close
  const cut = (): void => void socket.destroy();
  const onGone = (): void => {
    if (connection.freeForMs === 0) cut(); // an answer that is out has nothing to end
  };
  socket.on('error', ignore).on('timeout', cut).setTimeout(idleMs);
  signal.addEventListener('abort', onGone);
  return () => {
    signal.removeEventListener('abort', onGone);
    socket.off('timeout', cut);
    connection.release();
    if (!socket.destroyed) socket.off('error', ignore);
  };
}

/** Passes a request on as it is, and the answer back; or the whole connection, when both sides want another protocol. */
export async function proxyRequest(d: ProxyDeps, ctx: Context, p: Passage): Promise<void> {
  const upgrade = upgradeOf(ctx.req);
  const hasBody = bodyOf(ctx.req) !== 'none';
  if (upgrade !== undefined && hasBody) {
    throw badRequest('A request that asks for another protocol must not have a body');
  }
  const wanted = wantedFor(ctx.method, { hasBody, isUpgrade: upgrade !== undefined });
  const pass = (which: Wanted): Promise<void> =>
    withConnection(d, ctx, p.target, (connection) => passOn(d, ctx, p, upgrade, connection), which);
  try {
    await pass(wanted);
  } catch (err) {
    if (wanted !== 'any' || !(err instanceof StaleConnection)) throw err;
    await pass('new');
  }
}

/** `any` is for what may be sent again. An upgraded connection is never free again. */
export function wantedFor(method: string, o: { readonly hasBody: boolean; readonly isUpgrade: boolean }): Wanted {
  if (o.isUpgrade) return 'new';
  return !o.hasBody && REPEATABLE.has(method) ? 'any' : 'recent';
}

async function passOn(
  d: ProxyDeps,
  ctx: Context,
  p: Passage,
  upgrade: Upgrade | undefined,
  connection: Connection,
): Promise<void> {
  // prettier-ignore
  const { answer, upgraded } = await ask(connection, question(d, ctx, p, upgrade));
  if (upgrade !== undefined && upgraded !== undefined) {
    return join(d, ctx, upgrade, { answer, upgraded }, connection.socket);
  }
  if (upgraded !== undefined) throw unreachable('malformed HTTP response: another protocol, which nobody asked for');
  if (p.prefix === undefined && isRedirect(answer.statusCode)) throw redirectRefused();
  return relay(ctx, answer, headersBack(ctx, p, answerHeaders(answer)));
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
