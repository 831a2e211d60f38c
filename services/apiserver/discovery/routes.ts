import Router from 'koa-router';
import type { Catalog, ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { FeatureGates } from '../../machinery/features/feature-gates.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import {
  CONFIGURATION_PATH,
  KEY_SET_PATH,
  type IssuerDocuments,
} from '../authentication/service-accounts/issuer-documents.js';
import { HEALTH_ENDPOINTS, type HealthChecks } from '../health/health-checks.js';
import { respondCheck, respondHealth } from '../health/respond.js';
import { negotiatePlain } from '../http/negotiation.js';
import { respondJson } from '../http/respond.js';
import type { ApiServerMetrics } from '../metrics/metrics.js';
import { OpenApi } from '../openapi/openapi.js';
import { methodRefused } from '../pipeline/request-info.js';
import type { Context, RequestState, Stage } from '../request/request.js';
import { unknownPath } from '../verbs/dispatch.js';
import type { LiveCatalog } from '../registry/live-catalog.js';
import type { RemoteApi, RemoteSchemas } from '../registry/remote-api.js';
import { Discovery } from './discovery.js';
import { Document, respondDocument } from '../http/document.js';
import { versionDocument } from './version.js';

export interface PathDeps {
  readonly live: Pick<LiveCatalog, 'current'>;
  /** What others serve behind this server, and who hands requests for it to them. */
  readonly remote: { readonly current: RemoteApi };
  readonly forwardSchemas: (ctx: Context, schemas: RemoteSchemas) => Promise<void>;
  readonly catalog: Catalog;
  readonly vocabulary: Vocabulary;
  readonly gates: FeatureGates;
  readonly health: HealthChecks;
  readonly metrics: Pick<ApiServerMetrics, 'render'>;
  /** undefined: no issuer of tokens is published. */
  readonly issuerDocuments?: IssuerDocuments | undefined;
  /** `major.minor.patch` of the product. */
  readonly version: string;
  /** Paths that others answer, to be listed with those from here. */
  readonly otherPaths: readonly string[];
  /** Whether a finished deletion answers what was deleted. */
  readonly returnsDeleted: (d: ResourceDeclaration) => boolean;
}

type PathRouter = Router<RequestState>;

/** The innermost stage for everything that is about no resource. */
export function pathRoutes(d: PathDeps): Stage {
  const router: PathRouter = new Router<RequestState>({ sensitive: true });
  const discovery = new Discovery(d);
  router.get('/', (ctx) => respondObject(ctx, { paths: allPaths(d, discovery) }));
  const version = versionDocument(d.version);
  router.get('/version', (ctx) => respondObject(ctx, version));
  router.get('/metrics', (ctx) => respondMetrics(ctx, d.metrics));
  routeDiscovery(router, discovery);
  routeHealth(router, d.health);
  routeOpenApi(router, new OpenApi(d), d.gates);
  if (d.issuerDocuments !== undefined) routeIssuer(router, d.issuerDocuments);
  const routes = router.routes() as Stage; // adds to the context what only its own handlers read
  return async (ctx) => {
    await routes(ctx, () => refuse(ctx));
  };
}

function routeDiscovery(router: PathRouter, discovery: Discovery): void {
  router.get('/api', (ctx) => discovery.core(ctx));
  router.get('/apis', (ctx) => discovery.groups(ctx));
  router.get('/api/:version', (ctx) => discovery.resources(ctx, '', param(ctx, 'version')));
  router.get('/apis/:group', (ctx) => discovery.group(ctx, param(ctx, 'group')));
  router.get('/apis/:group/:version', (ctx) => discovery.resources(ctx, param(ctx, 'group'), param(ctx, 'version')));
}

function routeHealth(router: PathRouter, health: HealthChecks): void {
  for (const endpoint of HEALTH_ENDPOINTS) {
    router.get(`/${endpoint}`, (ctx) => respondHealth(ctx, health, endpoint));
    router.get(`/${endpoint}/*check`, (ctx) => respondCheck(ctx, health, endpoint, param(ctx, 'check')));
  }
}

function routeOpenApi(router: PathRouter, openApi: OpenApi, gates: FeatureGates): void {
  router.get('/openapi/v2', (ctx) => openApi.v2(ctx));
  if (!gates.enabled('OpenAPIV3')) return;
  router.get('/openapi/v3', (ctx) => openApi.index(ctx));
  router.get('/openapi/v3/*path', (ctx) => openApi.groupVersion(ctx, param(ctx, 'path')));
}

/** Programs that verify tokens themselves ask again after an hour, and so learn of new keys. */
const KEPT_BY_ANYBODY = 'public, max-age=3600';

function routeIssuer(router: PathRouter, documents: IssuerDocuments): void {
  const answer = (path: string, content: () => object, type: string): void => {
    let made: { readonly of: object; readonly document: Document } | undefined;
    const headers = { 'Content-Type': type, 'Cache-Control': KEPT_BY_ANYBODY };
    router.get(path, (ctx) => {
      const of = content();
      if (made?.of !== of) made = { of, document: new Document(of) };
      return respondDocument(ctx, made.document, headers);
    });
  };
  answer(CONFIGURATION_PATH, () => documents.configuration, 'application/json');
  answer(KEY_SET_PATH, () => documents.keySet, 'application/jwk-set+json');
}

const param = (ctx: { readonly params: Readonly<Record<string, string>> }, name: string): string =>
  ctx.params[name] ?? '';

/** For paths that have no route, or none for the method. */
function refuse(ctx: Context & { readonly matched?: readonly unknown[] }): never {
  if (ctx.matched === undefined || ctx.matched.length === 0) throw unknownPath();
  throw methodRefused(ctx, READS);
}
/** All that any of these paths knows. */
const READS = ['GET', 'HEAD'];

/** The paths that `/` lists. */
function allPaths({ gates, health, issuerDocuments, otherPaths }: PathDeps, discovery: Discovery): readonly string[] {
  const checks = HEALTH_ENDPOINTS.flatMap((e) => [`/${e}`, ...health.names(e).map((name) => `/${e}/${name}`)]);
  const v3 = gates.enabled('OpenAPIV3') ? ['/openapi/v3'] : [];
  const issuer = issuerDocuments === undefined ? [] : [CONFIGURATION_PATH, KEY_SET_PATH];
  const others = ['/api', '/apis', '/metrics', '/openapi/v2', ...v3, ...issuer, '/version'];
  return [...new Set([...discovery.paths(), ...checks, ...others, ...otherPaths])].sort();
}

async function respondObject(ctx: Context, object: object): Promise<void> {
  await respondJson(ctx, 200, Buffer.from(JSON.stringify(object)), negotiatePlain(ctx.get('Accept')));
}

async function respondMetrics(ctx: Context, metrics: PathDeps['metrics']): Promise<void> {
  const { contentType, body } = await metrics.render();
  ctx.status = 200;
  ctx.set({ 'Content-Type': contentType, 'Cache-Control': 'no-cache, private' });
  ctx.body = body;
}
