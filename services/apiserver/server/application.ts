import Koa from 'koa';
import { openAdmission } from '../admission/admission-plugins.js';
import { AdmissionObjects } from '../admission/objects.js';
import type { Audit } from '../audit/audit.js';
import type { Aggregation } from '../aggregation/open-aggregation.js';
import { openAuthentication } from '../authentication/authenticators.js';
import { openAuthorizers } from '../authorization/authorizers.js';
import { whileStarting, type Settled } from '../authorization/constant-authorizers.js';
import { authorizeBy, decide } from '../authorization/stage.js';
import type { Core } from './core.js';
import { DEBUG_PATHS, debugging, type DebugDeps } from '../debug/debug-stage.js';
import { pathRoutes } from '../discovery/routes.js';
import { openFlowControl } from '../flowcontrol/open-flow-control.js';
import type { HealthChecks } from '../health/health-checks.js';
import type { ProcessLog } from '../../machinery/log/log.js';
import type { ApiServerMetrics } from '../metrics/metrics.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from '../options/flags.js';
import { stages } from './stages.js';
import type { RequestState } from '../request/request.js';
import { operationParts } from '../subresources/options.js';
import { operations } from '../subresources/operation-table.js';
import type { TracingStages } from '../tracing/request-stages.js';
import { Bodies } from '../verbs/decode-body.js';
import { verbTable } from '../verbs/dispatch.js';

export interface ApplicationDeps {
  readonly log: ProcessLog;
  /** Ends with the server. */
  readonly signal: AbortSignal;
  /** `major.minor.patch` of the product. */
  readonly version: string;
  readonly core: Core;
  readonly aggregation: Aggregation;
  readonly health: HealthChecks;
  readonly metrics: ApiServerMetrics;
  /** undefined: requests are not audited. */
  readonly audit: Audit | undefined;
  /** undefined: requests are not traced. */
  readonly tracing: TracingStages | undefined;
}

/**
 * Answers every request: the stages of the pipeline with what they work with.
 *
 * @throws {Error} In one line, for files that cannot be used.
 */
export async function application(
  o: ApiServerOptions,
  { core, aggregation, health, metrics, ...d }: ApplicationDeps,
): Promise<Koa<RequestState>> {
  const app = new Koa<RequestState>();
  app.silent = true; // failures are logged by the outermost stage
  const access = { ...core, ...d, metrics: metrics.webhooks, onOldKey: () => metrics.state.oldKey() };
  const { authenticators, tokenReviewer, issuerDocuments } = await openAuthentication(o, access);
  const settled = settledOf(core);
  const authorizers = [whileStarting(settled), ...(await openAuthorizers(o, access))];
  const authorize = authorizeBy(authorizers, settled);
  const verbDeps = {
    ...core,
    authorize,
    watchMetrics: metrics.watches,
    admission: await openAdmission(o, {
      ...core,
      ...d,
      objects: new AdmissionObjects(core.resources, core.reader),
      metrics: metrics.admission,
      decide: (...asked) => decide(authorizers, ...asked),
    }),
    bodies: new Bodies({
      limits: { maxBytes: o.maxRequestBodyBytes, timeoutMs: o.requestTimeoutMs },
      protobufMediaTypes: core.vocabulary.acceptedProtobufMediaTypes,
    }),
  };
  const { limits, ...parts } = operationParts(o, { ownPort: () => core.state.port, log: d.log });
  const proxying = { limits, streams: core.streams, words: core.vocabulary.protocols };
  const pipeline = stages({
    log: d.log,
    requestTimeoutMs: o.requestTimeoutMs,
    live: core.live,
    fresh: (asker) => core.reader.whenFresh(asker),
    elsewhere: aggregation.forwarder.elsewhere,
    vocabulary: core.vocabulary,
    metrics: metrics.requests,
    deprecatedApis: metrics.deprecatedApis,
    authentication: {
      authenticators,
      anonymous: o.anonymousAuth,
      settled,
      metrics: metrics.access,
      log: d.log,
      onRefused: d.audit?.onRefused ?? ((): void => undefined),
    },
    tracing: d.tracing,
    audit: d.audit?.stage,
    flowControl: openFlowControl(o, { ...core, metrics: metrics.flowControl }),
    authorization: {
      authorizers,
      settled,
      annotations: core.vocabulary.auditAnnotations,
      metrics: metrics.access,
    },
    authorize,
    feed: core.feed,
    resources: core.resources,
    verbs: verbTable(verbDeps),
    operations: operations({
      ...verbDeps,
      ...parts,
      proxying,
      tokenReviewer,
      authorizers,
      storeIsHealthy: async () => (await health.one('healthz', 'etcd')) === true,
    }),
    debugging: o.profiling ? debugging(debugDeps(o, { ...d, core, metrics })) : undefined,
    paths: pathRoutes({
      ...core,
      health,
      metrics,
      issuerDocuments,
      remote: aggregation.documents,
      forwardSchemas: aggregation.forwarder.schemas,
      version: d.version,
      otherPaths: o.profiling ? DEBUG_PATHS : [],
      returnsDeleted: (declaration) => core.resources.served(declaration)?.stored.strategy.returnsDeleted ?? false,
    }),
  });
  for (const stage of pipeline) app.use(stage);
  return app;
}

/** The objects are there, and so is the bootstrap policy where roles decide. */
const settledOf =
  ({ feed, state, access }: Core): Settled =>
  () =>
    feed.loaded && (access === undefined || state.policySettled);

const debugDeps = (
  o: ApiServerOptions,
  { core, metrics, version, log }: Pick<ApplicationDeps, 'core' | 'metrics' | 'version' | 'log'>,
): DebugDeps => ({
  flags: API_SERVER_FLAGS,
  options: o,
  status: { ...core, version, load: () => metrics.flowControl.load() },
  verbosity: log.verbosity,
});
