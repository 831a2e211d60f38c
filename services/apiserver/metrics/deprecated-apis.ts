import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { MetricsArea, Prom, Registry } from './area.js';

export interface DeprecatedApiMetrics {
  /** Counts a use of a deprecated version. */
  requested(declaration: ResourceDeclaration, subresource: string): void;
}

const LABEL_NAMES = ['group', 'version', 'resource', 'subresource', 'removed_release'] as const;

/** Which deprecated versions are in use: 1 from the first request on. */
export class RequestedDeprecatedApis implements DeprecatedApiMetrics, MetricsArea {
  readonly #requested = new Map<string, Readonly<Record<(typeof LABEL_NAMES)[number], string>>>();

  register(prom: Prom, registry: Registry): void {
    const all = (): Iterable<Readonly<Record<string, string>>> => this.#requested.values();
    new prom.Gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated versions that were asked for, with the release that will not serve them any more',
      labelNames: LABEL_NAMES,
      registers: [registry],
      collect() {
        for (const labels of all()) this.set(labels, 1);
      },
    });
  }

  requested({ group, version, resource, removed = '' }: ResourceDeclaration, subresource: string): void {
    const key = `${group}/${version}/${resource}/${subresource}`;
    if (!this.#requested.has(key)) {
      this.#requested.set(key, { group, version, resource, subresource, removed_release: removed });
    }
  }
}
