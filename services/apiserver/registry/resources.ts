import { encodeObject, storagePrefix, itemStart } from '../../machinery/codec/encode.js';
import type { Literals } from '../../machinery/schema/literals.js';
import { parseJson } from '../../machinery/codec/json.js';
import type { Converter } from '../../machinery/conversion/converter.js';
import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import type { Defaulter } from '../../machinery/defaulting/defaulter.js';
import { badRequest } from '../../machinery/meta/status.js';
import { withAlwaysShown } from '../../machinery/schema/always-shown.js';
import { done, type Work } from '../../machinery/work/work.js';
import { decodeObject } from '../../machinery/schema/decode.js';
import type { Catalog, ResourceDeclaration, SelectableField } from '../../machinery/types/declarations.js';
import type { Type } from '../../machinery/types/graph.js';
import type { HistoryBudget } from '../cache/history.js';
import type { SnapshotBudget } from '../cache/snapshots.js';
import { ResourceCache } from '../cache/resource-cache.js';
import type { RegistryKeys } from './keys.js';
import type { StoredResource } from './resource.js';
import type { Strategy } from './strategy.js';

/** What is known of a text beside its value, and who wants to know what is dropped of it. */
export interface DecodeFields {
  /** Is told the paths of members that were dropped; may throw to refuse. */
  readonly onUnknown?: (paths: readonly string[]) => void;
  readonly literals?: Literals;
}

/** A resource as one version serves it, over what is stored. */
export interface ServedResource {
  readonly declaration: ResourceDeclaration;
  readonly stored: StoredResource;
  /** `apps/v1` */
  readonly apiVersion: string;
  /** Whether stored bytes are what this version shows. */
  readonly servesStorageVersion: boolean;
  readonly type: Type;
  /**
   * Checks a parsed body, brings it into this version's shape and fills in the defaults.
   *
   * @throws {StatusError} BadRequest; what `fields.onUnknown` throws
   */
  decode(body: unknown, fields?: DecodeFields): ApiObject;
  /** The same in parts, for bodies that may be large. */
  decoding(body: unknown, fields?: DecodeFields): Work<ApiObject>;
  toStorage(object: ApiObject): ApiObject;
  fromStorage(object: ApiObject): ApiObject;
  /** The same resource as another version (or, for events, group) serves it. */
  inVersion(apiVersion: string): ServedResource | undefined;
}

export interface ResourceTableOptions {
  readonly catalog: Catalog;
  readonly converter: Converter;
  readonly defaulter: Defaulter;
  readonly keys: RegistryKeys;
  readonly strategyFor: (hub: ResourceDeclaration) => Strategy;
  readonly budget: HistoryBudget;
  readonly snapshots: SnapshotBudget;
  /** Is told the keys of values that cannot be read as objects. */
  readonly onUnreadable: (key: string, err: unknown) => void;
}

/** Every stored resource, and each served form of it. Built at start; a lookup is one map access. */
export class ResourceTable {
  readonly #served = new Map<ResourceDeclaration, ServedResource>();
  readonly #stored = new Map<string, StoredResource>();
  readonly #views = new Map<string, Map<string, ServedResource>>();

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
    const views = this.#views.get(id) ?? new Map<string, ServedResource>();
    this.#views.set(id, views);
    let stored = this.#stored.get(id);
    if (stored === undefined) {
      const hub = o.catalog.resources.find(
        (r) => r.group === group && r.version === version && r.resource === declaration.resource,
      );
      if (hub === undefined) throw new Error(`No declaration for the storage version ${group}/${version} of ${id}`);
      stored = storedResource(hub, views, o);
      this.#stored.set(id, stored);
    }
    const served = servedResource(declaration, stored, views, o);
    views.set(served.apiVersion, served);
    this.#served.set(declaration, served);
  }
}

function storedResource(
  hub: ResourceDeclaration,
  byVersion: ReadonlyMap<string, ServedResource>,
  o: ResourceTableOptions,
): StoredResource {
  const prefix = storagePrefix(hub.kind, apiVersionOf(hub));
  const views = o.catalog.resources.filter(
    (r) => r.resource === hub.resource && r.storage.group === hub.group && r.storage.version === hub.version,
  );
  const layout = {
    prefixLength: prefix.length,
    itemStart: itemStart(prefix.length),
    selectableFields: fieldsOfAll(views),
  };
  const form = { prefix, adopt: adopter(byVersion, o) };
  return {
    hub,
    cache: new ResourceCache(o.keys.of(hub), layout, form, o.budget, o.snapshots),
    strategy: o.strategyFor(hub),
    emptyStatus: () => {
      const { value } = decodeObject(o.catalog.types.of(hub.type), { status: {} });
      return (value as { readonly status?: object }).status ?? {};
    },
  };
}

/** Reads objects that an older release stored in another version, or another program in another form. */
function adopter(byVersion: ReadonlyMap<string, ServedResource>, { onUnreadable }: ResourceTableOptions) {
  return (key: string, stored: Buffer): Buffer | undefined => {
    try {
      const object = parseJson(stored) as Partial<ApiObject> | null;
      const served = byVersion.get(object?.apiVersion ?? '');
      if (served === undefined) throw new Error(`Not stored in a version of this kind: ${object?.apiVersion ?? ''}`);
      return encodeObject(served.toStorage(served.decode(object)));
    } catch (err) {
      onUnreadable(key, err);
      return undefined;
    }
  };
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
  views: ReadonlyMap<string, ServedResource>,
  { catalog, converter, defaulter }: ResourceTableOptions,
): ServedResource {
  const apiVersion = apiVersionOf(declaration);
  const { hub } = stored;
  const convert = (object: ApiObject, from: ResourceDeclaration, to: ResourceDeclaration): ApiObject =>
    from === to
      ? object
      : (withAlwaysShown(catalog.types.of(to.type), converter.convert(object, from, to)) as ApiObject); // with members added
  const decoding: ServedResource['decoding'] = function* (body, fields) {
    const type = catalog.types.of(declaration.type);
    const object = decodeAs(type, declaration, apiVersion, body, fields);
    yield;
    defaulter.apply(type, object);
    return object;
  };
  return {
    declaration,
    stored,
    apiVersion,
    servesStorageVersion: declaration === hub,
    get type() {
      return catalog.types.of(declaration.type);
    },
    decode: (body, fields) => done(decoding(body, fields)),
    decoding,
    toStorage: (object) => convert(object, declaration, hub),
    fromStorage: (object) => convert(object, hub, declaration),
    inVersion: (version) => views.get(version),
  };
}

function decodeAs(
  type: Type,
  declaration: ResourceDeclaration,
  apiVersion: string,
  body: unknown,
  fields: DecodeFields = {},
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
  const { value, unknown } = decodeObject(type, body, { literals: fields.literals });
  fields.onUnknown?.(unknown);
  const object = value as Partial<ApiObject>;
  object.kind = declaration.kind;
  object.apiVersion = apiVersion;
  object.metadata ??= {};
  return object as ApiObject; // now it has all three
}
