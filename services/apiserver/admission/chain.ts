import { qualified, type ResourceName } from '../../machinery/meta/status.js';
import { traced } from '../../machinery/tracing/trace.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { AdmissionMetrics, AdmissionStep, StepTimes } from '../metrics/admission-metrics.js';
import type { Companion } from '../registry/companions.js';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest, MutatingPhase, StoredChange } from './plugin.js';

const NOTHING: readonly Companion[] = [];

type Plugins = readonly AdmissionPlugin[];

/** A plugin and its times. */
interface Timed {
  readonly plugin: AdmissionPlugin;
  readonly times: StepTimes;
}

/** The plugins that handle one operation on one resource. */
interface Handling {
  readonly mutating: readonly Timed[];
  readonly validating: readonly Timed[];
}

/** The plugins in their order. A request visits only those that handle its operation on its resource. */
export class AdmissionChain {
  readonly #plugins: Plugins;
  readonly #timed: readonly Timed[];
  readonly #steps: StepTimes;
  readonly #handling = new WeakMap<ResourceDeclaration, Map<AdmissionOperation, Handling>>();
  readonly #charging = new WeakMap<ResourceDeclaration, Plugins>();

  /** @param plugins By name, in their order. */
  constructor(plugins: ReadonlyMap<string, AdmissionPlugin>, metrics: Pick<AdmissionMetrics, 'plugin' | 'steps'>) {
    this.#plugins = [...plugins.values()];
    this.#timed = [...plugins].map(([name, plugin]) => ({ plugin, times: metrics.plugin(name) }));
    this.#steps = metrics.steps;
  }

  /** The mutating phase: one round, and a second one when a plugin asks for it. @throws {StatusError} */
  async mutate(request: AdmissionRequest): Promise<void> {
    const { mutating } = this.#handlingOf(request);
    if (mutating.length === 0) return;
    const rounds = { wanted: 1 };
    await phase(this.#steps, 'admit', request.operation, async () => {
      for (let round = 0; round < rounds.wanted; round++) {
        await mutateInOrder(mutating, request, { isReinvocation: round > 0, reinvoke: () => (rounds.wanted = 2) });
      }
    });
  }

  /** The validating phase. @throws {StatusError} of the first plugin that refuses */
  async validate(request: AdmissionRequest): Promise<void> {
    const { validating } = this.#handlingOf(request);
    if (validating.length === 0) return;
    await phase(this.#steps, 'validate', request.operation, async () => {
      for (const { plugin, times } of validating) {
        const pending = observed(times, 'validate', request.operation, () => plugin.validate?.(request));
        if (pending !== undefined) await pending;
      }
    });
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
      const asked = this.#timed.filter(
        ({ plugin }) => plugin.operations.includes(operation) && covers(plugin, resource),
      );
      const mutating = asked.filter(({ plugin }) => 'mutate' in plugin);
      handling = { mutating, validating: asked.filter(({ plugin }) => 'validate' in plugin) };
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

/** One of the two phases, of which traces tell as well. */
const phase: typeof observed = (times, step, operation, run) =>
  traced(`Admission ${step}`, { operation }, () => observed(times, step, operation, run));

/** Runs a step and notes how long it took, and whether it threw. */
function observed(
  times: StepTimes,
  step: AdmissionStep,
  operation: AdmissionOperation,
  run: () => Promise<void> | void,
): Promise<void> | void {
  const started = performance.now();
  const end = (rejected: boolean): void =>
    times.observe(step, operation, rejected, (performance.now() - started) / 1000);
  try {
    const pending = run();
    if (pending !== undefined)
      return pending.then(
        () => end(false),
        (err: unknown) => {
          end(true);
          throw err;
        },
      );
  } catch (err) {
    end(true);
    throw err;
  }
  end(false);
  return undefined;
}

async function mutateInOrder(
  plugins: readonly Timed[],
  request: AdmissionRequest,
  phase: MutatingPhase,
): Promise<void> {
  for (const { plugin, times } of plugins) {
    const pending = observed(times, 'admit', request.operation, () => plugin.mutate?.(request, phase));
    if (pending !== undefined) await pending;
  }
}

async function chargeInOrder(plugins: Plugins, change: StoredChange): Promise<readonly Companion[]> {
  const companions: Companion[] = [];
  for (const plugin of plugins) companions.push(...((await plugin.charge?.(change)) ?? NOTHING));
  return companions;
}
