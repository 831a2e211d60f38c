import type { JsonObject } from '../../machinery/meta/object.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { now } from '../../machinery/meta/time.js';
import { decodeManagedFields, isReset, type ManagedFieldsEntry } from '../../machinery/ownership/managed-fields.js';
import type { Ownership } from '../../machinery/ownership/ownership.js';
import { type Write } from '../../machinery/ownership/ownership.js';
import type { Work } from '../../machinery/work/work.js';
import type { OtherVersions } from './conversion/other-versions.js';
import { strategyOf, takePart, type Part } from './parts.js';
import { hasStatus } from './prepare.js';
import type { ServedResource } from './resources.js';

/** A writer, as managedFields name it. */
export interface FieldManager {
  readonly name: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** Where the states of a write in other versions come from, if another server has to be asked for them. */
export interface Elsewhere {
  readonly others?: OtherVersions | undefined;
}

/** The owners in the body of a write other than an apply. */
export interface Sent extends Elsewhere {
  readonly managers: unknown;
  readonly whole: boolean;
  /** What the write reaches. @default all but the status */
  readonly part?: Part;
}

/** The result of an apply: the object in the served version, and the owners of its fields. */
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

  /**
   * The owners of a new object.
   *
   * @param sent What the writer says, in the storage version: fields that the server fills in have no owner.
   */
  *created(served: ServedResource, sent: ApiObject, by: FieldManager): Work<readonly ManagedFieldsEntry[]> {
    const own = { ...sent };
    for (const member of membersOfOthers(served)) Reflect.deleteProperty(own, member);
    return yield* this.#ownership.update(writeOf(served, undefined, NOBODY, by), served.fromStorage(own));
  }

  /**
   * The owners after a write other than an apply.
   *
   * @param next What the writer wants, in the storage version.
   * @param sent.managers The managedFields that the client sent along: it may have changed them, or asked to forget
   * them.
   * @param sent.whole Whether it sent all of the object: a writer that resets the owners owns all that it sent.
   * @returns undefined where they stay as they are.
   */
  *changed(
    served: ServedResource,
    next: ApiObject,
    old: ApiObject,
    sent: Sent,
    by: FieldManager,
  ): Work<readonly ManagedFieldsEntry[] | undefined> {
    const { part = '' } = sent;
    const asked = askedFor(sent.managers);
    const managers = asked ?? decodeManagedFields(old.metadata.managedFields ?? []) ?? NOBODY;
    yield;
    const wanted = part === '' ? withMembersOf(old, next, membersOfOthers(served)) : takePart(part, next, old, strategyOf(served)); // prettier-ignore
    const write = writeOf(served, old, managers, by, sent.others);
    const after = yield* this.#ownership.update(write, served.fromStorage(wanted));
    if (after === managers && asked === undefined) return undefined;
    const isForgotten = sent.whole && asked === NOBODY && after.length > 0;
    return isForgotten ? yield* this.created(served, next, by) : after;
  }

  /**
   * The state after an apply to an object, or to none.
   *
   * @param config The body as it was sent.
   * @param normalise Brings a merged object into the served version's shape.
   * @throws {StatusError} Conflict, BadRequest
   */
  *applied(
    served: ServedResource,
    old: ApiObject | undefined,
    config: JsonObject,
    by: FieldManager,
    o: Elsewhere & { readonly force: boolean; readonly normalise: (object: unknown) => Work<ApiObject> },
  ): Work<Applied> {
    const managers = decodeManagedFields(old?.metadata.managedFields ?? []) ?? NOBODY;
    yield;
    const write = writeOf(served, old, managers, by, o.others);
    const { object, managers: after } = yield* this.#ownership.apply(write, config, o);
    return { object, managers: withoutMembers(after, by, membersOfOthers(served)) };
  }
}

/** Fields that a write of the object itself does not own. */
const membersOfOthers = ({ stored }: ServedResource): readonly string[] => [
  ...stored.strategy.unowned,
  ...(hasStatus(stored) ? ['status'] : []),
];

/** The next state with these members as they were. */
function withMembersOf(old: ApiObject, next: ApiObject, members: readonly string[]): ApiObject {
  const own = { ...next };
  for (const member of members) {
    if (old[member] === undefined) Reflect.deleteProperty(own, member);
    else own[member] = old[member];
  }
  return own;
}

/** Without what an applier has applied of these members. */
function withoutMembers(
  managers: readonly ManagedFieldsEntry[],
  by: FieldManager,
  members: readonly string[],
): readonly ManagedFieldsEntry[] {
  const names = members.map((member) => `f:${member}`);
  const isMine = (entry: ManagedFieldsEntry): boolean =>
    entry.operation === 'Apply' && entry.manager === by.name && (entry.subresource ?? '') === '';
  if (!managers.some((entry) => isMine(entry) && names.some((name) => name in entry.fieldsV1))) return managers;
  return managers.flatMap((entry) => {
    if (!isMine(entry)) return [entry];
    const fieldsV1 = Object.fromEntries(Object.entries(entry.fieldsV1).filter(([name]) => !names.includes(name)));
    return Object.keys(fieldsV1).length === 0 ? [] : [{ ...entry, fieldsV1 }];
  });
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
  others?: OtherVersions,
): Write {
  const live = old === undefined ? undefined : served.fromStorage(old);
  return {
    type: served.type,
    apiVersion: served.apiVersion,
    live,
    managers,
    manager: by.name,
    subresource: by.subresource,
    time: now(),
    inVersion: (apiVersion, next) => {
      const other = served.inVersion(apiVersion);
      if (other === undefined) return undefined;
      if (other.conversion !== undefined && others !== undefined) {
        return { type: other.type, ...others.states(other.conversion, apiVersion, { live, next }) };
      }
      return {
        type: other.type,
        live: old === undefined ? undefined : other.fromStorage(old),
        next: other.fromStorage(served.toStorage(next)),
      };
    },
  };
}
