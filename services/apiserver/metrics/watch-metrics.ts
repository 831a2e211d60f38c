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

/** Most kinds that are counted each by itself: built-in ones are below 200, custom ones come and go. */
const MAX_KINDS = 1_000;
const OTHER = { group: 'other', version: 'other', kind: 'other' };

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
    let sent = this.#ofResource.get(declaration);
    if (sent === undefined) this.#ofResource.set(declaration, (sent = this.#find(declaration)));
    return sent;
  }

  #find({ group, version, kind }: ResourceDeclaration): Sent {
    const isKnown = this.#byKind.has(`${group}/${version}/${kind}`);
    return this.#with(isKnown || this.#byKind.size < MAX_KINDS ? { group, version, kind } : OTHER);
  }

  #with(labels: Sent['labels']): Sent {
    const key = `${labels.group}/${labels.version}/${labels.kind}`;
    const sent = this.#byKind.get(key) ?? { labels, events: 0, failures: 0 };
    this.#byKind.set(key, sent);
    return sent;
  }
}
