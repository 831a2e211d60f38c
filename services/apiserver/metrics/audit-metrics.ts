import type { ObserveBreaker } from './breaker-metrics.js';
import type { MetricsArea, Prom, Registry } from './area.js';
import { Counts } from './series.js';

export interface AuditMetrics {
  /** An event goes to the backends. */
  event(): void;
  /** A request is told of at this level. */
  level(level: string): void;
  /** Events did not get to where they should. @param plugin `log`, `webhook`, or `encoder` for what reached neither */
  lost(plugin: string, events: number): void;
  /** A request failed because nothing could be told of it. */
  rejected(): void;
  /** How the breaker before a peer stands. */
  readonly breaker: ObserveBreaker;
}

/** Counts audited requests and lost events. Plain numbers: every request comes here. */
export class CountedAudit implements AuditMetrics, MetricsArea {
  readonly breaker: ObserveBreaker;

  constructor(breakers: ObserveBreaker) {
    this.breaker = breakers;
  }

  #events = 0;
  #rejected = 0;
  readonly #levels = new Counts(
    'apiserver_audit_level_total',
    'Requests by the level that the audit tells of them at',
    'level',
  );
  readonly #lost = new Counts('apiserver_audit_error_total', 'Audit events that were lost, by backend', 'plugin');

  event(): void {
    this.#events += 1;
  }

  level(level: string): void {
    this.#levels.add(level);
  }

  lost(plugin: string, events: number): void {
    this.#lost.add(plugin, events);
  }

  rejected(): void {
    this.#rejected += 1;
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
    total('apiserver_audit_event_total', 'Audit events that were given to the backends', () => this.#events);
    this.#levels.register(prom.Counter, registry);
    this.#lost.register(prom.Counter, registry);
    const rejected = 'Requests that failed because their first audit event could not be written';
    total('apiserver_audit_requests_rejected_total', rejected, () => this.#rejected);
  }
}
