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
  const { name = '', namespace = '' } = wanted.metadata;
  const seen = stored.cache.newest(keyOf(stored, namespace, name));
  if (seen !== undefined && judge(seen).do === 'nothing') return;
  let there = seen !== undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (there ? await changed(writer, stored, wanted, judge) : await created(writer, stored, wanted)) return;
    there = !there; // by the word of the store: the cache may not know yet what another server has made
  }
  throw new Error(`${stored.hub.kind} ${name} could not be brought in line`);
}

/** @returns False when it is not there, or not any more. */
async function changed(
  writer: Writer,
  stored: StoredResource,
  { metadata: { name = '', namespace = '' } }: ApiObject,
  judge: (current: CachedObject) => WriteDecision,
): Promise<boolean> {
  try {
    const { removed } = await writer.change(stored, namespace, name, judge);
    return !removed;
  } catch (err) {
    if (hasReason(err, 'NotFound')) return false;
    throw err;
  }
}

/** @returns False when it is there. */
async function created(writer: Writer, stored: StoredResource, wanted: ApiObject): Promise<boolean> {
  const object: ApiObject = { ...wanted, metadata: { ...wanted.metadata } };
  prepareForCreate(stored, object);
  try {
    await writer.create(stored, object);
    return true;
  } catch (err) {
    if (hasReason(err, 'AlreadyExists')) return false;
    throw err;
  }
}
