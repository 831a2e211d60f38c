import { registerFileMetrics, type CertificateSource } from '../../machinery/metrics/file-metrics.js';
import type { MetricsArea, Prom, Registry } from './area.js';

/** Where the numbers are to be had; asked at each scrape. */
export interface StateSources {
  readonly isReady: () => Promise<boolean>;
  /** Consistent reads that failed because the cache did not get there in time, or the store did not answer. */
  readonly gateTimeouts: () => number;
  /** How often everything was loaded from the store. */
  readonly feedLoads: () => number;
  readonly certificates: ReadonlyMap<string, CertificateSource>;
}

export interface StateMetrics {
  tellFrom(sources: StateSources): void;
  /** A token of a service account was verified, for the first time, with another key than the one that signs. */
  oldKey(): void;
}

/** How the server stands: what alerts are about. */
export class ServerState implements StateMetrics, MetricsArea {
  #sources: StateSources | undefined;
  readonly #certificates = new Map<string, CertificateSource>();
  #oldKeys = 0;

  tellFrom(sources: StateSources): void {
    this.#sources = sources;
    for (const [name, source] of sources.certificates) this.#certificates.set(name, source);
  }

  oldKey(): void {
    this.#oldKeys += 1;
  }

  register(prom: Prom, registry: Registry): void {
    const total = (name: string, help: string, of: () => number): void => {
      new prom.Counter({
        name,
        help,
        registers: [registry],
        collect() {
          this.reset();
          this.inc(of());
        },
      });
    };
    const late = 'Consistent reads that failed, as the cache was behind the store or the store did not answer';
    total('apiserver_cache_gate_timeouts_total', late, () => this.#sources?.gateTimeouts() ?? 0);
    const loads = 'How often the whole store was loaded again, which ends all watches';
    total('apiserver_feed_restarts_total', loads, () => Math.max(0, (this.#sources?.feedLoads() ?? 0) - 1));
    const old = 'Tokens of service accounts that were verified with another key than the one that signs';
    total('apiserver_service_account_old_key_tokens_total', old, () => this.#oldKeys);
    const isReady = async (): Promise<boolean> => (await this.#sources?.isReady()) ?? false;
    new prom.Gauge({
      name: 'apiserver_ready',
      help: 'Whether the server is ready to serve (1), as /readyz says',
      registers: [registry],
      async collect() {
        this.set((await isReady()) ? 1 : 0);
      },
    });
    registerFileMetrics(prom, registry, this.#certificates);
  }
}
