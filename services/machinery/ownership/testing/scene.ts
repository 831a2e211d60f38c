import { apiVersionOf, type ApiObject, type JsonObject } from '../../meta/object.js';
import { converter } from '../../conversion/converter.js';
import { decodeObject } from '../../schema/decode.js';
import { loadCatalog } from '../../types/catalog.js';
import type { TypeGraph } from '../../types/graph.js';
import { vocabulary } from '../../vocabulary/vocabulary.js';
import type { FieldsTree } from '../fields-tree.js';
import { decodeManagedFields, type ManagedFieldsEntry } from '../managed-fields.js';
import { Ownership, type OwnershipOptions, type Write } from '../ownership.js';
import { done } from '../../work/work.js';

const words = vocabulary('platform');
export const catalog = loadCatalog(words);
const { convert } = converter(catalog, words);

export interface SceneOptions extends OwnershipOptions {
  readonly types?: TypeGraph;
  /** Puts in what is missing from an applied object. */
  readonly defaults?: (object: ApiObject) => void;
}

export interface WriteOptions {
  readonly subresource?: string;
  readonly force?: boolean;
  /** The version of the request, e.g. `autoscaling/v2`; the object is kept in the version of the scene. */
  readonly version?: string;
}

/** One object and who owns what of it, through a story of writes. The clock moves a second with every write. */
export class Scene {
  object: ApiObject | undefined;
  managers: readonly ManagedFieldsEntry[] = [];
  readonly #typeKey: string;
  readonly #types: TypeGraph;
  readonly #ownership: Ownership;
  readonly #defaults: (object: ApiObject) => void;
  /** Versions that are served. */
  readonly #versions: readonly string[];
  #seconds = 0;

  /** @param typeKey e.g. `core/v1.ConfigMap` */
  constructor(typeKey: string, { types = catalog.types, ...o }: SceneOptions = {}, versions: readonly string[] = []) {
    this.#typeKey = typeKey;
    this.#types = types;
    this.#ownership = new Ownership(o);
    this.#versions = versions;
    this.#defaults = o.defaults ?? (() => undefined);
  }

  get live(): ApiObject {
    if (this.object === undefined) throw new Error('nothing was written yet');
    return this.object;
  }

  update(manager: string, next: object, o: WriteOptions = {}): readonly ManagedFieldsEntry[] {
    const typeKey = this.#typeKeyOf(o);
    const decoded = this.#decode(typeKey, next);
    this.managers = done(this.#ownership.update(this.#write(manager, o), decoded));
    this.object = this.#converted(decoded, typeKey, this.#typeKey);
    return this.managers;
  }

  /** Changes the live object in place of a client that reads, modifies and writes. */
  edit(manager: string, change: (object: ApiObject) => void, o: WriteOptions = {}): readonly ManagedFieldsEntry[] {
    const next = structuredClone(this.#converted(this.live, this.#typeKey, this.#typeKeyOf(o)));
    change(next);
    return this.update(manager, next, o);
  }

  apply(manager: string, config: object, o: WriteOptions = {}): readonly ManagedFieldsEntry[] {
    const typeKey = this.#typeKeyOf(o);
    const normalised = (object: unknown): ApiObject => {
      const decoded = this.#decode(typeKey, object);
      this.#defaults(decoded);
      return decoded;
    };
    const applied = done(
      this.#ownership.apply(this.#write(manager, o), config as JsonObject, {
        force: o.force ?? false,
        normalise: function* (object) {
          yield;
          return normalised(object);
        },
      }),
    );
    this.managers = applied.managers;
    this.object = this.#converted(applied.object, typeKey, this.#typeKey);
    return this.managers;
  }

  /** The fields of an entry: by manager, and by operation where there are two. */
  fieldsOf(manager: string, operation?: 'Apply' | 'Update'): FieldsTree | undefined {
    return this.managers.find((e) => e.manager === manager && (operation ?? e.operation) === e.operation)?.fieldsV1;
  }

  get owners(): readonly string[] {
    return this.managers.map((e) => e.manager);
  }

  /** Puts records in place as a client would send them. */
  setRecords(raw: unknown): void {
    const managers = decodeManagedFields(raw);
    if (managers === undefined) throw new Error('malformed records');
    this.managers = managers;
  }

  #write(manager: string, o: WriteOptions): Write {
    const typeKey = this.#typeKeyOf(o);
    const inOther = (object: ApiObject | undefined, from: string, to: string): ApiObject | undefined =>
      object && this.#converted(object, from, to);
    return {
      type: this.#types.of(typeKey),
      apiVersion: apiVersionOfKey(typeKey),
      live: inOther(this.object, this.#typeKey, typeKey),
      managers: this.managers,
      manager,
      subresource: o.subresource ?? '',
      time: `2024-01-01T00:00:${String(++this.#seconds).padStart(2, '0')}Z`,
      inVersion: (version, next) => {
        if (!this.#versions.includes(version)) return undefined;
        const other = this.#typeKeyOf({ version });
        return {
          type: this.#types.of(other),
          live: inOther(this.object, this.#typeKey, other),
          next: this.#converted(next, typeKey, other),
        };
      },
    };
  }

  #typeKeyOf({ version }: WriteOptions): string {
    if (version === undefined) return this.#typeKey;
    return `${version.includes('/') ? version : `core/${version}`}${this.#typeKey.slice(this.#typeKey.lastIndexOf('.'))}`;
  }

  #decode(typeKey: string, object: unknown): ApiObject {
    return decodeObject(this.#types.of(typeKey), structuredClone(object)).value as ApiObject; // kinds have metadata
  }

  #converted(object: ApiObject, from: string, to: string): ApiObject {
    return from === to ? object : this.#decode(to, convert(object, kindOf(from), kindOf(to)));
  }
}

function kindOf(typeKey: string): { group: string; version: string; kind: string } {
  const [, group = '', version = '', kind = ''] = /^(.*)\/(.*)\.(\w+)$/.exec(typeKey) ?? [];
  return { group: group === 'core' ? '' : group, version, kind };
}

const apiVersionOfKey = (typeKey: string): string => apiVersionOf(kindOf(typeKey));
