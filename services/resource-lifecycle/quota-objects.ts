import type { DiscoveredResource } from '../client/discovery/discovery.js';
import type { Informer } from '../client/informer/informer.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { AnyObject, Live, ResourceType } from '../client/rest/resource-type.js';
import type { ControllerDeps } from '../controllers/controller.js';
import type { ApiObject } from '../machinery/meta/object.js';
import { qualified, type ResourceName } from '../machinery/meta/status.js';
import { differenceOf } from '../machinery/quota/amounts.js';
import type { Evaluators } from '../machinery/quota/evaluators.js';
import type { CountedObjects } from './quota-status.js';

/** Of a resource whose objects are counted. */
interface Followed {
  readonly type: ResourceType;
  readonly informer: Informer<AnyObject>;
  /** Whether metadata is enough. */
  readonly isMetadata: boolean;
  readonly end: () => void;
}

type Deps = Pick<ControllerDeps, 'client' | 'informers' | 'discovery' | 'vocabulary'>;

/** Events come and go by themselves: no quota counts them. */
const IGNORED = 'events';

/** The objects that quotas count, of those types alone that quotas name. */
export class QuotaObjects {
  readonly #d: Deps;
  readonly #evaluators: Evaluators;
  readonly #shrunk: (namespace: string, of: ResourceName) => void;
  /** By qualified name. */
  readonly #followed = new Map<string, Followed>();

  /** @param shrunk Told where objects went, or use another amount than before. */
  constructor(d: Deps, evaluators: Evaluators, shrunk: (namespace: string, of: ResourceName) => void) {
    this.#d = d;
    this.#evaluators = evaluators;
    this.#shrunk = shrunk;
    const { pods, services, persistentVolumeClaims } = builtInTypes(d.vocabulary);
    for (const type of [pods, services, persistentVolumeClaims]) this.#begin(type, d.informers.of<AnyObject>(type));
  }

  /** Of types that are always there. */
  get informers(): readonly Informer<AnyObject>[] {
    return [...this.#followed.values()].filter(({ isMetadata }) => !isMetadata).map(({ informer }) => informer);
  }

  /** @returns Those that are served, by qualified name. @throws `signal.reason`; what discovery throws */
  async follow(resources: readonly ResourceName[], signal: AbortSignal): Promise<readonly string[]> {
    const names = resources.map(qualified);
    if (names.every((name) => this.#followed.get(name)?.isMetadata === false)) return names;
    const { resources: served, failed } = await this.#d.discovery.served({}, signal);
    const countable = new Map(served.filter((type) => this.#isCountable(type)).map((type) => [qualified(type), type]));
    for (const [name, { type, isMetadata, end }] of this.#followed) {
      const groupVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
      const isServed = countable.get(name)?.version === type.version;
      if (!isMetadata || isServed || failed.includes(groupVersion)) continue;
      this.#followed.delete(name);
      end();
    }
    for (const name of names) {
      const type = countable.get(name);
      if (type !== undefined && !this.#followed.has(name)) this.#begin(type, this.#d.informers.metadataOf(type), true);
    }
    return names.filter((name) => this.#followed.has(name));
  }

  /** As informers know them; undefined while one does not. */
  known(names: readonly string[], namespace: string): CountedObjects | undefined {
    const known = new Map<string, readonly AnyObject[]>();
    for (const name of names) {
      const informer = this.#followed.get(name)?.informer;
      if (informer?.isSynced !== true) return undefined;
      known.set(name, informer.store.list(namespace));
    }
    return known;
  }

  /** As the server knows them now. A type that went meanwhile is left out. */
  async listed(names: readonly string[], namespace: string, signal: AbortSignal): Promise<CountedObjects> {
    const listed = new Map<string, readonly AnyObject[]>();
    for (const name of names) {
      const followed = this.#followed.get(name);
      if (followed === undefined) continue;
      const { type, isMetadata } = followed;
      const client = isMetadata ? this.#d.client.metadata(type) : this.#d.client.resource(type);
      try {
        listed.set(name, (await client.list({ namespace }, signal)).items);
      } catch (err) {
        if (!isApiError(err, 'NotFound', 'MethodNotAllowed')) throw err;
      }
    }
    return listed;
  }

  #isCountable({ group, resource, namespaced, verbs, isPreferred }: DiscoveredResource): boolean {
    const isIgnored = resource === IGNORED && (group === '' || group === this.#d.vocabulary.groups.events);
    return namespaced && isPreferred && verbs.has('list') && verbs.has('watch') && !isIgnored;
  }

  #begin(type: ResourceType, informer: Informer<AnyObject>, isMetadata = false): void {
    const evaluator = this.#evaluators.of(type);
    const look = ({ metadata: { namespace = '' } }: Live<AnyObject>): void => this.#shrunk(namespace, type);
    const updated = (next: Live<AnyObject>, old: Live<AnyObject>): void => {
      const usage = (object: Live<AnyObject>): ReturnType<typeof evaluator.usage> =>
        evaluator.usage(object as unknown as ApiObject); // servers give whole objects
      if (differenceOf(usage(next), usage(old)).size > 0) look(next);
    };
    const unhandle = informer.handle({ deleted: look, ...(isMetadata ? {} : { updated }) });
    const end = (): void => {
      unhandle();
      this.#d.informers.drop(type);
    };
    this.#followed.set(qualified(type), { type, informer, isMetadata, end });
  }
}
