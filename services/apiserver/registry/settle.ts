import type { ApiObject } from '../../machinery/meta/object.js';
import { hasReason } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import { prepareForCreate } from './prepare.js';
import { keyOf, type StoredResource } from './resource.js';
import type { WriteDecision, Writer } from './writer.js';

/** Another server may be making or replacing the same object; it does so once. */
const MAX_ATTEMPTS = 5;

/**
 * Brings an object of the server's own in line: makes it when it is not there, else does what `judge` says. What is
 * deleted is made anew. Nothing is written where the cache shows that nothing is missing.
 *
 * @throws {StatusError} When the object could not be written.
 */
export async function settle(
  writer: Writer,
  stored: StoredResource,
  wanted: ApiObject,
  judge: (current: CachedObject) => WriteDecision,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await settledIn(writer, stored, wanted, judge)) return;
  }
  throw new Error(`${stored.hub.kind} ${wanted.metadata.name ?? ''} could not be brought in line`);
}

/** One round. @returns Whether the object is there as it should be. */
async function settledIn(
  writer: Writer,
  stored: StoredResource,
  wanted: ApiObject,
  judge: (current: CachedObject) => WriteDecision,
): Promise<boolean> {
  const { name = '', namespace = '' } = wanted.metadata;
  const seen = stored.cache.newest(keyOf(stored, namespace, name));
  if (seen !== undefined && judge(seen).do === 'nothing') return true;
  try {
    if (seen !== undefined) {
      const { removed } = await writer.change(stored, namespace, name, judge);
      if (!removed) return true;
    }
    await create(writer, stored, wanted);
    return true;
  } catch (err) {
    if (hasReason(err, 'AlreadyExists') || hasReason(err, 'NotFound')) return false; // somebody was quicker
    throw err;
  }
}

async function create(writer: Writer, stored: StoredResource, wanted: ApiObject): Promise<void> {
  const object: ApiObject = { ...wanted, metadata: { ...wanted.metadata } };
  prepareForCreate(stored, object);
  await writer.create(stored, object);
}
