import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { KeyPair } from './certificates.js';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Common name of the client's certificate; undefined when it showed none. */
  readonly client: string | undefined;
  /** The port of the client: the same for requests on the same connection. */
  readonly connection: number;
}

export type Handler = (received: Received, res: ServerResponse) => void;

export interface TlsService {
  /** `https://localhost:PORT` */
  readonly url: string;
  readonly port: number;
  /** In the order of arrival. */
  readonly received: Received[];
  /** Answers from now on. */
  answer: Handler;
  /** Ends the connections on which nothing is under way. */
  closeIdle(): void;
  close(): Promise<void>;
}

export const answerJson = (res: ServerResponse, body: unknown, status = 200): void =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A real service over TLS that asks for a client certificate, and takes any. */
export async function startTlsService(pair: KeyPair, answer: Handler, host = '127.0.0.1'): Promise<TlsService> {
  const server = createServer({ ...pair, requestCert: true, rejectUnauthorized: false });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const service: TlsService = {
    url: `https://localhost:${port}`,
    port,
    received: [],
    answer,
    closeIdle: () => server.closeIdleConnections(),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const answerTo = (received: Received): void => {
      service.received.push(received);
      service.answer(received, res);
    };
    read(req).then(answerTo, () => res.destroy()); // who leaves while asking needs no answer
  });
  return service;
}

async function read(req: IncomingMessage): Promise<Received> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece as Buffer);
  const { socket } = req;
  assert.ok(socket instanceof TLSSocket);
  const { subject } = socket.getPeerCertificate() as { subject?: { CN: string } };
  return {
    method: req.method ?? '',
    path: req.url ?? '',
    headers: req.headers,
    body: Buffer.concat(pieces).toString('utf8'),
    client: subject?.CN,
    connection: socket.remotePort ?? 0,
  };
}
