import { qualified, type ResourceName } from '../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { Companion } from '../registry/companions.js';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest, MutatingPhase, StoredChange } from './plugin.js';

const NOTHING: readonly Companion[] = [];

type Plugins = readonly AdmissionPlugin[];

/** The plugins that handle one operation on one resource. */
interface Handling {
  readonly mutating: Plugins;
  readonly validating: Plugins;
}

/** The plugins in their order. A request visits only those that handle its operation on its resource. */
export class AdmissionChain {
  readonly #plugins: Plugins;
  readonly #handling = new WeakMap<ResourceDeclaration, Map<AdmissionOperation, Handling>>();
  readonly #charging = new WeakMap<ResourceDeclaration, Plugins>();

  constructor(plugins: Plugins) {
    this.#plugins = plugins;
  }

  /** The mutating phase: one round, and a second one when a plugin asks for it. @throws {StatusError} */
  async mutate(request: AdmissionRequest): Promise<void> {
    const { mutating } = this.#handlingOf(request);
    const rounds = { wanted: 1 };
    for (let round = 0; round < rounds.wanted; round++) {
      await mutateInOrder(mutating, request, { isReinvocation: round > 0, reinvoke: () => (rounds.wanted = 2) });
    }
  }

  /** The validating phase. @throws {StatusError} of the first plugin that refuses */
  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#handlingOf(request).validating) {
      const pending = plugin.validate?.(request);
      if (pending !== undefined) await pending;
    }
  }

  /** What changes along with an object. @throws {StatusError} */
  charge(change: StoredChange): Promise<readonly Companion[]> | readonly Companion[] {
    const plugins = this.#chargingOf(change.stored.hub);
    return plugins.length === 0 ? NOTHING : chargeInOrder(plugins, change);
  }

  async close(): Promise<void> {
    for (const plugin of this.#plugins) await plugin.close?.();
  }

  /** Found once for each resource and operation. */
  #handlingOf({ resource, operation }: AdmissionRequest): Handling {
    let byOperation = this.#handling.get(resource);
    if (byOperation === undefined) {
      this.#handling.set(resource, (byOperation = new Map<AdmissionOperation, Handling>()));
    }
    let handling = byOperation.get(operation);
    if (handling === undefined) {
      const asked = this.#plugins.filter((plugin) => plugin.operations.includes(operation) && covers(plugin, resource));
      const mutating = asked.filter((plugin) => 'mutate' in plugin);
      handling = { mutating, validating: asked.filter((plugin) => 'validate' in plugin) };
      byOperation.set(operation, handling);
    }
    return handling;
  }

  #chargingOf(hub: ResourceDeclaration): Plugins {
    let plugins = this.#charging.get(hub);
    if (plugins === undefined) {
      plugins = this.#plugins.filter((plugin) => 'charge' in plugin && covers(plugin, hub));
      this.#charging.set(hub, plugins);
    }
    return plugins;
  }
}

const covers = ({ resources }: AdmissionPlugin, resource: ResourceName): boolean =>
  resources?.includes(qualified(resource)) ?? true;

async function mutateInOrder(plugins: Plugins, request: AdmissionRequest, phase: MutatingPhase): Promise<void> {
  for (const plugin of plugins) {
    const pending = plugin.mutate?.(request, phase);
    if (pending !== undefined) await pending;
  }
}

async function chargeInOrder(plugins: Plugins, change: StoredChange): Promise<readonly Companion[]> {
  const companions: Companion[] = [];
  for (const plugin of plugins) companions.push(...((await plugin.charge?.(change)) ?? NOTHING));
  return companions;
}
