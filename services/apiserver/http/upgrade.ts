import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Http2SecureServer, Http2ServerRequest } from 'node:http2';
import { Socket } from 'node:net';
import { halfClose, type Http1Connections } from './connections.js';
import { headerPairs } from './headers.js';

/** A connection of HTTP/1.1 on which the client wants to go on in another protocol. */
export interface Upgrade {
  /** As the client names it, e.g. `websocket`. */
  readonly protocol: string;
  /** Bytes that the client sent behind its request. */
  readonly head: Buffer;
  /** Hands the connection over: it is answered by HTTP no more, and its new owner closes it. */
  take(): Socket;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

const upgrades = new WeakMap<IncomingMessage | Http2ServerRequest, Upgrade>();

/** undefined: an ordinary request. */
export const upgradeOf = (req: IncomingMessage | Http2ServerRequest): Upgrade | undefined => upgrades.get(req);

/** Whether a request may go on in another protocol. */
export type MayUpgrade = (req: IncomingMessage) => boolean;

/**
 * Lets requests that ask for another protocol through to the handler of all requests, where `mayUpgrade` says that they
 * can: the handler answers them as any other, or takes the connection (`upgradeOf`). Of the rest the wish is ignored,
 * as a server may (RFC 9110, 7.8): some clients offer a newer HTTP with every request. CONNECT is answered by the handler,
 * too, which knows no such thing.
 */
export function serveUpgrades(
  server: Http2SecureServer,
  connections: Http1Connections,
  mayUpgrade: MayUpgrade,
  handler: Handler,
): void {
  // The HTTP/1.1 side of this server emits what node:http emits; its types do not tell.
  const http1 = server as unknown as Server;
  http1.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    connections.take(socket, () => {
      if (mayUpgrade(req)) handler(req, responseFor(req, socket, head));
      else serveAgain(server, req, socket, head);
    });
  });
  http1.on('connect', (req: IncomingMessage, to: Socket | ServerResponse, head: Buffer) => {
    // On HTTP/2 there is an answer already.
    if (to instanceof Socket) connections.take(to, () => handler(req, responseFor(req, to, head)));
    else handler(req, to);
  });
}

/** Node has let go of the connection: the answer is bound to it here, and ends it. */
function responseFor(req: IncomingMessage, socket: Socket, head: Buffer): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  const close = (): void => halfClose(socket);
  res.once('finish', close);
  upgrades.set(req, {
    protocol: req.headers.upgrade ?? '',
    head,
    take: () => {
      res.off('finish', close);
      res.detachSocket(socket);
      return socket;
    },
  });
  return res;
}

/** Puts the request back on its connection, without the wish, for the server to begin anew. */
function serveAgain(server: Http2SecureServer, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${req.method ?? 'GET'} ${req.url ?? '/'} HTTP/${req.httpVersion}`];
  for (const [name, value] of headerPairs(req.rawHeaders)) {
    const key = name.toLowerCase();
    if (key !== 'upgrade') lines.push(`${name}: ${key === 'connection' ? withoutUpgrade(value) : value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('secureConnection', socket);
}

const withoutUpgrade = (connection: string): string =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option.toLowerCase() !== 'upgrade')
    .join(', ');
