import { CountedAccess, type AccessMetrics } from './access-metrics.js';
import { CountedAdmission, type AdmissionMetrics } from './admission-metrics.js';
import type { MetricsArea, Registry } from './area.js';
import { CountedAggregation, type AggregationMetrics } from './aggregation-metrics.js';
import { CountedAudit, type AuditMetrics } from './audit-metrics.js';
import { CountedBreakers, type ObserveBreaker } from './breaker-metrics.js';
import { showsDeprecated, type ShowsDeprecated } from './deprecated.js';
import { RequestedDeprecatedApis, type DeprecatedApiMetrics } from './deprecated-apis.js';
import { CountedConversions, type ConversionMetrics } from './conversion-metrics.js';
import { CountedEncryption, type EncryptionMetrics } from './encryption-metrics.js';
import { CountedFlowControl, type FlowControlMetrics } from './flow-control-metrics.js';
import { CountedRequests, type RequestMetrics } from './request-metrics.js';
import { ServerState, type StateMetrics } from './state-metrics.js';
import { CountedStore, type StoreMetrics } from './store-metrics.js';
import { CountedWatchEvents, type WatchMetrics } from './watch-metrics.js';
import { CountedWebhooks, type WebhookMetrics } from './webhook-metrics.js';

/** Metrics of one server. Each server has its own, so that several can live in one process. */
export interface ApiServerMetrics {
  readonly requests: RequestMetrics;
  readonly watches: WatchMetrics;
  readonly store: StoreMetrics;
  readonly deprecatedApis: DeprecatedApiMetrics;
  readonly access: AccessMetrics;
  readonly audit: AuditMetrics;
  readonly flowControl: FlowControlMetrics;
  readonly webhooks: WebhookMetrics;
  readonly admission: AdmissionMetrics;
  readonly conversions: ConversionMetrics;
  readonly aggregation: AggregationMetrics;
  /** Makes known how breakers of peers stand. */
  readonly breakers: { readonly observe: ObserveBreaker };
  readonly encryption: EncryptionMetrics;
  readonly state: StateMetrics;
  /** Begins to look at the process and its event loop. Not needed for the rest, which counts from the start. */
  observeProcess(): Promise<void>;
  /** Shows the metrics of what runs beside the server in its process. */
  include(others: OtherMetrics): void;
  /** Everything that was counted, in the text form of Prometheus. */
  render(): Promise<RenderedMetrics>;
}

/** A registry of metrics whose names the server does not have. */
export interface OtherMetrics {
  /** In the text form of Prometheus. */
  metrics(): Promise<string>;
}

export interface RenderedMetrics {
  readonly contentType: string;
  readonly body: string;
}

export interface MetricsOptions {
  /** The release whose hidden metrics are shown; '' for none. */
  readonly showHiddenFor: string;
}

/** @throws {FlagError} for a release that has no hidden metrics */
export function createMetrics({ showHiddenFor }: MetricsOptions = { showHiddenFor: '' }): ApiServerMetrics {
  const shows = showsDeprecated(showHiddenFor);
  const breakers = new CountedBreakers();
  const areas = {
    breakers,
    requests: new CountedRequests(),
    watches: new CountedWatchEvents(),
    store: new CountedStore(),
    deprecatedApis: new RequestedDeprecatedApis(),
    access: new CountedAccess(),
    audit: new CountedAudit(breakers.observe),
    flowControl: new CountedFlowControl(),
    webhooks: new CountedWebhooks(breakers.observe),
    admission: new CountedAdmission(breakers.observe),
    conversions: new CountedConversions(breakers.observe),
    aggregation: new CountedAggregation(),
    encryption: new CountedEncryption(breakers.observe),
    state: new ServerState(),
  };
  const others: OtherMetrics[] = [];
  let loading: Promise<Registry> | undefined;
  const registry = (): Promise<Registry> => (loading ??= load(Object.values(areas), shows));
  return {
    ...areas,
    observeProcess: async () => {
      await registry();
    },
    include: (it) => void others.push(it),
    render: async () => {
      const own = await registry();
      const texts = await Promise.all([own, ...others].map((it) => it.metrics()));
      return { contentType: own.contentType, body: texts.join('') };
    },
  };
}

/** Between two looks at the event loop's lag. The library's 10 ms alone wake an idle server a hundred times a second. */
const LOOP_PRECISION_MS = 100;

async function load(areas: readonly MetricsArea[], shows: ShowsDeprecated): Promise<Registry> {
  const prom = await import('prom-client');
  const registry = new prom.Registry();
  // process and event loop
  prom.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
  for (const area of areas) area.register(prom, registry, shows);
  return registry;
}
