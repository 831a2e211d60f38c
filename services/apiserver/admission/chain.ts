import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './plugin.js';

/** The plugins in their order, sorted by operation beforehand so that a write visits only those it concerns. */
export class AdmissionChain {
  readonly #mutating = new Map<AdmissionOperation, AdmissionPlugin[]>();
  readonly #validating = new Map<AdmissionOperation, AdmissionPlugin[]>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    for (const plugin of plugins) {
      for (const operation of plugin.operations) {
        if (plugin.mutate !== undefined) push(this.#mutating, operation, plugin);
        if (plugin.validate !== undefined) push(this.#validating, operation, plugin);
      }
    }
  }

  /** @throws {StatusError} of the first plugin that refuses */
  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#mutating.get(request.operation) ?? []) await plugin.mutate?.(request);
  }

  /** @throws {StatusError} of the first plugin that refuses */
  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#validating.get(request.operation) ?? []) await plugin.validate?.(request);
  }
}

function push(
  table: Map<AdmissionOperation, AdmissionPlugin[]>,
  key: AdmissionOperation,
  plugin: AdmissionPlugin,
): void {
  const plugins = table.get(key);
  if (plugins === undefined) table.set(key, [plugin]);
  else plugins.push(plugin);
}
