import type { MetricsArea, Prom, Registry } from './area.js';

export interface AuditMetrics {
  /** An event goes to the backends. */
  event(): void;
  /** A request is told of at this level. */
  level(level: string): void;
  /** Events did not get to where they should. @param plugin `log`, `webhook`, or `encoder` for what reached neither */
  lost(plugin: string, events: number): void;
  /** A request failed because nothing could be told of it. */
  rejected(): void;
}

/** Counts audited requests and lost events. Plain numbers: every request comes here. */
export class CountedAudit implements AuditMetrics, MetricsArea {
  #events = 0;
  #rejected = 0;
  readonly #levels = new Map<string, number>();
  readonly #lost = new Map<string, number>();

  event(): void {
    this.#events += 1;
  }

  level(level: string): void {
    this.#levels.set(level, (this.#levels.get(level) ?? 0) + 1);
  }

  lost(plugin: string, events: number): void {
    this.#lost.set(plugin, (this.#lost.get(plugin) ?? 0) + events);
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
    const totals = (name: string, help: string, label: string, of: ReadonlyMap<string, number>): void => {
      new prom.Counter({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect() {
          this.reset();
          for (const [value, count] of of) this.inc({ [label]: value }, count);
        },
      });
    };
    total('apiserver_audit_event_total', 'Audit events that were given to the backends', () => this.#events);
    totals(
      'apiserver_audit_level_total',
      'Requests by the level that the audit tells of them at',
      'level',
      this.#levels,
    );
    totals('apiserver_audit_error_total', 'Audit events that were lost, by backend', 'plugin', this.#lost);
    const rejected = 'Requests that failed because their first audit event could not be written';
    total('apiserver_audit_requests_rejected_total', rejected, () => this.#rejected);
  }
}
