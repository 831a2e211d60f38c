import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { DEFAULT_GATES } from '../../../machinery/features/feature-gates.js';
import { vocabulary, type VocabularyName } from '../../../machinery/vocabulary/vocabulary.js';
import type { IssuerDocuments } from '../../authentication/service-accounts/issuer-documents.js';
import { HealthChecks, type HealthOptions } from '../../health/health-checks.js';
import { createMetrics } from '../../metrics/metrics.js';
import { bounds, respondToErrors } from '../../pipeline/exchange-stages.js';
import { requestInfo } from '../../pipeline/request-info.js';
import type { RequestState } from '../../request/request.js';
import type { CatalogVersion } from '../../registry/live-catalog.js';
import { NOTHING_REMOTE, type RemoteApi } from '../../registry/remote-api.js';
import { servedApi } from '../../registry/runtime-config.js';
import type { ServedApi } from '../../registry/served.js';
import { pathRoutes } from '../routes.js';

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  json(): Record<string, unknown>;
}

export interface PathServer {
  readonly health: HealthChecks;
  readonly port: number;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(method: string, path: string, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

interface PathServerOptions {
  readonly words?: VocabularyName;
  readonly health?: Partial<HealthOptions>;
  readonly runtimeConfig?: Readonly<Record<string, string>>;
  readonly issuerDocuments?: IssuerDocuments | undefined;
  /** The served API, in place of that of the catalog. */
  readonly api?: () => ServedApi;
  /** What others serve. */
  readonly remote?: () => RemoteApi;
}

/** The stages that paths need, on a real HTTP server. */
export async function startPathServer(o: PathServerOptions = {}): Promise<PathServer> {
  const words = vocabulary(o.words ?? 'platform');
  const catalog = loadCatalog(words);
  const { api } = servedApi(catalog, new Map(Object.entries(o.runtimeConfig ?? {})));
  const live = {
    get current(): CatalogVersion {
      return { catalog, api: o.api?.() ?? api };
    },
  };
  const health = new HealthChecks({ livezGracePeriodMs: 0, ...o.health });
  const app = new Koa<RequestState>();
  app.use(respondToErrors({ error: (message, keys) => app.emit('unexpected', message, keys) }));
  app.use(bounds(60_000));
  app.use(requestInfo(live));
  app.use(
    pathRoutes({
      live,
      remote: {
        get current(): RemoteApi {
          return o.remote?.() ?? NOTHING_REMOTE;
        },
      },
      forwardSchemas: (ctx, { path }) => {
        ctx.body = { forwarded: path };
        return Promise.resolve();
      },
      catalog,
      vocabulary: words,
      gates: DEFAULT_GATES,
      health,
      metrics: createMetrics(),
      issuerDocuments: o.issuerDocuments,
      version: '1.24.0',
      otherPaths: [],
      returnsDeleted: ({ resource }) => resource === 'pods',
    }),
  );
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const send: PathServer['send'] = (method, path, headers = {}) => ask(port, method, path, headers);
  return { health, port, send, get: (path, headers) => send('GET', path, headers), close: () => closed(server) };
}

async function ask(port: number, method: string, path: string, headers: Record<string, string>): Promise<Answer> {
  const req = request({ port, method, path, headers, agent: false });
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of res) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  const text = bytes.toString('utf8');
  const json = (): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
  return { code: res.statusCode ?? 0, headers: res.headers, bytes, text, json };
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
