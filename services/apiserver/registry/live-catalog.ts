import { apiVersionOf } from '../../machinery/meta/object.js';
import { qualified } from '../../machinery/meta/status.js';
import type { Defaulter } from '../../machinery/defaulting/defaulter.js';
import type { Catalog, ResourceDeclaration, TypeDeclaration } from '../../machinery/types/declarations.js';
import type { ResourceCache } from '../cache/resource-cache.js';
import type { Handling, StoredResource, ResourceTable } from './resources.js';
import { serve } from './runtime-config.js';
import type { ServedApi } from './served.js';
import { genericStrategy } from './strategy.js';

/** One version of all that there is. Never changed: who has taken it may keep it for as long as a request goes on. */
export interface CatalogVersion {
  readonly catalog: Catalog;
  /** Its generation is that of the version. */
  readonly api: ServedApi;
}

/** A resource that comes, in each version that serves it. */
export interface Addition {
  /** The types of its objects that are not built in; no other addition has their keys. */
  readonly types: ReadonlyMap<string, TypeDeclaration>;
  /** Of one name, in one group, stored in one version that is among them. Served where `servedByDefault` says so. */
  readonly resources: readonly [ResourceDeclaration, ...ResourceDeclaration[]];
  /** @default rules of metadata alone */
  readonly strategyFor?: Handling['strategyFor'];
  /** @default as it is stored */
  readonly reading?: Handling['reading'];
  /** @default all versions have the same members */
  readonly converter?: Handling['converter'];
}

export interface ResourceName {
  /** '' for the core group. */
  readonly group: string;
  /** The plural, e.g. `widgets`. */
  readonly resource: string;
}

export interface CatalogChange {
  /**
   * Resources that were added before. One that is added again in the same change starts with nothing of the old one.
   */
  readonly remove?: readonly ResourceName[];
  readonly add?: readonly Addition[];
}

export interface LiveCatalogOptions {
  readonly builtIn: Catalog;
  /** Which of the built-in resources are served. */
  readonly served: readonly ResourceDeclaration[];
  readonly resources: ResourceTable;
  /** Keeps caches in step with the store. */
  readonly feed: { register(cache: ResourceCache): void; unregister(cache: ResourceCache): void };
  /** Has nothing to fill in for types that are not built in. */
  readonly defaulter: Defaulter;
}

interface Added {
  readonly addition: Pick<Addition, 'types' | 'converter'> & { readonly resources: readonly ResourceDeclaration[] };
  readonly stored: StoredResource;
}

/**
 * The types and the served API, while they change: built-in resources stay, others come and go. A request takes the
 * version that is current in its first stage; the declaration that it finds there leads to all that it needs to its
 * end.
 */
export class LiveCatalog {
  readonly #o: LiveCatalogOptions;
  readonly #builtIn: ReadonlySet<string>;
  #added: ReadonlyMap<string, Added> = new Map();
  #current: CatalogVersion;

  constructor(o: LiveCatalogOptions) {
    this.#o = o;
    this.#builtIn = new Set(o.builtIn.resources.map(idOf));
    this.#current = { catalog: o.builtIn, api: serve(o.served, 0) };
  }

  get current(): CatalogVersion {
    return this.#current;
  }

  /**
   * Makes the next version: all of the change, or nothing of it when it cannot be. Done when it returns, so that
   * changes never overlap: from then on requests find what was added (its reads wait until it is loaded), and nothing
   * of what was removed, whose watches have ended. What is stored stays where it is.
   *
   * @throws {Error} For what is built in, there already, or not there.
   */
  change({ remove = [], add = [] }: CatalogChange): CatalogVersion {
    const { resources, feed } = this.#o;
    const next = new Map(this.#added);
    const gone = remove.map((name) => taken(next, name));
    const ids = new Set(next.keys());
    const keys = new Set([...next.values()].flatMap(({ addition }) => [...addition.types.keys()]));
    for (const addition of add) {
      this.#check(addition, ids, keys);
      ids.add(idOf(addition.resources[0]));
      for (const key of addition.types.keys()) keys.add(key);
    }
    for (const { stored, addition } of gone) {
      resources.remove(stored);
      feed.unregister(stored.cache);
      addition.converter?.close();
    }
    for (const coming of add) {
      // Copies: a resource that comes again is another one, also when it is declared by the same words.
      const declarations = coming.resources.map((declaration) => ({ ...declaration }));
      const addition = { types: coming.types, converter: coming.converter, resources: declarations };
      const stored = resources.add(addition.resources, this.#handling(coming));
      feed.register(stored.cache);
      next.set(idOf(stored.hub), { addition, stored });
    }
    this.#added = next;
    return (this.#current = this.#version(
      new Map(add.flatMap(({ types }) => [...types])),
      gone.flatMap(({ addition }) => [...addition.types.keys()]),
    ));
  }

  #version(types: Addition['types'], removed: readonly string[]): CatalogVersion {
    const { builtIn, served } = this.#o;
    const own = [...this.#added.values()].flatMap(({ addition }) => addition.resources);
    const { api, catalog } = this.#current;
    return {
      catalog: { types: catalog.types.with(types, removed), resources: [...builtIn.resources, ...own] },
      api: serve([...served, ...own.filter((r) => r.servedByDefault)], api.generation + 1, api),
    };
  }

  /** A type that came is seen by its own resource alone, so that nothing keeps it when that goes. */
  #handling({ types, strategyFor = genericStrategy, reading, converter }: Addition): Handling {
    const { builtIn, defaulter } = this.#o;
    return {
      reading,
      converter,
      types: builtIn.types.with(types, []),
      defaulter,
      convert: (object, _, to) => ({ ...object, apiVersion: apiVersionOf(to) }),
      strategyFor,
      itemsAreNamed: true,
    };
  }

  /** @throws {Error} */
  #check({ types, resources }: Addition, others: ReadonlySet<string>, typesOfOthers: ReadonlySet<string>): void {
    const [first] = resources;
    const { types: builtIn } = this.#o.builtIn;
    const keys = [...types.keys()];
    const faults: readonly (readonly [boolean, string])[] = [
      [this.#builtIn.has(idOf(first)), 'it is built in'],
      [others.has(idOf(first)), 'it is there already'],
      [resources.some((r) => idOf(r) !== idOf(first)), 'its versions have different names'],
      [new Set(resources.map((r) => r.version)).size < resources.length, 'a version is there twice'],
      [resources.some((r) => r.virtual), 'nothing is stored of it'],
      [resources.some((r) => r.storage.group !== first.group), 'it is stored in another group'],
      [resources.some((r) => r.storage.version !== first.storage.version), 'its versions are not stored as one'],
      [resources.every((r) => r.version !== first.storage.version), 'the version that is stored is not among it'],
      [
        resources.some((r) => r.subresources.some((s) => !SUBRESOURCES.has(s.name))),
        'of sub-resources there are status and scale alone',
      ],
      [resources.some((r) => !types.has(r.type) && builtIn.get(r.type) === undefined), 'its type is not declared'],
      [keys.some((key) => builtIn.get(key) !== undefined), 'one of its types is built in'],
      [keys.some((key) => typesOfOthers.has(key)), 'one of its types is there already'],
    ];
    const [, why] = faults.find(([is]) => is) ?? [];
    if (why !== undefined) throw new Error(`Cannot add ${qualified(first)}: ${why}`);
  }
}

const SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'scale']);

const idOf = ({ group, resource }: ResourceName): string => `${group}/${resource}`;

/** Takes a resource out. @throws {Error} */
function taken(added: Map<string, Added>, name: ResourceName): Added {
  const found = added.get(idOf(name));
  if (found === undefined) throw new Error(`Cannot remove ${qualified(name)}: it was not added`);
  added.delete(idOf(name));
  return found;
}
