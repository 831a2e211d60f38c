import http, { type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { freePorts } from '../../../services/machinery/testing/free-port.js';
import type { CertificateFiles } from '../../../services/storage/testing/certificates.js';

/** An address of this machine that is not a loopback one: the server connects to no other. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (found === undefined) throw new Error('This machine needs an address that is not a loopback one');
  return found;
}

/** What a target was asked. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Of the client certificate; '' without one. */
  readonly subject: string;
}

/** Answers a request, which is in `seen` already when its body has come. */
export type Answer = (req: IncomingMessage, res: ServerResponse, target: Target) => void;

/** A server that objects of a test name. */
export class Target {
  readonly seen: Seen[] = [];
  /** Connections that are open. */
  readonly sockets = new Set<Socket>();
  readonly port: number;
  readonly #server: net.Server;

  constructor(server: net.Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on(server instanceof https.Server ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}

async function listening(server: net.Server): Promise<Target> {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return new Target(server);
}

/** Tells what it was asked as JSON. */
export const tellBack: Answer = (_req, res, { seen }) => {
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify(seen.at(-1)));
};

export interface HttpTargetOptions {
  readonly answer?: Answer;
  /** Hears of the request when its head is there, and not when it is complete. */
  readonly early?: boolean;
  /** Answers requests for another protocol; absent: with 101 and everything that comes. */
  readonly upgrade?: (req: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Speaks TLS. */
  readonly files?: CertificateFiles;
}

export async function httpTarget(o: HttpTargetOptions = {}): Promise<Target> {
  const answer = o.answer ?? tellBack;
  const listener: RequestListener = (req, res) => {
    if (o.early === true) {
      answer(req, res, target);
      return;
    }
    void bodyOf(req).then((body) => {
      target.seen.push(seen(req, body));
      answer(req, res, target);
    });
  };
  const server: Server =
    o.files === undefined
      ? http.createServer(listener)
      : https.createServer(
          {
            cert: readFileSync(o.files.certFile),
            key: readFileSync(o.files.keyFile),
            ca: readFileSync(o.files.caFile),
            requestCert: true,
            rejectUnauthorized: false,
          },
          listener,
        );
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    target.seen.push(seen(req, ''));
    (o.upgrade ?? echo)(req, socket, head);
  });
  const target = await listening(server);
  return target;
}

/** Agrees to what is asked, and says back what it hears. */
export function echo(req: IncomingMessage, socket: Socket, head: Buffer): void {
  const protocol = req.headers.upgrade ?? '';
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\nhello;`);
  socket.write(head);
  socket.pipe(socket);
}

/** Takes connections and does with them what the test says; nothing, if it says nothing. */
export const tcpTarget = (onConnection: (socket: Socket) => void = () => undefined): Promise<Target> =>
  listening(net.createServer(onConnection));

/** A port on which nobody listens. */
export const deadPort = async (): Promise<number> => (await freePorts(1))[0] ?? 0;

const seen = (req: IncomingMessage, body: string): Seen => ({
  method: req.method ?? '',
  url: req.url ?? '',
  headers: req.headers,
  body,
  subject: 'getPeerCertificate' in req.socket ? subjectOf(req.socket) : '',
});

function subjectOf(socket: object): string {
  const { subject } = (socket as TLSSocket).getPeerCertificate() as { subject?: { CN?: string } };
  return subject?.CN ?? '';
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of req) parts.push(part as Buffer);
  } catch {
    // cut: what came is what was seen
  }
  return Buffer.concat(parts).toString('utf8');
}
