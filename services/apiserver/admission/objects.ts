import type { ApiObject } from '../../machinery/meta/object.js';
import { hasReason } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { Asker } from '../http/turns.js';
import type { Reader } from '../registry/reader.js';
import { declaredResource, keyOf, type ResourceTable, type StoredResource } from '../registry/resources.js';

/** Names a stored resource by the group that it is stored in. */
export interface StoredName {
  readonly group: string;
  readonly resource: string;
}

/** Objects that plugins read beside the one that a request is about. */
export class AdmissionObjects {
  readonly #resources: Pick<ResourceTable, 'stored'>;
  readonly #reader: Pick<Reader, 'getStored' | 'whenFresh'>;

  constructor(resources: Pick<ResourceTable, 'stored'>, reader: Pick<Reader, 'getStored' | 'whenFresh'>) {
    this.#resources = resources;
    this.#reader = reader;
  }

  /** @throws {Error} for a resource that is not built in */
  stored({ group, resource }: StoredName): StoredResource {
    return declaredResource(this.#resources, group, resource);
  }

  /** The newest state that this process knows of; another server may know a newer one. `namespace` is '' for cluster-scoped objects. */
  cached(of: StoredName, namespace: string, name: string): CachedObject | undefined {
    const stored = this.stored(of);
    return stored.cache.newest(keyOf(stored, namespace, name));
  }

  /** The same; the store is asked where the cache has none: another server may have just made it. */
  present(
    of: StoredName,
    namespace: string,
    name: string,
    asker: Asker,
  ): Promise<CachedObject | undefined> | CachedObject | undefined {
    return this.cached(of, namespace, name) ?? this.newest(of, namespace, name, asker);
  }

  /** The store's own state. */
  async newest(of: StoredName, namespace: string, name: string, asker: Asker): Promise<CachedObject | undefined> {
    try {
      return await this.#reader.getStored(this.stored(of), namespace, name, asker);
    } catch (err) {
      if (hasReason(err, 'NotFound')) return undefined;
      throw err;
    }
  }

  /** All of a namespace in the order of their names, from the cache. @param namespace '' for all objects. */
  list(of: StoredName, namespace: string): CachedObject[] {
    const { cache } = this.stored(of);
    const { from, to } = cache.range(namespace);
    return [...cache.current.between(from, to)];
  }

  /** Waits until the caches have what the store has now. @throws what the reader throws when they do not in time */
  whenFresh(asker: Asker): Promise<void> {
    return this.#reader.whenFresh(asker);
  }

  /**
   * Something made of all objects of a resource, again only when one of them has changed. Costs a map lookup per call.
   *
   * @param make Gets the objects in the order of their keys.
   */
  derivedFromAll<T>(of: StoredName, make: (objects: readonly CachedObject[]) => T): () => T {
    let made: { readonly from: object; readonly value: T } | undefined;
    return () => {
      const { cache } = this.stored(of);
      const { current } = cache;
      if (made?.from !== current) made = { from: current, value: make(this.list(of, '')) };
      return made.value;
    };
  }
}

/** Something made of one object: once for each of its states, and gone with it. */
export function derived<T>(make: (object: ApiObject) => T): (of: CachedObject) => T {
  const known = new WeakMap<CachedObject, { readonly value: T }>();
  return (of) => {
    let found = known.get(of);
    if (found === undefined) {
      found = { value: make(of.parse() as ApiObject) }; // we encoded it
      known.set(of, found);
    }
    return found.value;
  };
}
