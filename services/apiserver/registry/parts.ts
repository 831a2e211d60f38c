import type { ApiObject } from '../../machinery/meta/object.js';
import { now } from '../../machinery/meta/time.js';

/** Makes the next state of an object of which only a part is written; the rest stays as it is stored. */
type TakePart = (next: ApiObject, old: ApiObject) => ApiObject;

/** What a write through a sub-resource can reach of the object that it belongs to. */
const TAKE = {
  status: (next, old) => withMember(old, 'status', next['status']),
  finalize: (next, old) => withSpecMember(old, 'finalizers', next),
  scale: (next, old) => withSpecMember(old, 'replicas', next),
  ephemeralcontainers: (next, old) => withSpecMember(old, 'ephemeralContainers', next),
  approval: withApproval,
  binding: (next) => next,
} as const satisfies Readonly<Record<string, TakePart>>;

/** Which part of an object a request may write; '' is everything but the status. */
export type Part = '' | keyof typeof TAKE;

/** undefined for a sub-resource that is something else than a part. */
export const partOf = (subresource: string): Part | undefined =>
  subresource === '' || Object.hasOwn(TAKE, subresource) ? (subresource as Part) : undefined;

export const takePart = (part: Exclude<Part, ''>, next: ApiObject, old: ApiObject): ApiObject => TAKE[part](next, old);

function withMember(old: ApiObject, member: string, value: unknown): ApiObject {
  const next: ApiObject = { ...old, metadata: { ...old.metadata } };
  if (value === undefined) Reflect.deleteProperty(next, member);
  else next[member] = value;
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

/** Who approves says so in conditions, and may say nothing else. */
function withApproval(next: ApiObject, old: ApiObject): ApiObject {
  const { conditions } = (next['status'] ?? {}) as { conditions?: readonly Condition[] };
  const status = (old['status'] ?? {}) as { conditions?: readonly Condition[] };
  return withMember(old, 'status', {
    ...status,
    conditions: conditions?.map((condition) => timed(condition, status.conditions ?? [])),
  });
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
