import type { JsonObject } from '../../machinery/meta/object.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { now } from '../../machinery/meta/time.js';
import { decodeManagedFields, isReset, type ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import type { Ownership } from '../../machinery/ownership/ownership.js';
import { type Write } from '../../machinery/ownership/ownership.js';
import type { ServedResource } from './resources.js';

/** Who writes, as managedFields will name them. */
export interface FieldManager {
  readonly name: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** What an apply makes of an object: in the served version, and with the owners that it will have. */
export interface Applied {
  readonly object: ApiObject;
  readonly managers: readonly ManagedFieldsEntry[];
}

const NOBODY: readonly ManagedFieldsEntry[] = [];

/**
 * Keeps `metadata.managedFields` (spec 1, 3.2) through every write: between stored objects, which are in the storage
 * version, and owners, who think in the version that they wrote in.
 */
export class FieldOwnership {
  readonly #ownership: Ownership;

  constructor(ownership: Ownership) {
    this.#ownership = ownership;
  }

  /** Notes the owner of a new object. `object` is in the storage version. */
  created(served: ServedResource, object: ApiObject, by: FieldManager): void {
    const shown = served.fromStorage(object);
    record(object, this.#ownership.update(writeOf(served, undefined, NOBODY, by), shown));
  }

  /**
   * Notes what a write other than an apply has changed.
   *
   * @param next In the storage version; its managedFields are the stored ones.
   * @param sent The managedFields that the client sent along: it may have changed them, or asked to forget them.
   */
  changed(served: ServedResource, next: ApiObject, old: ApiObject, sent: unknown, by: FieldManager): void {
    const asked = askedFor(sent);
    const managers = asked ?? decodeManagedFields(old.metadata.managedFields ?? []) ?? NOBODY;
    const after = this.#ownership.update(writeOf(served, old, managers, by), served.fromStorage(next));
    if (after !== managers || asked !== undefined) record(next, after);
  }

  /**
   * What becomes of an object, or of none, by an apply.
   *
   * @param config The body as it was sent.
   * @param normalise Brings a merged object into the served version's shape.
   * @throws {StatusError} Conflict, BadRequest
   */
  applied(
    served: ServedResource,
    old: ApiObject | undefined,
    config: JsonObject,
    by: FieldManager,
    o: { readonly force: boolean; readonly normalise: (object: unknown) => ApiObject },
  ): Applied {
    const managers = decodeManagedFields(old?.metadata.managedFields ?? []) ?? NOBODY;
    return this.#ownership.apply(writeOf(served, old, managers, by), config, o);
  }
}

/** Puts owners into an object. */
export function record({ metadata }: ApiObject, managers: readonly ManagedFieldsEntry[]): void {
  if (managers.length === 0) delete metadata.managedFields;
  else metadata.managedFields = [...managers];
}

/** An empty list asks for nothing, and one that cannot be read is not taken. */
function askedFor(sent: unknown): readonly ManagedFieldsEntry[] | undefined {
  if (!Array.isArray(sent) || sent.length === 0) return undefined;
  return isReset(sent) ? NOBODY : decodeManagedFields(sent);
}

function writeOf(
  served: ServedResource,
  old: ApiObject | undefined,
  managers: readonly ManagedFieldsEntry[],
  by: FieldManager,
): Write {
  return {
    typeKey: served.declaration.type,
    apiVersion: served.apiVersion,
    live: old === undefined ? undefined : served.fromStorage(old),
    managers,
    manager: by.name,
    subresource: by.subresource,
    time: now(),
    inVersion: (apiVersion, next) => {
      const other = served.inVersion(apiVersion);
      if (other === undefined) return undefined;
      return {
        typeKey: other.declaration.type,
        live: old === undefined ? undefined : other.fromStorage(old),
        next: other.fromStorage(served.toStorage(next)),
      };
    },
  };
}
