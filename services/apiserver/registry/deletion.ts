import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../machinery/meta/object.js';
import { conflict, type ResourceName } from '../../machinery/meta/status.js';
import type { DeleteOptions } from './delete-options.js';
import type { Strategy } from './strategy.js';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export type DeletionStep =
  /** Nothing stands in the way. */
  | { readonly do: 'remove' }
  /**
   * Write `object`: it is marked, and its finalizers or its owner finish the deletion. They may be others than before.
   */
  | { readonly do: 'mark'; readonly object: ApiObject }
  /** It is marked already, and this request changes nothing. */
  | { readonly do: 'nothing' };

/** @throws {StatusError} Conflict */
export function checkPreconditions(resource: ResourceName, object: ApiObject, { preconditions }: DeleteOptions): void {
  const { name = '', uid = '', resourceVersion = '' } = object.metadata;
  const differ = (what: string, asked: string, is: string): string =>
    `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${is}`;
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(resource, name, differ('UID', preconditions.uid, uid));
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(resource, name, differ('ResourceVersion', preconditions.resourceVersion, resourceVersion));
  }
}

/**
 * The effect of a delete request on an object (spec 1, 3.1). Pure: `object` is not changed.
 *
 * @param asked The time of the request, and the version of the type in which it came.
 */
export function nextDeletionStep(
  strategy: Strategy,
  object: ApiObject,
  options: DeleteOptions,
  asked: { readonly nowMs: number; readonly version: string },
): DeletionStep {
  const { nowMs, version } = asked;
  const marked = object.metadata.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null;
  const finalizers = finalizersFor(
    marked ? (object.metadata.finalizers ?? []) : withOwn(object.metadata.finalizers ?? [], strategy),
    options,
    strategy.orphansIn?.includes(version) === true,
  );
  const grace = strategy.gracePeriod?.(object, options) ?? 0;
  const held = finalizers.length > 0 || (strategy.holdsDeletion?.(object) ?? false);
  const graceNow = object.metadata.deletionGracePeriodSeconds ?? 0;
  if (!held && grace === 0) return { do: 'remove' };
  const shorter = grace < graceNow;
  if (marked && !shorter) {
    // Its owner is winding it down: how its dependents go was said when that began.
    if (graceNow > 0 || isDeepStrictEqual(finalizers, object.metadata.finalizers ?? [])) return { do: 'nothing' };
  }
  const next = structuredClone(object);
  if (finalizers.length > 0) next.metadata.finalizers = finalizers;
  else delete next.metadata.finalizers;
  if (!marked || shorter) {
    next.metadata.deletionTimestamp = rfc3339(nowMs + grace * 1000);
    next.metadata.deletionGracePeriodSeconds = grace;
    strategy.markDeleted?.(next);
  }
  if (!marked && (next.metadata.generation ?? 0) > 0) next.metadata.generation = (next.metadata.generation ?? 0) + 1;
  return { do: 'mark', object: next };
}

const withOwn = (finalizers: readonly string[], { deletionFinalizers = [] }: Strategy): readonly string[] => [
  ...new Set([...finalizers, ...deletionFinalizers]),
];

/** Whether a write has just taken away the last thing that held a marked object. */
export function deletionIsDue(strategy: Strategy, object: ApiObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined || deletionTimestamp === null) return false;
  if (finalizers !== undefined && finalizers.length > 0) return false;
  if ((deletionGracePeriodSeconds ?? 0) > 0) return false;
  return !(strategy.holdsDeletion?.(object) ?? false);
}

/** The propagation policy lives on as a finalizer that the garbage collector takes off. */
function finalizersFor(present: readonly string[], o: DeleteOptions, orphansByDefault: boolean): string[] {
  const policy =
    o.propagationPolicy ??
    (o.orphanDependents === undefined ? undefined : o.orphanDependents ? 'Orphan' : 'Background');
  const others = present.filter((f) => f !== ORPHAN && f !== FOREGROUND);
  if (policy === undefined)
    return orphansByDefault && others.length === present.length ? [...present, ORPHAN] : [...present];
  if (policy === 'Background') return others;
  return [...others, policy === 'Orphan' ? ORPHAN : FOREGROUND];
}

const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
