import { collectDefaultMetrics, Registry } from 'prom-client';
import { CountedRequests, type RequestMetrics } from './request-metrics.js';
import { CountedStore, type StoreMetrics } from './store-metrics.js';
import { CountedWatchEvents, type WatchMetrics } from './watch-metrics.js';

/** What one server counts. Each server has its own, so that several can live in one process. */
export interface ApiServerMetrics {
  readonly requests: RequestMetrics;
  readonly watches: WatchMetrics;
  readonly store: StoreMetrics;
  /** For what other areas count: they register it here. */
  readonly registry: Registry;
  /** Everything that was counted, in the text form of Prometheus. */
  render(): Promise<RenderedMetrics>;
}

export interface RenderedMetrics {
  readonly contentType: string;
  readonly body: string;
}

export function createMetrics(): ApiServerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry }); // process and event loop
  return {
    requests: new CountedRequests(registry),
    watches: new CountedWatchEvents(registry),
    store: new CountedStore(registry),
    registry,
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
