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
    const { object } = request;
    if (operations.length === 0) return { operations, changed: false };
    if (object === undefined) throw new Error('there is no object to patch');
    const shown = d.reviews.shown(as, object);
    const before = JSON.parse(JSON.stringify(shown)) as Json; // numbers and absent members as the webhook saw them
    const after = done(applyJsonPatch(before, operations));
    if (jsonEqual(before, after)) return { operations, changed: false };
    const next = decoded(d, request, as, after);
    checkIdentity(shown, next);
    replace(object, converting(d, request, as) === undefined ? next : await backFrom(d, request, next));
    return { operations, changed: true };
  } catch (err) {
    throw internal(reasonOf(err), err);
  }
}

/** What clients of patches find among the details. */
function reasonOf(err: unknown): string {
  const cause = err instanceof StatusError ? err.details?.causes?.[0]?.message : undefined;
  return cause ?? (err instanceof Error ? err.message : 'the patch cannot be applied');
}

/** In the version in which plugins see objects. */
function decoded(d: PatchingDeps, request: AdmissionRequest, as: ResourceDeclaration, value: Json): ApiObject {
  const { kind, resource } = request;
  const served = d.resources.served(as);
  if (served !== undefined && kind.kind === resource.kind) return stateSent(served, served.decode(value));
  const { value: object } = decodeObject(d.catalog.types.of(typeKey(kind.group, kind.version, kind.kind)), value);
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
  if (changed !== undefined) throw new Error(`the patch changes metadata.${changed}, which a webhook must not`);
}

/** Others hold the object. */
function replace(object: ApiObject, next: ApiObject): void {
  for (const key of Object.keys(object)) if (!Object.hasOwn(next, key)) Reflect.deleteProperty(object, key);
  for (const [key, value] of Object.entries(next)) setOwn(object, key, value);
}
