import type { MetricsArea, Prom, Registry } from './area.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';

export interface WatchMetrics {
  /** Notes events that went out to one watcher. */
  sent(to: ResourceDeclaration, events: number): void;
  /** Notes a watch that ended because a change could not be shown to it. */
  failed(of: ResourceDeclaration): void;
}

interface Sent {
  readonly labels: { readonly group: string; readonly version: string; readonly kind: string };
  events: number;
  failures: number;
}

/** Counts in plain numbers, for there may be 100 000 events a second. */
export class CountedWatchEvents implements WatchMetrics, MetricsArea {
  readonly #byKind = new Map<string, Sent>();
  readonly #ofResource = new WeakMap<ResourceDeclaration, Sent>();

  register(prom: Prom, registry: Registry): void {
    const all = (): Iterable<Sent> => this.#byKind.values();
    new prom.Counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers',
      labelNames: ['group', 'version', 'kind'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, events } of all()) this.inc(labels, events);
      },
    });
    new prom.Counter({
      name: 'apiserver_watch_failures_total',
      help: 'Watches that ended because a change could not be shown to them',
      labelNames: ['group', 'version', 'kind'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, failures } of all()) if (failures > 0) this.inc(labels, failures);
      },
    });
  }

  sent(to: ResourceDeclaration, events: number): void {
    this.#of(to).events += events;
  }

  failed(of: ResourceDeclaration): void {
    this.#of(of).failures++;
  }

  #of(declaration: ResourceDeclaration): Sent {
    return this.#ofResource.get(declaration) ?? this.#find(declaration);
  }

  #find(declaration: ResourceDeclaration): Sent {
    const { group, version, kind } = declaration;
    const key = `${group}/${version}/${kind}`;
    const sent = this.#byKind.get(key) ?? { labels: { group, version, kind }, events: 0, failures: 0 };
    this.#byKind.set(key, sent);
    this.#ofResource.set(declaration, sent);
    return sent;
  }
}
