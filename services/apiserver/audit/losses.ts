import type { AuditMetrics } from '../metrics/audit-metrics.js';
import type { OnLost } from './backends/backend.js';

/** Between two log entries about one backend: where one event is lost, thousands may follow. */
const LOG_EVERY_MS = 10_000;

interface Unreported {
  events: number;
  loggedAtMs: number;
}

/** Counts events that are lost, and logs the sum now and then. */
export class Losses {
  readonly #metrics: Pick<AuditMetrics, 'lost'>;
  readonly #log: { error(message: string, keys?: object): void };
  readonly #nowMs: () => number;
  readonly #unreported = new Map<Parameters<OnLost>[0], Unreported>();

  constructor(
    metrics: Pick<AuditMetrics, 'lost'>,
    log: { error(message: string, keys?: object): void },
    nowMs: () => number = () => performance.now(),
  ) {
    this.#metrics = metrics;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  readonly onLost: OnLost = (plugin, events, err) => {
    this.#metrics.lost(plugin, events);
    const unreported = this.#unreported.get(plugin) ?? { events: 0, loggedAtMs: -Infinity };
    unreported.events += events;
    this.#unreported.set(plugin, unreported);
    const now = this.#nowMs();
    if (now - unreported.loggedAtMs < LOG_EVERY_MS) return;
    this.#log.error('Audit events are lost', { backend: plugin, events: unreported.events, err });
    unreported.events = 0;
    unreported.loggedAtMs = now;
  };
}
