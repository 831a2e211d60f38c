import type { ApiObject } from '../../../machinery/meta/object.js';
import { alreadyExists, notFound } from '../../../machinery/meta/status.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { StoredResource } from '../resources.js';
import type { WriteDecision, Writer, Written } from '../writer.js';

/** Creates an object as a client's request would. @throws {StatusError} AlreadyExists */
export async function createObject(
  writer: Writer,
  stored: StoredResource,
  object: ApiObject,
  o: { readonly dryRun?: boolean } = {},
): Promise<CachedObject> {
  const { name = '', namespace = '' } = object.metadata;
  const { object: written } = await writer.write({ stored, namespace, name, isNew: true, ...o }, (current) => {
    if (current !== undefined) throw alreadyExists(stored.hub, name);
    return { do: 'put', object };
  });
  return written as CachedObject; // undefined after a dry run, whose callers do not use it
}

/** Changes an object that has to be there. @throws {StatusError} NotFound */
export async function changeObject(
  writer: Writer,
  stored: StoredResource,
  name: string,
  decide: (current: CachedObject) => WriteDecision,
  o: { readonly dryRun?: boolean } = {},
): Promise<Written & { readonly object: CachedObject }> {
  const written = await writer.write({ stored, namespace: 'ns', name, ...o }, (current) => {
    if (current === undefined) throw notFound(stored.hub, name);
    return decide(current);
  });
  return { ...written, object: written.object as CachedObject }; // what is not there has been refused
}
