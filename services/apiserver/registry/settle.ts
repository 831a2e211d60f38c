import type { ApiObject } from '../../machinery/meta/object.js';
import { THE_SERVER } from '../request/users.js';
import type { CachedObject } from '../cache/cached-object.js';
import { prepareForCreate } from './prepare.js';
import { keyOf, type StoredResource } from './resources.js';
import type { WriteDecision, Writer } from './writer.js';

/**
 * Brings an object of the server's own in line: makes it when it is not there, else does what `judge` says. What is
 * deleted is made anew. Nothing is written, or asked of the store, where the cache shows that nothing is missing.
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
  const target = { stored, namespace, name };
  const seen = stored.cache.newest(keyOf(stored, namespace, name));
  if (seen !== undefined && judge(seen).do === 'nothing') return;
  const decide = (current: CachedObject | undefined): WriteDecision => {
    if (current !== undefined) return judge(current);
    const object: ApiObject = { ...wanted, metadata: { ...wanted.metadata } };
    prepareForCreate(stored, object, THE_SERVER);
    return { do: 'put', object };
  };
  const { removed } = await writer.write(target, decide);
  if (removed) await writer.write(target, decide);
}
