import { LRUCache } from 'lru-cache';
import { inOrder, orderOf, type Order } from '../../../machinery/defaulting/members.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { field, invalid, StatusError, type FieldError } from '../../../machinery/meta/status.js';
import type { ResourceCache } from '../../cache/resource-cache.js';
import type { Allocated, Allocator, AlreadyAllocated } from '../allocation/allocations.js';
import { AllocationIndex } from '../allocation/allocation-index.js';
import { settleFamilies } from './families.js';
import { fillAddresses, fillPorts, notAllocated, pathOfPort, PORT_TAKEN, RangeFull, type Chooser } from './fill.js';
import { pick } from './picker.js';
import { addressAt, type AddressRange, type PortRange } from './ranges.js';
import {
  ipAllocation,
  nodePortsOf,
  portAllocation,
  serviceAllocations,
  specOf,
  type ServiceSpec,
} from './service-spec.js';

export interface ServiceAddressesOptions {
  /** One, or one of each family; the first is for services that do not say. */
  readonly ranges: readonly [AddressRange, ...AddressRange[]];
  readonly nodePorts: PortRange;
}

/** The source of addresses in use. */
export interface AddressSource {
  readonly cache: ResourceCache;
  /** Resolves when the cache is as new as the store was at the call. */
  readonly fresh: () => Promise<void>;
  /** The members of a service's spec, in the order they are written in. */
  readonly specMembers: readonly string[];
}

interface Known {
  readonly index: AllocationIndex;
  readonly order: Order;
  readonly fresh: () => Promise<void>;
}

/** The offset of the address of the API servers' own service; no other service is given it. */
const FIRST = 0;
const SERVICE = { group: '', kind: 'Service' };

/** A write that has not shown in the cache by then has failed, or another one has the address. */
const RECENT_MS = 5_000;
const MOST_RECENT = 1_024;

/**
 * Chooses addresses and ports for services. It knows the allocated ones from the cache, which may be behind: the
 * allocations in the store decide.
 */
export class ServiceAddresses implements Allocator {
  readonly #o: ServiceAddressesOptions;
  /**
   * Chosen by this process just now, so that its cache may not show them yet. Only a hint, which keeps writes of one
   * process from choosing the same over and over; the store decides.
   */
  readonly #recent = new LRUCache<string, true>({ max: MOST_RECENT, ttl: RECENT_MS });
  #known: Known | undefined;

  constructor(o: ServiceAddressesOptions) {
    this.#o = o;
  }

  /** Has to be called before anything is allocated. */
  attach({ cache, fresh, specMembers }: AddressSource): void {
    this.#known = { index: new AllocationIndex(cache, serviceAllocations), order: orderOf(specMembers), fresh };
  }

  /** The address of the service of the API servers. */
  get firstAddress(): string {
    return addressAt(this.#o.ranges[0], FIRST);
  }

  async allocate(object: ApiObject, old: ApiObject | undefined, avoid: ReadonlySet<string>): Promise<Allocated> {
    try {
      return this.#fill(object, old, avoid);
    } catch (err) {
      if (!(err instanceof RangeFull)) throw err;
    }
    await this.#attached.fresh(); // what is free since a moment may not have come here yet
    try {
      return this.#fill(object, old, avoid);
    } catch (err) {
      throw err instanceof RangeFull ? full(err) : err;
    }
  }

  refusal(object: ApiObject, { allocation }: AlreadyAllocated): StatusError {
    const spec = specOf(object);
    const address = spec.clusterIPs?.find((ip) => ipAllocation(ip) === allocation);
    if (address !== undefined)
      return refused(object, [notAllocated(spec, address, 'provided IP is already allocated')]);
    const { healthCheckNodePort = 0 } = spec;
    const port = [...nodePortsOf(spec), healthCheckNodePort].find((p) => portAllocation(p) === allocation) ?? 0;
    return refused(object, [field.invalid(pathOfPort(spec, port), port, PORT_TAKEN)]);
  }

  get #attached(): Known {
    if (this.#known === undefined) throw new Error('Addresses were to be chosen before it was known what is in use');
    return this.#known;
  }

  /** @throws {RangeFull} @throws {StatusError} Invalid */
  #fill(object: ApiObject, old: ApiObject | undefined, avoid: ReadonlySet<string>): Allocated {
    const { ranges, nodePorts } = this.#o;
    const before = old === undefined ? undefined : specOf(old);
    const spec = ownCopy(specOf(object));
    const chosen = new Set<string>();
    const choose = this.#chooser(new Set([...avoid, ...nodePortsOf(spec).map(portAllocation)]), chosen);
    const [first, ...others] = ranges;
    const wrong = settleFamilies(spec, before, [first.family, ...others.map((r) => r.family)]);
    if (wrong.length > 0) throw refused(object, wrong);
    const problems = [...fillAddresses(spec, before, ranges, choose), ...fillPorts(spec, before, nodePorts, choose)];
    if (problems.length > 0) throw refused(object, problems);
    return { object: { ...object, spec: this.#tidied(spec) }, chosen };
  }

  #chooser(avoid: ReadonlySet<string>, chosen: Set<string>): Chooser {
    const choose = (
      what: string,
      range: AddressRange | PortRange,
      allocationAt: (offset: number) => string | undefined,
    ): number => {
      const { index } = this.#attached;
      index.catchUp();
      const isFree = (offset: number): boolean => {
        const allocation = allocationAt(offset);
        return allocation !== undefined && !avoid.has(allocation) && !chosen.has(allocation) && !index.has(allocation);
      };
      const offset =
        pick(range, (at) => isFree(at) && !this.#recent.has(allocationAt(at) ?? '')) ?? // others here are about to have it
        pick(range, isFree);
      const allocation = offset === undefined ? undefined : allocationAt(offset);
      if (offset === undefined || allocation === undefined) throw new RangeFull(what);
      chosen.add(allocation);
      this.#recent.set(allocation, true);
      return offset;
    };
    return {
      address: (range) =>
        addressAt(
          range,
          choose('serviceIP', range, (at) => (at === FIRST ? undefined : ipAllocation(addressAt(range, at)))),
        ),
      port: (what) => {
        const { nodePorts } = this.#o;
        return nodePorts.first + choose(what, nodePorts, (at) => portAllocation(nodePorts.first + at));
      },
    };
  }

  /** As it would have been decoded: in order, and without what is empty. */
  #tidied(spec: ServiceSpec): object {
    if (spec.clusterIP === '') delete spec.clusterIP;
    if (spec.clusterIPs?.length === 0) delete spec.clusterIPs;
    if (spec.ipFamilies?.length === 0) delete spec.ipFamilies;
    return inOrder({ ...spec }, this.#attached.order);
  }
}

/** Deep where something is changed. */
function ownCopy(spec: ServiceSpec): ServiceSpec {
  const { ports, clusterIPs, ipFamilies } = spec;
  return {
    ...spec,
    ...(ports === undefined ? {} : { ports: ports.map((port) => ({ ...port })) }),
    ...(clusterIPs === undefined ? {} : { clusterIPs: [...clusterIPs] }),
    ...(ipFamilies === undefined ? {} : { ipFamilies: [...ipFamilies] }),
  };
}

const refused = ({ metadata }: ApiObject, problems: readonly FieldError[]): StatusError =>
  invalid(SERVICE, metadata.name ?? '', problems);

const full = (cause: RangeFull): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${cause.message}`, {
    cause,
    details: { causes: [{ message: cause.message }] },
  });
