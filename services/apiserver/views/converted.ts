import type { ApiObject } from '../../machinery/meta/object.js';
import { CachedObject } from '../cache/cached-object.js';
import type { Form } from '../http/negotiation.js';
import type { Asker } from '../http/turns.js';
import type { ServedResource } from '../registry/resources.js';

/**
 * Whether objects have to be brought into the version of an answer by another server. Not where only metadata is shown: that
 * is the same in all versions, but for labels and annotations, which are shown as they are stored. So those who look at
 * metadata alone, as the garbage collection, do not depend on that server.
 */
export const isConverted = ({ conversion }: ServedResource, { view }: Pick<Form, 'view'>): boolean =>
  conversion !== undefined && view !== 'metadata';

/**
 * An object in the version of the answer.
 *
 * @throws {StatusError} InternalError when it cannot be converted @throws `asker.signal.reason` when the asker has left
 */
export async function inVersion<T extends CachedObject | ApiObject>(
  { conversion }: ServedResource,
  shown: T,
  { signal }: Asker,
): Promise<T> {
  if (conversion === undefined) return shown;
  const made = shown instanceof CachedObject ? conversion.object(shown, signal) : conversion.state(shown, signal);
  return (await made) as T; // what it was made of
}
