import { encodeObject, storagePrefix, itemStart, WHOLE_ITEM_START } from '../../machinery/codec/encode.js';
import { parseJson } from '../../machinery/codec/json.js';
import type { Converter } from '../../machinery/conversion/converter.js';
import type { Defaulter } from '../../machinery/defaulting/defaulter.js';
import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import { badRequest } from '../../machinery/meta/status.js';
import { withAlwaysShown } from '../../machinery/schema/always-shown.js';
import { decodeObject } from '../../machinery/schema/decode.js';
import type { Literals } from '../../machinery/schema/literals.js';
import type { Catalog, ResourceDeclaration, SelectableField } from '../../machinery/types/declarations.js';
import type { Type } from '../../machinery/types/graph.js';
import { done, type Work } from '../../machinery/work/work.js';
import type { ObjectLayout } from '../cache/cached-object.js';
import type { HistoryBudget } from '../cache/history.js';
import { ResourceCache, type StoredForm } from '../cache/resource-cache.js';
import type { SnapshotBudget } from '../cache/snapshots.js';
import { turns } from '../http/turns.js';
import type { ObjectConverter } from './conversion/converter.js';
import { VersionConversion } from './conversion/version-conversion.js';
import type { RegistryKeys } from './keys.js';
import type { Strategy } from './strategy.js';

/** The number literals of a body, and the receiver of the paths of dropped members. */
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
  /** Whether bytes of objects are what this version shows: the stored ones, or those that its conversion has made. */
  readonly servesStorageVersion: boolean;
  /** Whether objects have kind and apiVersion in lists, too. */
  readonly itemsAreNamed: boolean;
  /** Brings objects into this version where another server does that; they are stored in any of the versions. */
  readonly conversion: VersionConversion | undefined;
  readonly type: Type;
  /**
   * Checks a parsed body, brings it into this version's shape and fills in the defaults.
   *
   * @throws {StatusError} BadRequest; what `fields.onUnknown` throws
   */
  decode(body: unknown, fields?: DecodeFields): ApiObject;
  /** The same in parts, for bodies that may be large. */
  decoding(body: unknown, fields?: DecodeFields): Work<ApiObject>;
  /** Where there is a `conversion`, objects are those of this version already. */
  toStorage(object: ApiObject): ApiObject;
  fromStorage(object: ApiObject): ApiObject;
  /** The same resource as another version (or, for events, group) serves it. */
  inVersion(apiVersion: string): ServedResource | undefined;
  /** Every form of the resource, this one among them. */
  versions(): Iterable<ServedResource>;
}

/** The services by which objects of some resources are handled. */
export interface Handling {
  /** The graph of their types. */
  readonly types: Catalog['types'];
  readonly convert: Converter['convert'];
  readonly defaulter: Defaulter;
  readonly strategyFor: (hub: ResourceDeclaration) => Strategy;
  /**
   * When values that were stored under an older form of their type are brought into the present one: once, as they come
   * from the store, or in each view, where versions know different members. Absent: what is stored is what is shown.
   */
  readonly reading?: 'once' | 'inViews' | undefined;
  /** Takes the place of `convert`. Objects stay in the version that they are stored in until they are asked for. */
  readonly converter?: ObjectConverter | undefined;
  /** Whether objects have kind and apiVersion in lists, too: those of custom resources do, on all servers of this API. */
  readonly itemsAreNamed?: true;
}

export interface ResourceTableOptions {
  readonly keys: RegistryKeys;
  readonly budget: HistoryBudget;
  readonly snapshots: SnapshotBudget;
  /** Is told the keys of values that cannot be read as objects. */
  readonly onUnreadable: (key: string, err: unknown) => void;
}

/** Declarations of one stored resource, in the versions (and, for events, groups) that serve it. */
type Family = readonly ResourceDeclaration[];

/** Every stored resource, and each served form of it. A lookup is one map access. */
export class ResourceTable {
  readonly #o: ResourceTableOptions;
  /** Weak: a request that has a declaration finds its resource also when that has just gone. */
  readonly #served = new WeakMap<ResourceDeclaration, ServedResource>();
  readonly #stored = new Map<string, StoredResource>();

  /** Of the built-in resources of `catalog`; others may come later. */
  constructor(o: ResourceTableOptions & Omit<Handling, 'types'> & { readonly catalog: Catalog }) {
    this.#o = o;
    const families = new Map<string, ResourceDeclaration[]>();
    for (const declaration of o.catalog.resources) {
      if (declaration.virtual) continue;
      const id = idOf(declaration.storage.group, declaration.resource);
      families.set(id, [...(families.get(id) ?? []), declaration]);
    }
    for (const family of families.values()) this.add(family, { ...o, types: o.catalog.types });
  }

  /** undefined for a resource that stands for an operation. */
  served(declaration: ResourceDeclaration): ServedResource | undefined {
    return this.#served.get(declaration);
  }

  /** @param group The group it is stored in, '' for core. */
  stored(group: string, resource: string): StoredResource | undefined {
    return this.#stored.get(idOf(group, resource));
  }

  allStored(): Iterable<StoredResource> {
    return this.#stored.values();
  }

  /** @throws {Error} when the version that is stored is not among them */
  add(family: Family, handling: Handling): StoredResource {
    const views = new Map<string, ServedResource>();
    const stored = storedResource(family, views, { ...this.#o, ...handling });
    for (const declaration of family) {
      const served = servedResource(declaration, stored, views, handling);
      views.set(served.apiVersion, served);
      this.#served.set(declaration, served);
    }
    this.#stored.set(idOf(stored.hub.group, stored.hub.resource), stored);
    return stored;
  }

  /** Its served forms are found by their declarations for as long as these are held. */
  remove({ hub }: StoredResource): void {
    this.#stored.delete(idOf(hub.group, hub.resource));
  }
}

const idOf = (group: string, resource: string): string => `${group}/${resource}`;

function hubOf(family: Family): ResourceDeclaration {
  const hub = family.find((d) => d.group === d.storage.group && d.version === d.storage.version);
  if (hub !== undefined) return hub;
  throw new Error(`No declaration of the version in which ${family[0]?.resource ?? ''} are stored`);
}

function storedResource(
  family: Family,
  byVersion: ReadonlyMap<string, ServedResource>,
  o: ResourceTableOptions & Handling,
): StoredResource {
  const hub = hubOf(family);
  const isConverted = o.converter !== undefined;
  const layout = isConverted ? versionLayout(hub, o) : layoutOf(hub, family, o);
  const versionForm = (declaration: ResourceDeclaration): Pick<StoredForm, 'prefix' | 'reread'> => ({
    prefix: prefixOf(declaration),
    ...(o.reading === 'once' ? { reread: rereader(declaration, byVersion, o) } : {}),
  });
  const others = family.filter((declaration) => isConverted && declaration !== hub);
  const form = {
    ...versionForm(hub),
    adopt: adopter(byVersion, o),
    others: others.map((declaration) => ({ ...versionForm(declaration), layout: versionLayout(declaration, o) })),
  };
  return {
    hub,
    cache: new ResourceCache(o.keys.of(hub), layout, form, o.budget, o.snapshots),
    strategy: o.strategyFor(hub),
    emptyStatus: () => {
      const { value } = decodeObject(o.types.of(hub.type), { status: {} });
      return (value as { readonly status?: object }).status ?? {};
    },
  };
}

const prefixOf = (declaration: ResourceDeclaration): Buffer =>
  storagePrefix(declaration.kind, apiVersionOf(declaration));

type ItemForm = Pick<Handling, 'itemsAreNamed'>;

/** @param family Of which the fields can be selected by. */
function layoutOf(declaration: ResourceDeclaration, family: Family, { itemsAreNamed }: ItemForm): ObjectLayout {
  const { length: prefixLength } = prefixOf(declaration);
  const start = itemsAreNamed === true ? WHOLE_ITEM_START : itemStart(prefixLength);
  return { prefixLength, itemStart: start, selectableFields: fieldsOfAll(family) };
}

/** Of objects that are in one version, among others that are not. */
const versionLayout = (declaration: ResourceDeclaration, form: ItemForm): ObjectLayout => ({
  ...layoutOf(declaration, [declaration], form),
  apiVersion: apiVersionOf(declaration),
});

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

/** Brings objects up to date that were stored when their type was another: what it knows, and its defaults. */
function rereader(
  declaration: ResourceDeclaration,
  byVersion: ReadonlyMap<string, ServedResource>,
  o: ResourceTableOptions,
) {
  const apiVersion = apiVersionOf(declaration);
  return (key: string, stored: Buffer): Buffer => {
    try {
      const served = byVersion.get(apiVersion);
      return served === undefined ? stored : encodeObject(served.decode(parseJson(stored)));
    } catch (err) {
      o.onUnreadable(key, err);
      return stored; // shown as it is: who writes it is told what is wrong
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
  handling: Handling,
): ServedResource {
  const { types, convert: between, defaulter, reading, converter, itemsAreNamed = false } = handling;
  const apiVersion = apiVersionOf(declaration);
  const { hub } = stored;
  const convert = (object: ApiObject, from: ResourceDeclaration, to: ResourceDeclaration): ApiObject =>
    from === to ? object : (withAlwaysShown(types.of(to.type), between(object, from, to)) as ApiObject); // with members added
  const decoding: ServedResource['decoding'] = function* (body, fields) {
    const type = types.of(declaration.type);
    const object = decodeAs(type, declaration, apiVersion, body, fields);
    yield;
    defaulter.apply(type, object);
    return object;
  };
  const isReadInViews = reading === 'inViews';
  const isConverted = converter !== undefined;
  const { kind } = declaration;
  const decode = (object: ApiObject): ApiObject => done(decoding(object));
  const own = (object: ApiObject): ApiObject => {
    if (object.apiVersion === apiVersion) return object;
    throw new Error(`An object in ${object.apiVersion} has to be converted to ${apiVersion}, which takes its time`);
  };
  const seen = (object: ApiObject): ApiObject => done(decoding(between(object, hub, declaration)));
  return {
    declaration,
    stored,
    apiVersion,
    itemsAreNamed,
    servesStorageVersion: isConverted || (declaration === hub && !isReadInViews),
    conversion: isConverted ? new VersionConversion({ kind, apiVersion, layout: versionLayout(declaration, handling), decode, converter }) : undefined, // prettier-ignore
    get type() {
      return types.of(declaration.type);
    },
    decode: (body, fields) => done(decoding(body, fields)),
    decoding,
    toStorage: isConverted ? own : (object) => convert(object, declaration, hub),
    fromStorage: isConverted ? own : isReadInViews ? seen : (object) => convert(object, hub, declaration),
    inVersion: (version) => views.get(version),
    versions: () => views.values(),
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

/** One kind of stored objects, shared by all versions (and, for events, groups) that serve it. */
export interface StoredResource {
  /** The declaration of the storage version. */
  readonly hub: ResourceDeclaration;
  readonly cache: ResourceCache;
  readonly strategy: Strategy;
  /** A status that says nothing, with the members that its type always shows; the caller owns it. */
  emptyStatus(): object;
}

/** The key of an object. */
export const keyOf = (stored: StoredResource, namespace: string, name: string): string =>
  stored.hub.namespaced ? `${stored.cache.keys.prefix}${namespace}/${name}` : `${stored.cache.keys.prefix}${name}`;

/** A built-in resource that the server itself works with. @throws {Error} when none is declared */
export function declaredResource(
  resources: { stored(group: string, resource: string): StoredResource | undefined },
  group: string,
  resource: string,
): StoredResource {
  const stored = resources.stored(group, resource);
  if (stored === undefined) throw new Error(`No declaration of ${group === '' ? resource : `${resource}.${group}`}`);
  return stored;
}

/** Stores take 1.5 MiB in one request unless their operators say otherwise; key and framing need a little. */
const MAX_BYTES = 1.5 * 1024 * 1024 - 16 * 1024;

/**
 * The bytes to store. Who owns which field is worth less than the object itself: where both together are too much for
 * the store, the owners go; that takes another turn of the event loop.
 */
export function storedBytes(object: ApiObject): Buffer | Promise<Buffer> {
  const bytes = encodeObject(object);
  if (bytes.length <= MAX_BYTES || object.metadata.managedFields === undefined) return bytes;
  const { managedFields, ...metadata } = object.metadata;
  return turns.alone().then(() => encodeObject({ ...object, metadata }));
}
