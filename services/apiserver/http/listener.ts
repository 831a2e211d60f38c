import { readFileSync } from 'node:fs';
import http2, { type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { FileChanges } from '../../machinery/files/file-changes.js';
import { Http1Connections } from './connections.js';
import { sendAway } from './send-away.js';
import { serveUpgrades, type MayUpgrade } from './upgrade.js';

export interface ListenerLog {
  info(message: string, keys?: object): void;
  warn(message: string, keys?: object): void;
}

export interface ListenerOptions {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** Bundles of authorities whose certificates clients may show; empty: clients are not asked for any. */
  readonly clientCaFiles: readonly string[];
  readonly maxStreams: number;
  /** How likely a request over HTTP/2 makes its client open another connection for the next ones; default 0. */
  readonly goawayChance?: number;
  readonly headerTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** A connection without requests is closed after this; default 90 s. */
  readonly idleMs?: number;
  /** How often certificate files are looked at; default 5 s. */
  readonly reloadEveryMs?: number;
  /** Whether a request may go on in another protocol; absent: none may. */
  readonly mayUpgrade?: MayUpgrade;
  readonly log: ListenerLog;
}

export interface Listener {
  readonly port: number;
  /** Clients of HTTP/1.1 are told to take another connection for what they ask next. New ones are still taken. */
  leave(): void;
  /**
   * Takes no new connections and ends those on which nothing is asked or on its way; resolves when all are gone. When
   * `drainMs` are over, requests are refused, and what is left is cut soon after.
   */
  close(drainMs: number): Promise<void>;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Clients put all their requests on one connection: more than the 10 MB that Node allows by default. */
const SESSION_MEMORY_MB = 64;
/** Enough for a client's list to arrive without a round trip for every 64 KB. */
const RECEIVE_WINDOW_BYTES = 1024 * 1024;
/** Headers of one request, both protocols. */
const MAX_HEADER_BYTES = 64 * 1024;
const IDLE_MS = 90_000;
/** Beyond the time-out of bodies, at which a slow client is answered; then the connection ends. */
const LATE_MS = 2_000;
/** How long requests are refused before connections are cut. */
const REFUSE_MS = 500;

/** HTTP/1.1 and HTTP/2 on one TLS port, by ALPN. */
export async function listen(o: ListenerOptions, handler: Handler): Promise<Listener> {
  const changes = new FileChanges(filesOf(o)); // before they are read
  const server = http2.createSecureServer({
    ...credentials(o),
    ...contextOptions(o),
    allowHTTP1: true,
    requestCert: o.clientCaFiles.length > 0,
    rejectUnauthorized: false, // a client without a certificate may have a token
    maxSessionMemory: SESSION_MEMORY_MB,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    maxHeaderListPairs: 200,
    // Else values with white space around them are left out in silence; readers of names in headers refuse them.
    // Versions of Node before 22.17 do not know it, and leave them out.
    strictFieldWhitespaceValidation: false,
    // Node counts resets itself (CVE-2023-44487) and ends sessions that send too many.
    settings: {
      maxConcurrentStreams: o.maxStreams,
      initialWindowSize: RECEIVE_WINDOW_BYTES,
      maxHeaderListSize: MAX_HEADER_BYTES,
      enablePush: false,
    },
    noDelay: true,
    handshakeTimeout: o.headerTimeoutMs,
  } as http2.SecureServerOptions);
  Object.assign(server, http1Bounds(o)); // as options they would be ignored: this server reads its own properties
  const open = trackConnections(server, { idleMs: o.idleMs ?? IDLE_MS, goawayChance: o.goawayChance ?? 0 });
  const inTime = open.http1.inTime(handler);
  server.on('request', inTime as never); // the compatibility layer gives both protocols one shape
  server.on('checkExpectation', inTime as never); // refused further in, as any request is
  serveUpgrades(server, open.http1, o.mayUpgrade ?? ((): boolean => false), inTime);
  server.on('sessionError', () => undefined); // the session is gone already; its streams have told their handlers
  server.on('tlsClientError', () => undefined); // a client that does not speak TLS
  server.listen(o.port, o.address);
  await once(server, 'listening');
  // New connections get the new certificates.
  const read = (): void => server.setSecureContext({ ...credentials(o), ...contextOptions(o) });
  const stopReloading = changes.follow({ what: 'certificates', read, log: o.log }, o.reloadEveryMs);
  return {
    port: (server.address() as AddressInfo).port,
    leave: () => open.http1.leave(),
    close: async (drainMs) => {
      stopReloading();
      await closeGracefully(server, open, drainMs);
    },
  };
}

/** Bounds of HTTP/1.1 connections, under the names that Node's own HTTP server has for them. */
const http1Bounds = (o: ListenerOptions): object => ({
  maxHeaderSize: MAX_HEADER_BYTES,
  maxHeadersCount: 0, // Node leaves out what is beyond a count and says nothing: the last ones may say who asks
  headersTimeout: o.headerTimeoutMs,
  requestTimeout: o.requestTimeoutMs + LATE_MS,
  connectionsCheckingInterval: Math.min(1_000, o.headerTimeoutMs),
  keepAliveTimeout: o.idleMs ?? IDLE_MS,
});

function credentials(o: ListenerOptions): object {
  // Certificates of a bundle are trusted, also intermediate ones.
  const ca = o.clientCaFiles.map((file) => readFileSync(file));
  const clients = ca.length === 0 ? {} : { ca, allowPartialTrustChain: true };
  return { cert: readFileSync(o.certFile), key: readFileSync(o.keyFile), ...clients };
}

/**
 * A session that a client takes up again shows its certificate without those that lead to an authority, so it could not
 * be judged: where certificates count, sessions are not taken up.
 */
const contextOptions = ({ clientCaFiles }: ListenerOptions): object => ({
  minVersion: 'TLSv1.2',
  ...(clientCaFiles.length === 0 ? {} : { secureOptions: constants.SSL_OP_NO_TICKET }),
});

const filesOf = (o: ListenerOptions): string[] => [o.certFile, o.keyFile, ...o.clientCaFiles];

interface OpenConnections {
  readonly sockets: ReadonlySet<Socket>;
  readonly http1: Http1Connections;
  /** Sends all sessions away, and those that are begun from now on. */
  sendAllAway(): void;
}

function trackConnections(
  server: Http2SecureServer,
  { idleMs, goawayChance }: { idleMs: number; goawayChance: number },
): OpenConnections {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const http1 = new Http1Connections(server);
  let closing = false;
  server.on('secureConnection', (socket: Socket) => {
    if (sockets.has(socket)) return; // served again: see upgrade.ts
    sockets.add(socket);
    socket.setMaxListeners(0); // each request in a pipeline listens
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.setLocalWindowSize(RECEIVE_WINDOW_BYTES);
    closeWhenIdle(session, idleMs);
    if (goawayChance > 0) session.on('stream', () => Math.random() < goawayChance && sendAway(session));
    if (closing) sendAway(session);
    session.once('close', () => sessions.delete(session));
  });
  const sendAllAway = (): void => {
    closing = true;
    for (const session of sessions) sendAway(session);
  };
  return { sockets, http1, sendAllAway };
}

/** Quiet requests are no reason to close a session, and headers that never end are none to keep it. */
function closeWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let requests = 0;
  const timer = setTimeout(() => {
    if (requests > 0) return; // the last of them starts the time anew
    if (session.closed) session.destroy();
    else session.close(); // waits for a request whose headers are not complete
    timer.refresh();
  }, idleMs);
  session.on('stream', (stream) => {
    requests++;
    stream.once('close', () => {
      requests--;
      timer.refresh();
    });
  });
  session.once('close', () => clearTimeout(timer));
}

async function closeGracefully(server: Http2SecureServer, open: OpenConnections, drainMs: number): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server); // its own would end idle connections at once, and what is on its way with them
  open.http1.leave();
  open.sendAllAway();
  const stopLooking = open.http1.endQuiet();
  const cut = (): void => {
    for (const socket of open.sockets) socket.destroy();
  };
  let timer = setTimeout(() => {
    open.http1.refuseLate();
    timer = setTimeout(cut, Math.min(drainMs, REFUSE_MS));
  }, drainMs);
  try {
    await closed;
  } finally {
    stopLooking();
    clearTimeout(timer);
    server.close(); // what it does beside the connections
  }
}
