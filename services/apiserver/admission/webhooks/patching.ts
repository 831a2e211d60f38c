import { parseJson } from '../../../machinery/codec/json.js';
import type { ApiObject, Json } from '../../../machinery/meta/object.js';
import { jsonEqual, setOwn } from '../../../machinery/meta/own.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { applyJsonPatch } from '../../../machinery/patch/json-patch.js';
import { decodeObject } from '../../../machinery/schema/decode.js';
import { typeKey } from '../../../machinery/types/catalog.js';
import type { Catalog, ResourceDeclaration } from '../../../machinery/types/declarations.js';
import { done } from '../../../machinery/work/work.js';
import { stateSent } from '../../registry/prepare.js';
import type { AdmissionRequest } from '../plugin.js';
import { internal } from './errors.js';
import { converting, type ReviewDeps, type ReviewWriter } from './review.js';

export interface PatchingDeps extends ReviewDeps {
  readonly catalog: Pick<Catalog, 'types'>;
  /** Has shown the object to the webhook. */
  readonly reviews: Pick<ReviewWriter, 'shown'>;
}

export interface Patched {
  /** As the webhook sent it. */
  readonly operations: readonly unknown[];
  readonly changed: boolean;
}

/** Changes the object of a request in a version that others know. */
export interface ObjectChange {
  /** Gives the next state. @param before Numbers and absent members as others see them. */
  readonly apply: (before: Json) => Json;
  /** Is told the paths of members that the type does not know; may throw. Absent: they are dropped. */
  readonly onUnknown?: (paths: readonly string[]) => void;
}

/** Members by which an object is found; an object that has changed one is another one. */
const IDENTITY = ['name', 'generateName', 'namespace', 'uid'] as const;

/**
 * Applies the patch of a webhook to the object of a request, in place: in the version that the webhook knows, where its
 * result is checked against the type and filled with defaults.
 *
 * @throws {StatusError} InternalError, for a patch that does not apply, or makes of the object what it cannot be.
 */
export async function patchObject(
  d: PatchingDeps,
  request: AdmissionRequest,
  as: ResourceDeclaration,
  patch: Buffer,
): Promise<Patched> {
  try {
    const operations = parseJson(patch);
    if (!Array.isArray(operations)) throw new Error('the patch is no list of operations');
    if (operations.length === 0) return { operations, changed: false };
    const apply = (before: Json): Json => done(applyJsonPatch(before, operations));
    return { operations, changed: await changeObject(d, request, as, { apply }) };
  } catch (err) {
    throw internal(reasonOf(err), err);
  }
}

/**
 * Changes the object of a request, in place: in the version that it is shown in, where the result is checked against the
 * type and filled with defaults.
 *
 * @returns Whether it is another one now. @throws what the change throws, and when it makes what an object cannot be
 */
export async function changeObject(
  d: PatchingDeps,
  request: AdmissionRequest,
  as: ResourceDeclaration,
  { apply, onUnknown }: ObjectChange,
): Promise<boolean> {
  const { object } = request;
  if (object === undefined) throw new Error('there is no object to patch');
  const shown = d.reviews.shown(as, object);
  const before = JSON.parse(JSON.stringify(shown)) as Json;
  const after = apply(before);
  if (jsonEqual(before, after)) return false;
  const next = decoded(d, request, as, { value: after, onUnknown });
  checkIdentity(shown, next);
  replace(object, converting(d, request, as) === undefined ? next : await backFrom(d, request, next));
  return true;
}

/** What clients of patches find among the details. */
export function reasonOf(err: unknown): string {
  const cause = err instanceof StatusError ? err.details?.causes?.[0]?.message : undefined;
  return cause ?? (err instanceof Error ? err.message : 'the patch cannot be applied');
}

/** In the version in which plugins see objects. */
function decoded(
  d: PatchingDeps,
  request: AdmissionRequest,
  as: ResourceDeclaration,
  { value, onUnknown }: { readonly value: Json; readonly onUnknown: ObjectChange['onUnknown'] },
): ApiObject {
  const { kind, resource } = request;
  const served = d.resources.served(as);
  if (served !== undefined && kind.kind === resource.kind)
    return stateSent(served, served.decode(value, onUnknown && { onUnknown }));
  const { value: object, unknown } = decodeObject(
    d.catalog.types.of(typeKey(kind.group, kind.version, kind.kind)),
    value,
  );
  onUnknown?.(unknown);
  const { kind: _, apiVersion: __, metadata = {}, ...members } = object as Partial<ApiObject>;
  const { kind: ownKind, apiVersion } = request.object ?? { kind: kind.kind, apiVersion: '' };
  return { kind: ownKind, apiVersion, metadata, ...members };
}

/** Another server brings it back into the version of the request. @throws {StatusError} InternalError */
const backFrom = (
  { resources }: PatchingDeps,
  { resource, signal }: AdmissionRequest,
  next: ApiObject,
): ApiObject | Promise<ApiObject> =>
  // prettier-ignore
  resources.served(resource)?.conversion?.state(next, signal) ?? next;

function checkIdentity({ metadata: before }: ApiObject, { metadata: after }: ApiObject): void {
  const changed = IDENTITY.find((member) => (before[member] ?? '') !== (after[member] ?? ''));
  if (changed !== undefined) throw new Error(`the patch changes metadata.${changed}, which admission must not`);
}

/** Others hold the object. */
function replace(object: ApiObject, next: ApiObject): void {
  for (const key of Object.keys(object)) if (!Object.hasOwn(next, key)) Reflect.deleteProperty(object, key);
  for (const [key, value] of Object.entries(next)) setOwn(object, key, value);
}
