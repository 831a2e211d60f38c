import { inParallel } from '../../machinery/loop/in-parallel.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import type { CachedObject } from '../cache/cached-object.js';
import { isReadable } from '../cache/cached-object.js';
import { IMMEDIATELY } from '../registry/delete-options.js';
import { nextDeletionStep } from '../registry/deletion.js';
import type { StoredResource } from '../registry/resources.js';
import type { WriteDecision, Writer } from '../registry/writer.js';

/** Deletions that are under way at once. */
const AT_ONCE = 16;

/**
 * Deletes every object of a resource, as a request would: those with finalizers are marked, and stay until their owners
 * have let go of them.
 *
 * @returns Whether none is left, as far as this server has seen.
 */
export async function deleteInstances(writer: Writer, stored: StoredResource, signal: AbortSignal): Promise<boolean> {
  const { cache } = stored;
  if (!cache.loaded) return false;
  const present = [...cache.objects()].filter(isReadable);
  await inParallel(present, AT_ONCE, async ({ namespace, name }) => {
    if (!signal.aborted) await writer.write({ stored, namespace, name }, (current) => deletion(stored, current));
  });
  return cache.size === 0;
}

function deletion({ strategy, hub }: StoredResource, current: CachedObject | undefined): WriteDecision {
  if (current === undefined) return { do: 'nothing' };
  const object = current.parse() as ApiObject; // we encoded it
  const asked = { nowMs: Date.now(), version: hub.version };
  const step = nextDeletionStep(strategy, object, IMMEDIATELY, asked);
  if (step.do === 'remove') return { do: 'delete' };
  return step.do === 'mark' ? { do: 'put', object: step.object } : { do: 'nothing' };
}
