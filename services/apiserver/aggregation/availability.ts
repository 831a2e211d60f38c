import type { ApiObject } from '../../machinery/meta/object.js';
import { workOff } from '../../client/queue/work-off.js';
import { WorkQueue } from '../../client/queue/work-queue.js';
import type { Log } from '../../machinery/log/log.js';
import type { Endpoints, Service } from '../../machinery/types/generated/core.v1.js';
import { derived, type AdmissionObjects } from '../admission/objects.js';
import { follow } from '../cache/follow.js';
import type { Change } from '../cache/history.js';
import type { AggregationMetrics } from '../metrics/aggregation-metrics.js';
import { declaredResource, type ResourceTable } from '../registry/resources.js';
import type { WriteDecision, Writer } from '../registry/writer.js';
import type { UserInfo } from '../request/request.js';
import { apiServiceOf, isAvailable, withAvailability, type Availability } from './api-service.js';
import { discoveryFailed, PASSED, placeProblem } from './conditions.js';
import { PeerError, type Peers } from './peers.js';
import { leadsToSame, routeOf, type Route, type Routes } from './routes.js';

export interface AvailabilityDeps {
  readonly routes: Routes;
  readonly peers: Pick<Peers, 'get' | 'heal'>;
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly objects: Pick<AdmissionObjects, 'cached'>;
  /** The group of APIServices. */
  readonly group: string;
  /** As whom this server asks others. */
  readonly user: UserInfo;
  readonly metrics: AggregationMetrics;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Each route is checked again after this time, and after a failure within it. */
const EVERY_MS = 30_000;
const RETRY = { leastMs: 100, mostMs: EVERY_MS };
const WITHIN_MS = 5_000;
/** Tries of one check: one answer is enough. */
const TRIES = 5;
const AT_ONCE = 8;
const MAX_BYTES = 4 * 1024 * 1024;
const SERVICES = { group: '', resource: 'services' } as const;
const ENDPOINTS = { group: '', resource: 'endpoints' } as const;
const NOTHING: WriteDecision = { do: 'nothing' };

const serviceOf = derived((object) => object as ApiObject & Service);
const endpointsOf = derived((object) => object as ApiObject & Endpoints);

/**
 * Finds out whether the services of APIServices answer, and says so in their status: when an APIService, its service or
 * what is behind it changes, and every half a minute. Every server does; one writes only what it has found otherwise.
 */
export class AvailabilityChecks {
  readonly #d: AvailabilityDeps;
  readonly #queue = new WorkQueue({ retry: RETRY });

  constructor(d: AvailabilityDeps) {
    this.#d = d;
  }

  /** Until `signal` fires. Never throws. The caches have to be loaded. */
  async run(signal: AbortSignal): Promise<void> {
    const { routes, resources } = this.#d;
    routes.listen({ changed: (...change) => this.#changed(...change) });
    for (const { group, resource } of [SERVICES, ENDPOINTS]) {
      const { cache } = declaredResource(resources, group, resource);
      follow(cache, { loaded: () => this.#again(() => true), changed: (change) => this.#moved(change) });
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work(signal)));
    this.#queue.shutDown();
  }

  #changed(name: string, before: Route | undefined, next: Route | undefined): void {
    if (next === undefined) this.#d.metrics.forgotten(name);
    else if (before === undefined || !isSameCheck(before, next)) this.#queue.add(name);
  }

  /** Of services and of what is behind them. */
  #moved({ object }: Change): void {
    if (this.#d.routes.size === 0) return;
    this.#again(({ service }) => service.name === object.name && service.namespace === object.namespace);
  }

  #again(which: (route: Route) => boolean): void {
    for (const route of this.#d.routes.all) if (which(route)) this.#queue.add(route.name);
  }

  #work(stop: AbortSignal): Promise<void> {
    return workOff(this.#queue, {
      stop,
      work: (name) => this.#look(name, stop),
      failed: (name, err) => this.#d.log.warn('The availability of an APIService could not be told', { name, err }),
    });
  }

  async #look(name: string, signal: AbortSignal): Promise<void> {
    const { routes, metrics, peers } = this.#d;
    const route = routes.named(name);
    if (route === undefined) {
      this.#queue.forget(name);
      return;
    }
    const found = this.#placeProblem(route) ?? (await this.#probe(route, signal));
    if (routes.named(name) === undefined) return;
    metrics.found(name, found.status === 'True');
    await this.#tell(route, found);
    if (found.status === 'True') {
      peers.heal(route);
      this.#queue.forget(name);
      this.#queue.addAfter(name, EVERY_MS);
    } else {
      this.#queue.addRateLimited(name);
    }
  }

  #placeProblem(route: Route): Availability | undefined {
    const { namespace, name } = route.service;
    const service = this.#d.objects.cached(SERVICES, namespace, name);
    const endpoints = this.#d.objects.cached(ENDPOINTS, namespace, name);
    return placeProblem(route, {
      service: service && serviceOf(service),
      endpoints: endpoints && endpointsOf(endpoints),
    });
  }

  /** Asks what every server of a version has to answer: once, and where that fails some more times at once. */
  async #probe(route: Route, signal: AbortSignal): Promise<Availability> {
    const first = await this.#ask(route, signal);
    if (first.status === 'True') return first;
    const others = await Promise.all(Array.from({ length: TRIES - 1 }, () => this.#ask(route, signal)));
    return others.find(({ status }) => status === 'True') ?? first;
  }

  async #ask(route: Route, signal: AbortSignal): Promise<Availability> {
    const { group, version, service } = route;
    const path = `/apis/${group}/${version}`;
    const url = `https://${service.name}.${service.namespace}.svc:${service.port}${path}`;
    const question = { path, user: this.#d.user, maxBytes: MAX_BYTES, withinMs: WITHIN_MS };
    try {
      const { status } = await this.#d.peers.get(route, question, signal);
      return status >= 200 && status < 300 ? PASSED : discoveryFailed(url, `bad status: ${status}`);
    } catch (err) {
      if (err instanceof PeerError) return discoveryFailed(url, err.message);
      throw err;
    }
  }

  async #tell(route: Route, found: Availability): Promise<void> {
    const { resources, writer, group, metrics, log } = this.#d;
    const stored = declaredResource(resources, group, 'apiservices');
    let wasAvailable: boolean | undefined;
    const written = await writer.write({ stored, namespace: '', name: route.name }, (current) => {
      const apiService = current && apiServiceOf(current);
      const now = apiService && routeOf(apiService);
      if (apiService === undefined || now === undefined || !isSameCheck(now, route)) return NOTHING;
      wasAvailable = isAvailable(apiService);
      const object = withAvailability(apiService, found);
      return object === undefined ? NOTHING : { do: 'put', object };
    });
    if (written.object === undefined || wasAvailable === undefined || wasAvailable === (found.status === 'True'))
      return;
    if (wasAvailable) metrics.failed(route.name, found.reason);
    log.info('The availability of an APIService has changed', { name: route.name, ...found });
  }
}

/** Whether a check of the one says something about the other. */
const isSameCheck = (a: Route, b: Route): boolean =>
  leadsToSame(a, b) && a.group === b.group && a.version === b.version;
