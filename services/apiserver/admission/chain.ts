import { qualified } from '../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './plugin.js';

/** The plugins in their order. A write visits only those that handle its operation on its resource. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #handling = new WeakMap<ResourceDeclaration, Map<AdmissionOperation, readonly AdmissionPlugin[]>>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /** @throws {StatusError} of the first plugin that refuses */
  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#handlingOf(request)) await plugin.mutate?.(request);
  }

  /** @throws {StatusError} of the first plugin that refuses */
  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#handlingOf(request)) await plugin.validate?.(request);
  }

  /** Found once for each resource and operation. */
  #handlingOf({ resource, operation }: AdmissionRequest): readonly AdmissionPlugin[] {
    let byOperation = this.#handling.get(resource);
    if (byOperation === undefined)
      this.#handling.set(resource, (byOperation = new Map<AdmissionOperation, readonly AdmissionPlugin[]>()));
    let plugins = byOperation.get(operation);
    if (plugins === undefined) {
      const name = qualified(resource);
      plugins = this.#plugins.filter(
        ({ operations, resources }) => operations.includes(operation) && (resources?.includes(name) ?? true),
      );
      byOperation.set(operation, plugins);
    }
    return plugins;
  }
}
