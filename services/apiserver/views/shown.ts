import { metadataSpan } from '../../machinery/codec/metadata-span.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { CachedObject } from '../cache/cached-object.js';
import type { ServedResource } from '../registry/resources.js';

/** What is to be shown: an object of the cache, or a state that is not stored. Both in the storage version. */
export type Shown = CachedObject | ApiObject;

/** Of a cached object a copy that the caller may change; a state itself. */
export const parsed = (shown: Shown): ApiObject =>
  shown instanceof CachedObject ? (shown.parse() as ApiObject) : shown; // we encoded it

/** In the served version. */
export const inServedVersion = (served: ServedResource, shown: Shown): ApiObject =>
  served.servesStorageVersion ? parsed(shown) : served.fromStorage(parsed(shown));

/** JSON in the served version: the stored bytes themselves wherever that is the version. */
export function jsonOf(served: ServedResource, shown: Shown): Buffer {
  if (served.servesStorageVersion && shown instanceof CachedObject) return shown.bytes;
  return Buffer.from(JSON.stringify(inServedVersion(served, shown)));
}

/** JSON of metadata, which is the same in all versions. */
export const metadataOf = (shown: Shown): Buffer =>
  shown instanceof CachedObject
    ? metadataSpan(shown.bytes, shown.layout.prefixLength)
    : Buffer.from(JSON.stringify(shown.metadata));

export const versionOf = (shown: Shown): string =>
  shown instanceof CachedObject ? String(shown.revision) : (shown.metadata.resourceVersion ?? '');
