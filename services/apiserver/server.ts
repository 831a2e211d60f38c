import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { converter } from '../machinery/conversion/converter.js';
import { featureGates, type FeatureGates } from '../machinery/features/feature-gates.js';
import { Ownership } from '../machinery/ownership/ownership.js';
import { Defaulter } from '../machinery/defaulting/defaulter.js';
import { loadCatalog } from '../machinery/types/catalog.js';
import type { Catalog } from '../machinery/types/declarations.js';
import {
  vocabulary as vocabularyOf,
  type Vocabulary,
  type VocabularyName,
} from '../machinery/vocabulary/vocabulary.js';
import { runCompactor } from '../storage/compactor/compactor.js';
import type { KeyValueStore } from '../storage/store.js';
import { AdmissionChain } from './admission/chain.js';
import { namespaceLifecycle } from './admission/plugins/namespace-lifecycle.js';
import { clientCertificates } from './authentication/client-certificate.js';
import { tokenFile } from './authentication/token-file.js';
import type { Authenticator } from './authentication/types.js';
import { allowAuthenticated, allowPublicPaths } from './authorization/authenticated.js';
import { authorizeBy } from './authorization/stage.js';
import { Feed } from './cache/feed.js';
import { ConsistentReadGate } from './cache/gate.js';
import { HistoryBudget } from './cache/history.js';
import { pathRoutes } from './discovery/routes.js';
import { checkAdvertised, platformEndpoints } from './endpoints/open.js';
import type { PlatformEndpoints } from './endpoints/platform-endpoints.js';
import { HealthChecks } from './health/health-checks.js';
import { listen, type Listener } from './http/listener.js';
import { OpenStreams } from './http/stream.js';
import type { Log } from './log.js';
import { createMetrics, type ApiServerMetrics } from './metrics/metrics.js';
import { openStore } from './open-store.js';
import type { ApiServerOptions } from './options.js';
import { stages } from './pipeline/index.js';
import type { RequestState } from './pipeline/request.js';
import { mayUpgrade } from './pipeline/request-info.js';
import { attachAddresses, serviceAddresses } from './registry/addresses/open.js';
import { bootstrapNamespaces, settleVocabulary } from './registry/bootstrap.js';
import { runClaimRepair } from './registry/claims-repair.js';
import { FieldOwnership } from './registry/field-ownership.js';
import { registryKeys, type RegistryKeys } from './registry/keys.js';
import { LeasePool } from './registry/lease-pool.js';
import { Reader } from './registry/reader.js';
import { ResourceTable } from './registry/resources.js';
import { servedApi } from './registry/runtime-config.js';
import { strategies } from './registry/strategies/table.js';
import { WatchService } from './registry/watch-service.js';
import { Writer } from './registry/writer.js';
import { operationParts } from './subresources/options.js';
import { operations } from './subresources/table.js';
import { Bodies } from './verbs/decode-body.js';
import { verbTable } from './verbs/table.js';

/** Changes older than this are dropped from memory even when there is room. */
const HISTORY_RETAIN_MS = 10 * 60_000;
/** Requests that are under way when the listener closes get this long. */
const DRAIN_MS = 10_000;

export interface ApiServerDeps {
  readonly log: Log;
  /** `major.minor.patch` of the product. */
  readonly version: string;
  /** The server cannot go on; the process has to end. */
  readonly onFatal: (err: Error) => void;
}

export interface ApiServer {
  readonly port: number;
  /** Resolves when `/readyz` answers 200 for the first time. */
  ready(signal: AbortSignal): Promise<void>;
  /** Not ready, then the delay, then no new connections, watches ended, requests finished, store closed. */
  close(): Promise<void>;
}

/**
 * Starts a server: it listens when this resolves, and serves objects once `ready()`.
 *
 * @throws {Error} With one line that says why: files that cannot be read, a store that does not answer, a taken port.
 */
export async function startApiServer(o: ApiServerOptions, d: ApiServerDeps): Promise<ApiServer> {
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // every write under way listens to it
  const metrics = createMetrics({ showHiddenFor: o.showHiddenMetricsForVersion });
  const store = await openStore(o, {
    ...d,
    observe: (operation, seconds) => metrics.store.observe(operation, seconds),
  });
  try {
    const core = await buildCore(o, d, store, metrics, signal);
    const health = healthChecks(o, core, store);
    const handle = application(o, d, core, health, metrics).callback();
    const listener = await listen(
      {
        address: o.bindAddress,
        port: o.securePort,
        certFile: o.tlsCertFile,
        keyFile: o.tlsKeyFile,
        clientCaFile: o.clientCaFile,
        maxStreams: o.maxStreams,
        headerTimeoutMs: o.headerTimeoutMs,
        requestTimeoutMs: o.requestTimeoutMs,
        mayUpgrade,
        log: d.log,
      },
      (req, res) => void handle(req, res), // never rejects: the outermost stage answers every failure
    );
    const endpoints = platformEndpoints(o, { ...core, store, log: d.log }, listener.port);
    const running = runInBackground(o, d, core, { store, endpoints }, signal);
    return serverOf(o, core, health, listener, { store, stopping, running, metrics, endpoints });
  } catch (err) {
    await store.close();
    throw err;
  }
}

/** What reads and writes objects, without the HTTP around it. */
interface Core {
  readonly vocabulary: Vocabulary;
  readonly gates: FeatureGates;
  readonly catalog: Catalog;
  readonly api: ReturnType<typeof servedApi>['api'];
  readonly keys: RegistryKeys;
  readonly resources: ResourceTable;
  readonly feed: Feed;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ownership: FieldOwnership;
  readonly watches: WatchService;
  readonly streams: OpenStreams;
  /** The address of the service that leads to the API servers. */
  readonly serviceAddress: string;
  readonly state: { bootstrapped: boolean; stopping: boolean };
}

async function buildCore(
  o: ApiServerOptions,
  { log }: ApiServerDeps,
  store: KeyValueStore,
  metrics: ApiServerMetrics,
  signal: AbortSignal,
): Promise<Core> {
  const addresses = serviceAddresses(o);
  checkAdvertised(o);
  const vocabulary = vocabularyOf(o.vocabulary as VocabularyName); // one of the flag's choices
  const { gates, warnings: gateWarnings } = featureGates(o.featureGates);
  const catalog = loadCatalog(vocabulary, gates);
  const { api, warnings } = servedApi(catalog, o.runtimeConfig);
  for (const warning of [...gateWarnings, ...warnings]) log.warn(warning);
  const keys = registryKeys(o.etcdPrefix);
  await settleVocabulary(store, keys, vocabulary, signal);
  const defaulter = new Defaulter(catalog.types, vocabulary);
  const resources = new ResourceTable({
    catalog,
    converter: converter(catalog, vocabulary),
    defaulter,
    keys,
    strategyFor: strategies({ vocabulary, eventTtlSeconds: Math.ceil(o.eventTtlMs / 1000), addresses }),
    onUnreadable: (key, err) =>
      log.warn('A value in the store is no object of its resource and is left out', { key, err }),
    budget: new HistoryBudget({ maxBytes: o.watchHistoryBytes, retainMs: HISTORY_RETAIN_MS }),
  });
  const feed = new Feed({ store, prefix: keys.prefix, log });
  for (const { cache } of resources.allStored()) feed.register(cache);
  metrics.store.countObjectsBy(() =>
    [...resources.allStored()].map(({ hub, cache }): [string, number] => [
      hub.group === '' ? hub.resource : `${hub.resource}.${hub.group}`,
      cache.size,
    ]),
  );
  const leases = new LeasePool(store, signal);
  const reader = new Reader({
    store,
    feed,
    gate: new ConsistentReadGate(store, feed),
    consistentFrom: consistentFrom(o, store),
    chunks: gates.enabled('APIListChunking'),
    countsRemaining: gates.enabled('RemainingItemCount'),
    signal,
  });
  attachAddresses(addresses, { catalog, resources, reader });
  return {
    vocabulary,
    gates,
    catalog,
    api,
    keys,
    resources,
    feed,
    reader,
    ownership: new FieldOwnership(new Ownership(catalog.types, vocabulary)),
    writer: new Writer({
      store,
      signal,
      leaseFor: (ttlSeconds) => leases.leaseFor(ttlSeconds),
      claimKey: keys.claim,
    }),
    serviceAddress: addresses.firstAddress,
    watches: new WatchService(store, feed),
    streams: new OpenStreams(),
    state: { bootstrapped: false, stopping: false },
  };
}

function consistentFrom({ consistentReads }: ApiServerOptions, store: KeyValueStore): 'cache' | 'store' {
  if (consistentReads === 'cache' || consistentReads === 'store') return consistentReads;
  return store.capabilities().reliableProgress ? 'cache' : 'store';
}

function application(
  o: ApiServerOptions,
  d: ApiServerDeps,
  core: Core,
  health: HealthChecks,
  metrics: ApiServerMetrics,
): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.silent = true; // failures are logged by the outermost stage
  const authenticators: Authenticator[] = [];
  if (o.clientCaFile !== '') authenticators.push(clientCertificates);
  if (o.tokenAuthFile !== '') authenticators.push(tokenFile(o.tokenAuthFile));
  const authorize = authorizeBy([allowPublicPaths, allowAuthenticated]);
  const verbDeps = {
    ...core,
    authorize,
    watchMetrics: metrics.watches,
    admission: admissionChain(core),
    bodies: new Bodies({
      limits: { maxBytes: o.maxRequestBodyBytes, timeoutMs: o.requestTimeoutMs },
      catalog: core.catalog,
      protobufMediaTypes: core.vocabulary.acceptedProtobufMediaTypes,
    }),
  };
  const { limits, ...parts } = operationParts(o);
  const passing = { limits, streams: core.streams, words: core.vocabulary.protocols };
  const pipeline = stages({
    log: d.log,
    api: core.api,
    vocabulary: core.vocabulary,
    metrics: metrics.requests,
    deprecatedApis: metrics.deprecatedApis,
    authenticators,
    authorize,
    loaded: () => core.feed.loaded,
    resources: core.resources,
    verbs: verbTable(verbDeps),
    operations: operations({ ...verbDeps, ...parts, passing }),
    paths: pathRoutes({
      ...core,
      health,
      metrics,
      version: d.version,
      returnsDeleted: (declaration) => core.resources.served(declaration)?.stored.strategy.returnsDeleted ?? false,
    }),
  });
  for (const stage of pipeline) app.use(stage);
  return app;
}

function admissionChain({ resources, reader, vocabulary }: Core): AdmissionChain {
  const namespaces = resources.stored('', 'namespaces');
  if (namespaces === undefined) throw new Error('No declaration of namespaces');
  return new AdmissionChain([
    namespaceLifecycle({
      vocabulary,
      cachedPhase: (name) => namespaces.cache.get(`${namespaces.cache.keys.prefix}${name}`)?.field('status.phase'),
      storedPhase: async (name) => (await reader.getStored(namespaces, '', name)).field('status.phase'),
    }),
  ]);
}

function healthChecks(o: ApiServerOptions, core: Core, store: KeyValueStore): HealthChecks {
  const health = new HealthChecks({ livezGracePeriodMs: o.livezGracePeriodMs });
  const { feed, state } = core;
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  health.add({ name: 'log', endpoints: everywhere, check: () => true });
  health.add({
    name: 'etcd',
    endpoints: ['healthz', 'readyz'], // not livez: a restart does not bring the store back
    check: async (signal) => feed.ready && (await store.head(signal)) > 0,
  });
  health.add({ name: 'change-feed', endpoints: everywhere, check: () => feed.sound });
  health.add({ name: 'informer-sync', endpoints: ['readyz'], check: () => feed.loaded });
  health.add({
    name: 'poststarthook/bootstrap-system-namespaces',
    endpoints: everywhere,
    check: () => state.bootstrapped,
  });
  health.add({ name: 'shutdown', endpoints: ['readyz'], check: () => !state.stopping });
  return health;
}

/** The loops of the process. Resolves when all have ended, which they do when `signal` fires. */
async function runInBackground(
  o: ApiServerOptions,
  { log, onFatal }: ApiServerDeps,
  core: Core,
  { store, endpoints }: { readonly store: KeyValueStore; readonly endpoints: PlatformEndpoints },
  signal: AbortSignal,
): Promise<void> {
  const loops = [core.feed.run(signal), lookAfter(core, { store, endpoints, log }, signal)];
  if (o.etcdCompactionIntervalMs > 0) {
    const compactor = { store, key: core.keys.internal('compaction'), intervalMs: o.etcdCompactionIntervalMs, log };
    loops.push(runCompactor(compactor, signal));
  }
  try {
    await Promise.all(loops);
  } catch (err) {
    if (!signal.aborted) onFatal(err as Error);
  }
}

/** What every server does for all, once the first objects are there. Nobody waits for it. */
async function lookAfter(
  core: Core,
  {
    store,
    endpoints,
    log,
  }: { readonly store: KeyValueStore; readonly endpoints: PlatformEndpoints; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  await bootstrap(core, log, signal);
  const claims = {
    store,
    claimKey: core.keys.claim,
    reached: (at: number, timeoutMs: number) => core.reader.reached(at, timeoutMs),
    log,
  };
  await Promise.all([endpoints.run(signal), runClaimRepair(claims, core.resources.allStored(), signal)]);
}

const BOOTSTRAP_RETRY_MS = 500;
/** Asked again after an await: the compiler takes the answer from before it. */
const fired = (signal: AbortSignal): boolean => signal.aborted;

async function bootstrap(core: Core, log: Log, signal: AbortSignal): Promise<void> {
  const namespaces = core.resources.stored('', 'namespaces');
  while (!signal.aborted && !core.state.bootstrapped) {
    try {
      await core.feed.whenLoaded(signal);
      if (namespaces !== undefined) await bootstrapNamespaces(namespaces, core.writer, core.vocabulary);
      core.state.bootstrapped = true;
    } catch (err) {
      if (fired(signal)) return;
      log.warn('First namespaces could not be made yet', { err });
      await sleep(BOOTSTRAP_RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

function serverOf(
  o: ApiServerOptions,
  { state, streams }: Core,
  health: HealthChecks,
  listener: Listener,
  own: {
    readonly store: KeyValueStore;
    readonly metrics: ApiServerMetrics;
    readonly stopping: AbortController;
    readonly running: Promise<void>;
    readonly endpoints: PlatformEndpoints;
  },
): ApiServer {
  return {
    port: listener.port,
    ready: async (signal) => {
      while (!(await health.passes('readyz'))) await sleep(5, undefined, { signal });
      // Only now: it takes a part of the time to start. A scrape tells what is wrong when it fails.
      own.metrics.observeProcess().catch(() => undefined);
    },
    close: async () => {
      state.stopping = true;
      const left = own.endpoints.leave(); // first of all: who looks for a server finds another one
      if (o.shutdownDelayMs > 0) await sleep(o.shutdownDelayMs);
      const closed = listener.close(DRAIN_MS);
      streams.endAll();
      await closed;
      await left;
      own.stopping.abort(new Error('The server is stopping'));
      await own.running;
      await own.store.close();
    },
  };
}
