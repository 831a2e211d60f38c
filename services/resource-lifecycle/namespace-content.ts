import type { DiscoveredResource } from '../client/discovery/discovery.js';
import { isApiError, type ApiClient } from '../client/rest/client.js';
import type { Metadata } from '../client/rest/resource-type.js';
import { inParallel } from '../machinery/loop/in-parallel.js';
import type { Emptied, Remaining } from './namespace-conditions.js';

/** Resources of a namespace that are emptied at once. */
const PARALLEL = 8;
/** Objects that are deleted one by one at once, where there is no way to delete all. */
const PARALLEL_DELETES = 20;

export interface ContentResult extends Emptied {
  /** Longest grace period of what is left, in seconds: no use to look sooner. 0: nothing says. */
  readonly graceSeconds: number;
}

/** Resources whose objects lie in namespaces and can be listed and deleted. Of each group the version to be used. */
export const deletable = (resources: readonly DiscoveredResource[]): readonly DiscoveredResource[] =>
  resources.filter(
    ({ namespaced, verbs, isPreferred }) => namespaced && isPreferred && verbs.has('list') && verbs.has('delete'),
  );

/**
 * Deletes everything in a namespace, and looks what is left. Resources that are empty cost one request.
 *
 * @throws `signal.reason`; what the server refuses is part of the result.
 */
export async function emptyNamespace(
  client: ApiClient,
  namespace: string,
  resources: readonly DiscoveredResource[],
  signal: AbortSignal,
): Promise<Omit<ContentResult, 'undiscovered'>> {
  const failures: string[] = [];
  const remaining: Remaining[] = [];
  let graceSeconds = 0;
  await inParallel(resources, PARALLEL, async (type) => {
    try {
      const left = await emptied(client, namespace, type, signal);
      if (left.length === 0) return;
      remaining.push({
        resource: `${type.resource}.${type.group}`,
        count: left.length,
        finalizers: finalizersOf(left),
      });
      for (const { metadata } of left) graceSeconds = Math.max(graceSeconds, metadata.deletionGracePeriodSeconds ?? 0);
    } catch (err) {
      signal.throwIfAborted();
      failures.push(`${type.resource}.${type.group}: ${(err as Error).message}`);
    }
  });
  return { failures, remaining, graceSeconds };
}

/** @returns What is left. */
async function emptied(
  client: ApiClient,
  namespace: string,
  type: DiscoveredResource,
  signal: AbortSignal,
): Promise<readonly Metadata[]> {
  const objects = client.metadata(type);
  const list = async (): Promise<readonly Metadata[]> => {
    try {
      return (await objects.list({ namespace }, signal)).items;
    } catch (err) {
      // A type that went after it was discovered has taken its objects along.
      if (isApiError(err, 'NotFound', 'MethodNotAllowed')) return [];
      throw err;
    }
  };
  const present = await list();
  const undeleted = present.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (undeleted.length === 0) return present;
  if (type.verbs.has('deletecollection')) {
    await objects.deleteCollection({ namespace, propagationPolicy: 'Background' }, signal);
  } else {
    await inParallel(undeleted, PARALLEL_DELETES, async ({ metadata: { name, uid } }) => {
      try {
        const o = { propagationPolicy: 'Background', preconditions: { uid } } as const;
        await objects.delete({ namespace, name }, o, signal);
      } catch (err) {
        if (!isApiError(err, 'NotFound', 'Conflict')) throw err;
      }
    });
  }
  return list();
}

function finalizersOf(objects: readonly Metadata[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of objects) {
    for (const name of metadata.finalizers ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
