import type { ApiObject, JsonObject, ObjectMeta } from '../../machinery/meta/object.js';
import { now } from '../../machinery/meta/time.js';
import type { ServedResource } from './resources.js';
import type { Strategy } from './strategy.js';

/** With the place where objects of the version say how many there should be: it may be another one in each. */
export const strategyOf = ({ stored: { strategy }, declaration: { scale } }: ServedResource): Strategy =>
  scale === undefined || scale.wanted === strategy.replicas ? strategy : { ...strategy, replicas: scale.wanted };

/** Makes the next state of an object of which only a part is written; the rest stays as it is stored. */
type TakePart = (next: ApiObject, old: ApiObject, strategy: Strategy) => ApiObject;

/** The part of an object that a write through a sub-resource reaches. */
const TAKE = {
  status: (next, old, { statusLeaves }) => ({
    ...withMember(old, 'status', next['status']),
    metadata: metadataOf(next, old, statusLeaves),
  }),
  finalize: (next, old) => ({ ...withSpecMember(old, 'finalizers', next), metadata: next.metadata }),
  scale: (next, old, { replicas }) => withValue(old, replicas, valueAt(next, replicas)),
  ephemeralcontainers: (next, old) => withSpecMember(old, 'ephemeralContainers', next),
  approval: withApproval,
  binding: (next) => next,
} as const satisfies Readonly<Record<string, TakePart>>;

/** Which part of an object a request may write; '' is everything but the status. */
export type Part = '' | keyof typeof TAKE;

/** undefined for a sub-resource that is something else than a part. */
export const partOf = (subresource: string): Part | undefined =>
  subresource === '' || Object.hasOwn(TAKE, subresource) ? (subresource as Part) : undefined;

/** @param next Its metadata is already without what the server owns. */
export const takePart = (part: Exclude<Part, ''>, next: ApiObject, old: ApiObject, strategy: Strategy): ApiObject =>
  TAKE[part](next, old, strategy);

/**
 * A write of the status writes labels, annotations, finalizers and owners with it, but for those that the kind leaves
 * out.
 */
function metadataOf(
  { metadata: next }: ApiObject,
  { metadata: old }: ApiObject,
  leaves: Strategy['statusLeaves'],
): ObjectMeta {
  if (leaves === 'everything') return { ...old };
  const metadata = { ...next };
  for (const path of leaves) setAt(metadata, path, valueAt(old, path));
  return metadata;
}

/** The member of the object that each part is in, and whether a write of it takes metadata, too. */
const LIES_IN = {
  status: { member: 'status', withMetadata: true },
  finalize: { member: 'spec', withMetadata: true },
  scale: { member: 'spec', withMetadata: false },
  ephemeralcontainers: { member: 'spec', withMetadata: false },
  approval: { member: 'status', withMetadata: true },
  binding: { member: 'spec', withMetadata: false },
} as const satisfies Readonly<Record<Exclude<Part, ''>, { member: string; withMetadata: boolean }>>;

/** A partial object without what a write of one part does not reach. */
export function withinPart(
  part: Exclude<Part, ''>,
  object: JsonObject,
  { statusLeaves, replicas }: Strategy,
): JsonObject {
  const { apiVersion, kind, metadata } = object;
  const { withMetadata } = LIES_IN[part];
  const member = part === 'scale' ? (replicas[0] ?? '') : LIES_IN[part].member;
  const { name, namespace, ...more } = metadata as Members;
  const place = { name, namespace };
  const leaves = part === 'status' ? statusLeaves : [];
  const written = withMetadata && leaves !== 'everything' ? { ...place, ...more } : place;
  if (leaves !== 'everything') for (const path of leaves) setAt(written, path, undefined);
  const own = Object.hasOwn(object, member) ? { [member]: object[member] } : {};
  return { apiVersion, kind, metadata: written, ...own } as JsonObject; // members of one
}

type Members = Record<string, unknown>;

/** The value at a path of own members; undefined when there is none. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  let here: unknown = object;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Members)[step];
  }
  return here;
}

/** Sets a value, or takes it away where it is undefined; a member that has nothing left goes with it. */
function setAt(object: Members, [step = '', ...rest]: readonly string[], value: unknown): void {
  let next = value;
  if (rest.length > 0) {
    const inner: Members = { ...(object[step] as Members | undefined) };
    setAt(inner, rest, value);
    next = Object.keys(inner).length === 0 ? undefined : inner;
  }
  if (next === undefined) Reflect.deleteProperty(object, step);
  else object[step] = next;
}

function withMember(old: ApiObject, member: string, value: unknown): ApiObject {
  const next: ApiObject = { ...old, metadata: { ...old.metadata } };
  if (value === undefined) Reflect.deleteProperty(next, member);
  else next[member] = value;
  return next;
}

/** The old object with another value at a path; objects on the way that are not there are made. */
export function withValue(old: ApiObject, path: readonly string[], value: unknown): ApiObject {
  const next: ApiObject = { ...old, metadata: { ...old.metadata } };
  setAt(next, path, value);
  return next;
}

/** The old object with one member of `spec` as `next` has it, or without it. */
function withSpecMember(old: ApiObject, member: string, next: ApiObject): ApiObject {
  const spec = { ...(old['spec'] as Record<string, unknown> | undefined) };
  const value = (next['spec'] as Record<string, unknown> | undefined)?.[member];
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  if (isEmpty) Reflect.deleteProperty(spec, member);
  else spec[member] = value;
  return withMember(old, 'spec', spec);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastUpdateTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

/** An approval is written to the conditions, and to nothing else of the status. */
function withApproval(next: ApiObject, old: ApiObject): ApiObject {
  const { conditions } = (next['status'] ?? {}) as { conditions?: readonly Condition[] };
  const status = (old['status'] ?? {}) as { conditions?: readonly Condition[] };
  const decided = conditions?.map((condition) => timed(condition, status.conditions ?? []));
  return { ...withMember(old, 'status', { ...status, conditions: decided }), metadata: next.metadata };
}

/** With the times that were left out: a condition that stays what it was has not changed anew. */
function timed(condition: Condition, before: readonly Condition[]): Condition {
  const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
  return {
    ...condition,
    lastUpdateTime: condition.lastUpdateTime ?? now(),
    lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now(),
  };
}
