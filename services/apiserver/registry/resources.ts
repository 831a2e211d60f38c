import { storagePrefix, itemStart } from '../../machinery/codec/encode.js';
import type { Converter } from '../../machinery/conversion/converter.js';
import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import { badRequest } from '../../machinery/meta/status.js';
import { decodeObject } from '../../machinery/schema/decode.js';
import type { Catalog, ResourceDeclaration, SelectableField } from '../../machinery/types/declarations.js';
import type { HistoryBudget } from '../cache/history.js';
import { ResourceCache } from '../cache/resource-cache.js';
import type { RegistryKeys } from './keys.js';
import type { StoredResource } from './resource.js';
import type { Strategy } from './strategy.js';

/** A resource as one version serves it, over what is stored. */
export interface ServedResource {
  readonly declaration: ResourceDeclaration;
  readonly stored: StoredResource;
  /** `apps/v1` */
  readonly apiVersion: string;
  /** Whether stored bytes are what this version shows. */
  readonly servesStorageVersion: boolean;
  /** What its type is declared among. */
  readonly types: Catalog['types'];
  /**
   * Checks a parsed body and brings it into this version's shape.
   *
   * @param onUnknown Is told the paths of members that were dropped.
   * @throws {StatusError} BadRequest; what `onUnknown` throws
   */
  decode(body: unknown, onUnknown?: (paths: readonly string[]) => void): ApiObject;
  toStorage(object: ApiObject): ApiObject;
  fromStorage(object: ApiObject): ApiObject;
}

export interface ResourceTableOptions {
  readonly catalog: Catalog;
  readonly converter: Converter;
  readonly keys: RegistryKeys;
  readonly strategyFor: (hub: ResourceDeclaration) => Strategy;
  readonly budget: HistoryBudget;
}

/** Every stored resource, and each served form of it. Built at start; a lookup is one map access. */
export class ResourceTable {
  readonly #served = new Map<ResourceDeclaration, ServedResource>();
  readonly #stored = new Map<string, StoredResource>();

  constructor(o: ResourceTableOptions) {
    for (const declaration of o.catalog.resources) {
      if (!declaration.virtual) this.#add(declaration, o);
    }
  }

  /** undefined for a resource that stands for an operation. */
  served(declaration: ResourceDeclaration): ServedResource | undefined {
    return this.#served.get(declaration);
  }

  /** @param group The group it is stored in, '' for core. */
  stored(group: string, resource: string): StoredResource | undefined {
    return this.#stored.get(`${group}/${resource}`);
  }

  allStored(): Iterable<StoredResource> {
    return this.#stored.values();
  }

  #add(declaration: ResourceDeclaration, o: ResourceTableOptions): void {
    const { group, version } = declaration.storage;
    const id = `${group}/${declaration.resource}`;
    let stored = this.#stored.get(id);
    if (stored === undefined) {
      const hub = o.catalog.resources.find(
        (r) => r.group === group && r.version === version && r.resource === declaration.resource,
      );
      if (hub === undefined) throw new Error(`No declaration for the storage version ${group}/${version} of ${id}`);
      stored = storedResource(hub, o);
      this.#stored.set(id, stored);
    }
    this.#served.set(declaration, servedResource(declaration, stored, o));
  }
}

function storedResource(hub: ResourceDeclaration, o: ResourceTableOptions): StoredResource {
  const prefixLength = storagePrefix(hub.kind, apiVersionOf(hub)).length;
  const views = o.catalog.resources.filter(
    (r) => r.resource === hub.resource && r.storage.group === hub.group && r.storage.version === hub.version,
  );
  const layout = {
    prefixLength,
    itemStart: itemStart(prefixLength),
    selectableFields: fieldsOfAll(views),
  };
  return { hub, cache: new ResourceCache(o.keys.of(hub), layout, o.budget), strategy: o.strategyFor(hub) };
}

/** Selectable fields of all versions: they read the same stored object under names of their own. */
function fieldsOfAll(views: readonly ResourceDeclaration[]): SelectableField[] {
  const byKey = new Map<string, SelectableField>();
  for (const view of views) {
    for (const f of view.selectableFields) if (!f.key.startsWith('metadata.')) byKey.set(f.key, f);
  }
  return [...byKey.values()];
}

function servedResource(
  declaration: ResourceDeclaration,
  stored: StoredResource,
  { catalog, converter }: ResourceTableOptions,
): ServedResource {
  const apiVersion = apiVersionOf(declaration);
  const { hub } = stored;
  return {
    declaration,
    stored,
    apiVersion,
    servesStorageVersion: declaration === hub,
    types: catalog.types,
    decode: (body, onUnknown) => decodeAs(catalog, declaration, apiVersion, body, onUnknown),
    toStorage: (object) => converter.convert(object, declaration, hub),
    fromStorage: (object) => converter.convert(object, hub, declaration),
  };
}

function decodeAs(
  catalog: Catalog,
  declaration: ResourceDeclaration,
  apiVersion: string,
  body: unknown,
  onUnknown?: (paths: readonly string[]) => void,
): ApiObject {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`The body must be an object of kind ${declaration.kind}`);
  }
  const { kind = declaration.kind, apiVersion: version = apiVersion } = body as Record<string, unknown>;
  if (version !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(version)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (kind !== declaration.kind) {
    throw badRequest(`the kind in the data (${String(kind)}) does not match the expected kind (${declaration.kind})`);
  }
  const { value, unknown } = decodeObject(catalog.types, declaration.type, body);
  onUnknown?.(unknown);
  const object = value as Partial<ApiObject>;
  object.kind = declaration.kind;
  object.apiVersion = apiVersion;
  object.metadata ??= {};
  return object as ApiObject; // now it has all three
}
