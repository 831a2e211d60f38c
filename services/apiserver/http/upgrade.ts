import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Http2SecureServer, Http2ServerRequest } from 'node:http2';
import { Socket } from 'node:net';
import { headerPairs } from './headers.js';

/** A connection of HTTP/1.1 on which the client wants to go on in another protocol. */
export interface Upgrade {
  /** As the client names it, e.g. `websocket`. */
  readonly protocol: string;
  /** What the client sent behind its request. */
  readonly head: Buffer;
  /** Hands the connection over: from here on nobody answers by HTTP, and whoever takes it closes it. */
  take(): Socket;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** How long a client may take to read a refusal. */
const LINGER_MS = 2_000;

const upgrades = new WeakMap<IncomingMessage | Http2ServerRequest, Upgrade>();

/** undefined: an ordinary request. */
export const upgradeOf = (req: IncomingMessage | Http2ServerRequest): Upgrade | undefined => upgrades.get(req);

/**
 * Lets requests that ask for another protocol through to the handler of all requests, where `mayUpgrade` says that their
 * URL can: the handler answers them as any other, or takes the connection (`upgradeOf`). Of the rest the wish is ignored,
 * as a server may (RFC 9110, 7.8): some clients offer a newer HTTP with every request.
 */
export function serveUpgrades(server: Http2SecureServer, mayUpgrade: (url: string) => boolean, handler: Handler): void {
  // The HTTP/1.1 side of this server emits what node:http emits; its types do not tell.
  (server as unknown as Server).on('upgrade', (req: IncomingMessage, socket, head: Buffer) => {
    if (!(socket instanceof Socket)) throw new TypeError('A TLS server hands out sockets');
    if (!mayUpgrade(req.url ?? '/')) {
      serveAgain(server, req, socket, head);
      return;
    }
    socket.on('error', () => undefined); // a reset is a way of closing
    handler(req, responseFor(req, socket, head));
  });
}

/** Node has let go of the connection: the answer is bound to it here, and ends it. */
function responseFor(req: IncomingMessage, socket: Socket, head: Buffer): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  const close = (): void => {
    socket.end();
    socket.resume(); // what a client still sends would reset the connection before it has read the answer
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(late));
  };
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
