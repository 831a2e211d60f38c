import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { ServingPair } from '../../machinery/process/self-made-pair.js';
import type { Access, PathAccess } from './authorize-metrics.js';

export interface HealthServerOptions {
  readonly address: string;
  /** 0: a free one. */
  readonly port: number;
  readonly pair: ServingPair;
  /** Why the process is not ready; undefined: it is. */
  readonly unready: () => string | undefined;
  readonly access: Pick<PathAccess, 'of'>;
  readonly registry: Registry;
}

export interface HealthServer {
  readonly port: number;
  /** Shows new connections another certificate. @throws {Error} for one that does not fit its key */
  use(pair: ServingPair): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

const OK: Answer = { status: 200, body: 'ok' };
const DENIED: Readonly<Record<Exclude<Access, 'allowed'>, Answer>> = {
  unauthenticated: { status: 401, body: 'Unauthorized' },
  forbidden: { status: 403, body: 'Forbidden' },
  unknown: { status: 503, body: 'The API server cannot be asked who this is' },
};
const HEADERS_MS = 10_000;

/** Says how a process is to anybody, and its metrics to those whom the API server lets read them. */
export async function openHealthServer(o: HealthServerOptions): Promise<HealthServer> {
  const ready = (): Answer => {
    const why = o.unready();
    return why === undefined ? OK : { status: 503, body: `not ready: ${why}` };
  };
  const metrics = async ({ headers }: IncomingMessage): Promise<Answer> => {
    const access = await o.access.of(headers.authorization, '/metrics');
    if (access !== 'allowed') return DENIED[access];
    return { status: 200, body: await o.registry.metrics(), type: o.registry.contentType };
  };
  const routes = new Map<string, (request: IncomingMessage) => Answer | Promise<Answer>>([
    ['/healthz', () => OK],
    ['/livez', () => OK],
    ['/readyz', ready],
    ['/metrics', metrics],
  ]);
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, body: 'Only GET' };
    const route = routes.get((request.url ?? '').split('?', 1)[0] ?? '');
    return route === undefined ? { status: 404, body: 'Not found' } : await route(request);
  };
  const bounds = { headersTimeout: HEADERS_MS, requestTimeout: HEADERS_MS };
  const server = createServer({ ...contextOf(o.pair), ...bounds }, (request, response) => {
    request.resume();
    answer(request).then(
      (it) => respond(response, it),
      () => respond(response, { status: 500, body: 'Internal error' }),
    );
  });
  server.listen(o.port, o.address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    use: (pair) => server.setSecureContext(contextOf(pair)),
    close: () => closed(server),
  };
}

const contextOf = (pair: ServingPair): ServingPair & { readonly minVersion: 'TLSv1.2' } => ({
  ...pair,
  minVersion: 'TLSv1.2',
});

function respond(response: ServerResponse, { status, body, type = 'text/plain; charset=utf-8' }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
  response.end(body);
}

async function closed(server: Server): Promise<void> {
  const ended = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await ended;
}
