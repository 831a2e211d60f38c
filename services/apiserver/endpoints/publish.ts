import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { done } from '../../machinery/work/work.js';
import type { CachedObject } from '../cache/cached-object.js';
import { THE_SERVER } from '../request/users.js';
import { record, type FieldManager, type FieldOwnership } from '../registry/field-ownership.js';
import { prepareForCreate, prepareForUpdate } from '../registry/prepare.js';
import { keyOf, type ResourceTable, type ServedResource } from '../registry/resources.js';
import type { Decide, WriteDecision, Writer } from '../registry/writer.js';
import { groups, isOwnSlice, slicesOf, subsetsOf, type DesiredSlice } from './desired.js';
import type { Member } from './members.js';

export interface PublishDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly ownership: FieldOwnership;
  readonly vocabulary: Vocabulary;
  /** The address that the service has. */
  readonly serviceAddress: string;
}

const NAMESPACE = 'default';
const SERVICE_PORT = 443;
const NOTHING: WriteDecision = { do: 'nothing' };

/** Brings members of an object to what they should be, and leaves the rest. */
type Shape = (object: ApiObject) => void;

/**
 * Keeps the service that leads to the API servers, and what is behind it. Writes through the writer, so that watchers
 * see it, and only what differs: usually nothing.
 */
export class Publisher {
  readonly #d: PublishDeps;
  readonly #services: ServedResource;
  readonly #endpoints: ServedResource;
  readonly #slices: ServedResource;

  constructor(d: PublishDeps) {
    const { groups: names } = d.vocabulary;
    this.#d = d;
    this.#services = servedAs(d.resources, '', 'services');
    this.#endpoints = servedAs(d.resources, '', 'endpoints');
    this.#slices = servedAs(d.resources, names.discovery, 'endpointslices');
  }

  /** Prefixes of the keys of resources of which objects are kept here. */
  get prefixes(): readonly string[] {
    return this.#kept.map(({ stored }) => stored.cache.keys.prefix);
  }

  /** Whether a key is one of an object that is kept here. */
  keeps(key: string): boolean {
    const name = this.#d.vocabulary.defaultServiceName;
    return this.#kept.some(({ stored }) => key.startsWith(keyOf(stored, NAMESPACE, name)));
  }

  get #kept(): readonly ServedResource[] {
    return [this.#services, this.#endpoints, this.#slices];
  }

  /**
   * Makes the service when it is not there. What is there stays as it is.
   *
   * @param port Where this server listens. @throws {AlreadyAllocated} when another service has the address
   */
  async keepService(port: number): Promise<void> {
    const name = this.#d.vocabulary.defaultServiceName;
    if (this.#cached(this.#services, name) !== undefined) return;
    const shape: Shape = (service) => {
      service.metadata.labels = { component: 'apiserver', provider: name };
      service['spec'] = this.#serviceSpec(port);
    };
    await this.#write(this.#services, name, (current) =>
      current === undefined ? this.#made(this.#services, name, shape) : NOTHING,
    );
  }

  /** Brings Endpoints and EndpointSlices in line with the members, of which there has to be one. */
  async publish(members: readonly Member[]): Promise<void> {
    const { defaultServiceName: service, labels } = this.#d.vocabulary;
    const all = groups(members);
    await this.#keep(this.#endpoints, service, (endpoints) => {
      label(endpoints, labels.skipMirror, 'true'); // its slices are kept here
      endpoints['subsets'] = subsetsOf(all);
    });
    const slices = slicesOf(service, all);
    for (const slice of slices) await this.#keepSlice(slice, service);
    await this.#removeSlices(service, new Set(slices.map(({ name }) => name)));
  }

  #serviceSpec(port: number): object {
    const { serviceAddress: address } = this.#d;
    return {
      ports: [{ name: 'https', protocol: 'TCP', port: SERVICE_PORT, targetPort: port }],
      clusterIP: address,
      clusterIPs: [address],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: [address.includes(':') ? 'IPv6' : 'IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    };
  }

  async #keepSlice({ name, addressType, endpoints, ports }: DesiredSlice, service: string): Promise<void> {
    const cached = this.#cached(this.#slices, name);
    // A slice keeps its kind of addresses for life.
    if (cached !== undefined && cached['addressType'] !== addressType) await this.#remove(this.#slices, name);
    await this.#keep(this.#slices, name, (slice) => {
      label(slice, this.#d.vocabulary.labels.serviceName, service);
      slice['addressType'] ??= addressType;
      slice['endpoints'] = endpoints;
      slice['ports'] = ports;
    });
  }

  async #removeSlices(service: string, wanted: ReadonlySet<string>): Promise<void> {
    const { cache } = this.#slices.stored;
    const { from, to } = cache.range(NAMESPACE);
    const left = [...cache.current.between(from, to)].filter(
      ({ name, selectables }) =>
        !wanted.has(name) &&
        isOwnSlice(service, name) &&
        selectables.labels?.[this.#d.vocabulary.labels.serviceName] === service,
    );
    for (const { name } of left) await this.#remove(this.#slices, name);
  }

  #cached({ stored }: ServedResource, name: string): ApiObject | undefined {
    return stored.cache.newest(keyOf(stored, NAMESPACE, name))?.parse() as ApiObject | undefined; // we encoded it
  }

  async #keep(served: ServedResource, name: string, shape: Shape): Promise<void> {
    const cached = this.#cached(served, name);
    if (cached !== undefined && isDeepStrictEqual(shaped(cached, shape), cached)) return;
    await this.#write(served, name, (current) =>
      current === undefined ? this.#made(served, name, shape) : this.#changed(served, current, shape),
    );
  }

  #made(served: ServedResource, name: string, shape: Shape): WriteDecision {
    const { hub } = served.stored;
    const metadata = { name, namespace: NAMESPACE };
    const object: ApiObject = { kind: hub.kind, apiVersion: apiVersionOf(hub), metadata };
    shape(object);
    const owners = done(this.#d.ownership.created(served, object, this.#by));
    prepareForCreate(served.stored, object, THE_SERVER);
    record(object, owners);
    return { do: 'put', object };
  }

  #changed(served: ServedResource, current: CachedObject, shape: Shape): WriteDecision {
    const old = current.parse() as ApiObject; // we encoded it
    const wanted = shaped(old, shape);
    if (isDeepStrictEqual(wanted, old)) return NOTHING;
    const next = prepareForUpdate(served, '', wanted, old);
    const owners = done(this.#d.ownership.changed(served, next, old, { managers: undefined, whole: true }, this.#by));
    if (owners !== undefined) record(next, owners);
    return { do: 'put', object: next };
  }

  get #by(): FieldManager {
    return { name: this.#d.vocabulary.serverName, subresource: '' };
  }

  async #remove(served: ServedResource, name: string): Promise<void> {
    await this.#write(served, name, (current) => (current === undefined ? NOTHING : { do: 'delete' }));
  }

  async #write({ stored }: ServedResource, name: string, decide: Decide): Promise<void> {
    await this.#d.writer.write({ stored, namespace: NAMESPACE, name }, decide);
  }
}

function servedAs(resources: ResourceTable, group: string, resource: string): ServedResource {
  const stored = resources.stored(group, resource);
  const served = stored === undefined ? undefined : resources.served(stored.hub);
  if (served === undefined) throw new Error(`No declaration of ${resource}`);
  return served;
}

function shaped(object: ApiObject, shape: Shape): ApiObject {
  const copy = structuredClone(object);
  shape(copy);
  return copy;
}

function label({ metadata }: ApiObject, key: string, value: string): void {
  if (metadata.labels?.[key] === value) return;
  const labels = Object.entries({ ...metadata.labels, [key]: value });
  metadata.labels = Object.fromEntries(labels.sort(([a], [b]) => (a < b ? -1 : 1)));
}
