import { isDeepStrictEqual } from 'node:util';
import { validateMetadata, validateMetadataUpdate } from '../../machinery/meta/metadata.js';
import { apiVersionOf, type ApiObject, type ObjectMeta } from '../../machinery/meta/object.js';
import { newUid } from '../../machinery/meta/random.js';
import { badRequest, conflict, field, invalid, type FieldError } from '../../machinery/meta/status.js';
import { now } from '../../machinery/meta/time.js';
import type { UserInfo } from '../request/request.js';
import { strategyOf, takePart, valueAt, type Part } from './parts.js';
import type { StoredResource, ServedResource } from './resources.js';
import type { Strategy } from './strategy.js';

/** Where a request says that the object lives. */
export interface Place {
  /** '' for a cluster-scoped object. */
  readonly namespace: string;
  /** '' on create: the body names it. */
  readonly name: string;
}

/**
 * The body names the object that the path names. It may leave out the namespace, and may not contradict it.
 *
 * @throws {StatusError} BadRequest
 */
export function refuseOtherPlace({ metadata }: { readonly metadata: Readonly<ObjectMeta> }, place: Place): void {
  const { name = '', namespace = '' } = metadata;
  matchName(name, place.name);
  if (namespace !== '' && namespace !== place.namespace) {
    throw badRequest(
      `the namespace of the provided object does not match the namespace sent on the request (${namespace} and ${place.namespace})`,
    );
  }
}

/** Puts an object into the namespace that the path names. @throws {StatusError} BadRequest for another object's body */
export function matchPlace(body: ApiObject, place: Place): void {
  refuseOtherPlace(body, place);
  if (place.namespace === '') delete body.metadata.namespace;
  else body.metadata.namespace = place.namespace;
}

/** @param asked The name in the path; '' on create. @throws {StatusError} BadRequest */
export function matchName(name: string, asked: string): void {
  if (asked === '' || name === asked) return;
  if (name === '') {
    throw badRequest(`the name of the object (${asked} based on URL) was undeterminable: name must be provided`);
  }
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${asked})`);
}

/** The object in a body, in the storage version. */
export function stateSent(served: ServedResource, body: ApiObject): ApiObject {
  const object = served.toStorage(body);
  served.stored.strategy.normalise?.(object);
  return object;
}

/**
 * Gives a new object what the server owns. `object` is in the storage version.
 *
 * @param apiVersion What the request speaks.
 */
export function prepareForCreate(
  stored: StoredResource,
  object: ApiObject,
  requester: UserInfo,
  apiVersion = apiVersionOf(stored.hub),
): void {
  const { metadata } = object;
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  metadata.uid = newUid();
  metadata.creationTimestamp = now();
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  delete metadata.managedFields;
  const { strategy } = stored;
  if (UNCOUNTED.has(strategy.generation)) delete metadata.generation;
  else metadata.generation = 1;
  if (hasStatus(stored) && !strategy.keepsFirstStatus) dropStatus(stored, object);
  strategy.prepareForCreate?.(object, requester, apiVersion);
}

/** What is done when validation is: most of it is done at once. */
function whenDone(late: void | Promise<void>, next: () => void): void | Promise<void> {
  if (late instanceof Promise) return late.then(next);
  next();
}

/** A promise: it takes more than one turn. @throws {StatusError} Invalid, with every cause */
export function validateForCreate({ stored, apiVersion }: ServedResource, object: ApiObject): void | Promise<void> {
  const { hub, strategy } = stored;
  const errors = [...validateMetadata(object.metadata, hub)];
  strategy.validation.object?.(object, errors, apiVersion);
  return whenDone(strategy.validation.create?.(object, errors, apiVersion), () => {
    if (errors.length > 0) throw invalid(hub, object.metadata.name ?? object.metadata.generateName ?? '', errors);
  });
}

/**
 * Turns what a client sent into the next state: identity, the other parts and what the server owns come from the stored
 * object.
 *
 * @param next Changed in place, or not used at all (`status`): use what is returned.
 * @throws {StatusError} Conflict for another uid or an old resourceVersion; Invalid when one is required
 */
export function prepareForUpdate(served: ServedResource, part: Part, next: ApiObject, old: ApiObject): ApiObject {
  const { stored, declaration } = served;
  checkIdentity(served, next, old);
  if (!declaration.unconditionalUpdate && isUnset(next.metadata.resourceVersion)) {
    throw invalid(stored.hub, old.metadata.name ?? '', [
      field.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  keepOwned(next, old);
  if (part !== '') {
    const taken = takePart(part, next, old, strategyOf(served));
    if (part !== 'status') moveGeneration(stored, taken, old);
    return taken;
  }
  if (hasStatus(stored)) {
    if (old['status'] === undefined) dropStatus(stored, next);
    else next['status'] = old['status'];
  }
  stored.strategy.prepareForUpdate?.(next, old, served.apiVersion);
  moveGeneration(stored, next, old);
  return next;
}

/** A promise: it takes more than one turn. @throws {StatusError} Invalid, with every cause */
export function validateForUpdate(
  served: ServedResource,
  part: Part,
  next: ApiObject,
  old: ApiObject,
): void | Promise<void> {
  const { stored, apiVersion } = served;
  const { hub, strategy } = stored;
  const { validation } = strategy;
  const errors = [
    ...validateMetadata(next.metadata, hub),
    ...validateMetadataUpdate(next.metadata, old.metadata),
    ...changedImmutables(strategy.immutable, next, old),
  ];
  if (part === '') validation.object?.(next, errors, apiVersion);
  const late =
    part === ''
      ? validation.update?.(next, old, errors, apiVersion)
      : validation.parts?.[part]?.(next, old, errors, apiVersion);
  return whenDone(late, () => {
    if (errors.length > 0) throw invalid(hub, old.metadata.name ?? '', errors);
  });
}

function checkIdentity(served: ServedResource, next: ApiObject, old: ApiObject): void {
  const { declaration } = served;
  const { name = '', uid = '', resourceVersion } = old.metadata;
  if (next.metadata.uid !== undefined && next.metadata.uid !== '' && next.metadata.uid !== uid) {
    throw conflict(
      declaration,
      name,
      `Precondition failed: UID in precondition: ${next.metadata.uid}, UID in object meta: ${uid}`,
    );
  }
  if (!isUnset(next.metadata.resourceVersion) && next.metadata.resourceVersion !== resourceVersion) {
    throw conflict(
      declaration,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
}

const isUnset = (resourceVersion: string | undefined): boolean =>
  resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0';

const OWNED = [
  'generateName',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
] as const;

/** Members are deleted only where they are: deleting makes an object slow. */
function keepOwned({ metadata: next }: ApiObject, { metadata: old }: ApiObject): void {
  for (const key of OWNED) {
    if (old[key] !== undefined) Object.assign(next, { [key]: old[key] });
    else if (next[key] !== undefined) Reflect.deleteProperty(next, key);
  }
  if (next.selfLink !== undefined) delete next.selfLink;
}

function moveGeneration({ strategy }: StoredResource, next: ApiObject, old: ApiObject): void {
  const part = GENERATION_PARTS[strategy.generation];
  if (part === undefined || isDeepStrictEqual(part(next), part(old))) return;
  next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Kinds of which a new object has no generation. */
const UNCOUNTED: ReadonlySet<Strategy['generation']> = new Set(['none', 'specOnceChanged']);

const GENERATION_PARTS: Readonly<Record<Strategy['generation'], ((object: ApiObject) => unknown) | undefined>> = {
  none: undefined,
  spec: (object) => object['spec'],
  specOnceChanged: (object) => object['spec'],
  specAndAnnotations: ({ metadata, ['spec']: spec }) => [metadata.annotations ?? {}, spec],
  body,
  everything: ({ metadata, ...rest }) => rest,
};

/** Everything but metadata and status. */
function body({ metadata, ['status']: status, ...rest }: ApiObject): object {
  return rest;
}

function changedImmutables(immutable: readonly (readonly string[])[], next: ApiObject, old: ApiObject): FieldError[] {
  return immutable
    .filter((path) => !isDeepStrictEqual(valueAt(next, path), valueAt(old, path)))
    .map((path) => field.invalid(path.join('.'), valueAt(next, path) ?? null, 'field is immutable'));
}

/** Whether status is a part of its own. */
export const hasStatus = ({ hub }: StoredResource): boolean => hub.subresources.some((s) => s.name === 'status');

/** Types that always show a status show an empty one. */
function dropStatus(stored: StoredResource, object: ApiObject): void {
  if (object['status'] !== undefined) object['status'] = stored.emptyStatus();
}
