import type { AuditMetrics } from '../metrics/audit-metrics.js';
import type { OnLost } from './backends/backend.js';

/** How often the log tells of one backend: where one event is lost, thousands may follow. */
const TELL_EVERY_MS = 10_000;

interface Untold {
  events: number;
  toldAtMs: number;
}

/** Counts events that are lost, and now and then tells the operator. */
export class Losses {
  readonly #metrics: Pick<AuditMetrics, 'lost'>;
  readonly #log: { error(message: string, keys?: object): void };
  readonly #nowMs: () => number;
  readonly #untold = new Map<Parameters<OnLost>[0], Untold>();

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
    const untold = this.#untold.get(plugin) ?? { events: 0, toldAtMs: -Infinity };
    untold.events += events;
    this.#untold.set(plugin, untold);
    const now = this.#nowMs();
    if (now - untold.toldAtMs < TELL_EVERY_MS) return;
    this.#log.error('Audit events are lost', { backend: plugin, events: untold.events, err });
    untold.events = 0;
    untold.toldAtMs = now;
  };
}
