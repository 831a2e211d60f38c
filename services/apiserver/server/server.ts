import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateFile, type CertificateSource } from '../../machinery/metrics/file-metrics.js';
import { isWanted, openPlugins } from '../../machinery/plugins/plugins.js';
import { vocabulary, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { transformingStore } from '../../storage/encryption/transforming-store.js';
import type { KeyValueStore } from '../../storage/store.js';
import { openAggregation } from '../aggregation/open-aggregation.js';
import { application } from './application.js';
import type { Audit, AuditDeps } from '../audit/audit.js';
import { AUDIT_BACKENDS } from '../audit/backends/audit-backends.js';
import { runInBackground } from './background.js';
import { buildCore, type Core } from './core.js';
import { openEncryption, type Encryption } from '../encryption/encryption.js';
import { platformEndpoints } from '../endpoints/open-endpoints.js';
import type { PlatformEndpoints } from '../endpoints/platform-endpoints.js';
import { HealthChecks } from '../health/health-checks.js';
import { HEALTH_CHECKS } from './health-checks.js';
import { listen, type Listener } from '../http/listener.js';
import { mayBeWatchSocket } from '../http/watch-socket.js';
import type { ProcessLog } from '../../machinery/log/log.js';
import { createMetrics, type ApiServerMetrics, type OtherMetrics } from '../metrics/metrics.js';
import { registryKeys } from '../registry/keys.js';
import type { LiveCatalog } from '../registry/live-catalog.js';
import { openStore, type OpenStoreDeps } from './open-store.js';
import { tracedStore } from './traced-store.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { OpenedTracing, TracingDeps } from '../tracing/tracing.js';
import { mayUpgrade } from '../pipeline/request-info.js';

export interface ApiServerDeps {
  readonly log: ProcessLog;
  /** `major.minor.patch` of the product. */
  readonly version: string;
  /** The server cannot go on; the process has to end. */
  readonly onFatal: (err: Error) => void;
}

export interface ApiServer {
  readonly port: number;
  /** The live catalog: resources can be added to it and removed. */
  readonly catalog: Pick<LiveCatalog, 'current' | 'change'>;
  /** Shows the metrics of what runs beside it in its process on its own page. */
  includeMetrics(others: OtherMetrics): void;
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
  const { store, encryption } = await openEncryptedStore(o, d, metrics);
  let audit: Audit | undefined;
  let tracing: OpenedTracing | undefined;
  try {
    const core = await buildCore(o, d.log, store, metrics, signal);
    audit = await auditOf(o, { ...core, metrics: metrics.audit, log: d.log });
    tracing = await tracingOf(o, { ...core, ...d });
    const health = new HealthChecks(o, await openPlugins(HEALTH_CHECKS, o, { ...core, store, encryption }));
    metrics.state.tellFrom({
      isReady: () => health.passes('readyz'),
      gateTimeouts: () => core.gate.timeouts,
      feedLoads: () => core.feed.loads,
      certificates: certificatesOf(o),
    });
    const aggregation = openAggregation(o, { ...core, metrics, log: d.log });
    const app = await application(o, {
      ...d,
      signal,
      core,
      aggregation,
      health,
      metrics,
      audit,
      tracing: tracing?.stages,
    });
    const handle = app.callback();
    const listener = await listen(
      {
        address: o.bindAddress,
        port: o.securePort,
        certFile: o.tlsCertFile,
        keyFile: o.tlsKeyFile,
        clientCaFiles: [o.clientCaFile, o.requestHeaderClientCaFile].filter((file) => file !== ''),
        maxStreams: o.maxStreams,
        goawayChance: o.goawayChance,
        headerTimeoutMs: o.headerTimeoutMs,
        requestTimeoutMs: o.requestTimeoutMs,
        mayUpgrade: (req) =>
          mayUpgrade(req.url ?? '/') || mayBeWatchSocket(req) || aggregation.forwarder.mayUpgrade(req.url ?? '/'),
        log: d.log,
      },
      (req, res) => void handle(req, res), // never rejects: the outermost stage answers every failure
    );
    core.state.port = listener.port;
    const endpoints = platformEndpoints(o, { ...core, store, log: d.log }, listener.port);
    const running = runInBackground(o, { ...d, core, store, endpoints, aggregation }, signal);
    return serverOf(o, core, health, listener, { store, stopping, running, metrics, endpoints, audit, tracing });
  } catch (err) {
    await audit?.close();
    await tracing?.close();
    await store.close();
    throw err;
  }
}

/** The flags of files with certificates, by what these are for. */
const CERTIFICATES = {
  serving: 'tlsCertFile',
  'client authorities': 'clientCaFile',
  'request header authorities': 'requestHeaderClientCaFile',
  'etcd client': 'etcdCertFile',
  'etcd authorities': 'etcdCaFile',
  'node agent client': 'nodeAgentCertFile',
  'proxy client': 'proxyClientCertFile',
} as const satisfies Record<string, keyof ApiServerOptions>;

const certificatesOf = (o: ApiServerOptions): Map<string, CertificateSource> =>
  new Map(
    Object.entries(CERTIFICATES).flatMap(([name, flag]) =>
      o[flag] === '' ? [] : [[name, certificateFile(o[flag])] as const],
    ),
  );

/** All that reads or writes values goes through the encryption: it lies around the store. */
async function openEncryptedStore(
  o: ApiServerOptions,
  d: ApiServerDeps,
  metrics: ApiServerMetrics,
): Promise<{ readonly store: KeyValueStore; readonly encryption: Encryption }> {
  const encryption = await openEncryption(o, {
    log: d.log,
    metrics: metrics.encryption,
    vocabulary: vocabulary(o.vocabulary as VocabularyName), // one of the flag's choices
    prefix: registryKeys(o.etcdPrefix).prefix,
  });
  try {
    const observe: OpenStoreDeps['observe'] = (operation, seconds, err) => {
      metrics.store.observe(operation, seconds);
      if (err !== undefined) metrics.store.failed(operation, err);
    };
    const inner = tracedStore(await openStore(o, { ...d, observe }));
    const close = async (): Promise<void> => {
      encryption.close();
      await inner.close();
    };
    return { store: { ...transformingStore(inner, encryption.transformerOf), close }, encryption };
  } catch (err) {
    encryption.close();
    throw err;
  }
}

/** Loaded only where it is wanted. */
async function auditOf(o: ApiServerOptions, d: AuditDeps): Promise<Audit | undefined> {
  if (o.auditPolicyFile === '' && !AUDIT_BACKENDS.some((backend) => isWanted(o, backend))) return undefined;
  const { openAudit } = await import('../audit/audit.js');
  return openAudit(o, d);
}

/** Loaded only where it is wanted. */
async function tracingOf(
  { tracingConfigFile }: ApiServerOptions,
  d: TracingDeps & Pick<Core, 'gates'>,
): Promise<OpenedTracing | undefined> {
  if (tracingConfigFile === '' || !d.gates.enabled('APIServerTracing')) return undefined;
  const { openTracing } = await import('../tracing/tracing.js');
  return openTracing(tracingConfigFile, d);
}

function serverOf(
  o: ApiServerOptions,
  { live, state, streams }: Core,
  health: HealthChecks,
  listener: Listener,
  own: {
    readonly store: KeyValueStore;
    readonly metrics: ApiServerMetrics;
    readonly stopping: AbortController;
    readonly running: Promise<void>;
    readonly endpoints: PlatformEndpoints;
    readonly audit: Audit | undefined;
    readonly tracing: OpenedTracing | undefined;
  },
): ApiServer {
  return {
    port: listener.port,
    catalog: live,
    includeMetrics: (others) => own.metrics.include(others),
    ready: async (signal) => {
      while (!(await health.passes('readyz'))) await sleep(5, undefined, { signal });
      // Only now: it takes a part of the time to start. A scrape tells what is wrong when it fails.
      own.metrics.observeProcess().catch(() => undefined);
    },
    close: async () => {
      state.stopping = true;
      const left = own.endpoints.leave(); // first of all: who looks for a server finds another one
      listener.leave();
      if (o.shutdownDelayMs > 0) await sleep(o.shutdownDelayMs);
      const closed = listener.close(o.shutdownDrainMs);
      streams.endAll();
      await closed;
      await own.audit?.close(); // no request comes any more: the events of all are written
      await left;
      own.stopping.abort(new Error('The server is stopping'));
      await own.running;
      await own.tracing?.close();
      await own.store.close();
    },
  };
}
