import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Http2SecureServer, Http2ServerRequest } from 'node:http2';
import { Socket } from 'node:net';
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

/** How long a client may take to read a refusal. */
const LINGER_MS = 2_000;

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
export function serveUpgrades(server: Http2SecureServer, mayUpgrade: MayUpgrade, handler: Handler): void {
  // The HTTP/1.1 side of this server emits what node:http emits; its types do not tell.
  const http1 = server as unknown as Server;
  const unanswered = new Unanswered();
  http1.prependListener('request', (req, res) => unanswered.add(req.socket, res));
  http1.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    unanswered.whenNone(socket, () => {
      if (mayUpgrade(req)) handler(req, responseFor(req, socket, head));
      else serveAgain(server, req, socket, head);
    });
  });
  http1.on('connect', (req: IncomingMessage, to: Socket | ServerResponse, head: Buffer) => {
    // On HTTP/2 there is an answer already.
    if (to instanceof Socket) unanswered.whenNone(to, () => handler(req, responseFor(req, to, head)));
    else handler(req, to);
  });
}

/**
 * The requests on a connection whose answers are not out. Node lets go of a connection with a request that asks for another
 * protocol, also while answers to those before it are under way: they have to be out before it is their turn.
 */
class Unanswered {
  readonly #counts = new WeakMap<Socket, number>();
  readonly #waiting = new WeakMap<Socket, () => void>();

  add(socket: Socket, res: ServerResponse): void {
    if ('stream' in res) return; // HTTP/2 has no order among requests
    this.#counts.set(socket, (this.#counts.get(socket) ?? 0) + 1);
    res.once('close', () => {
      const left = (this.#counts.get(socket) ?? 1) - 1;
      this.#counts.set(socket, left);
      if (left > 0) return;
      const next = this.#waiting.get(socket);
      this.#waiting.delete(socket);
      if (next !== undefined && !socket.destroyed) setImmediate(next); // once Node is done with the one before
    });
  }

  /** Not at all when the connection closes before. */
  whenNone(socket: Socket, next: () => void): void {
    if (socket.listenerCount('error', ignore) === 0) socket.on('error', ignore); // a reset is a way of closing
    if ((this.#counts.get(socket) ?? 0) === 0) next();
    else this.#waiting.set(socket, next);
  }
}

const ignore = (): void => undefined;

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
