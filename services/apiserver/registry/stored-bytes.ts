import { encodeObject } from '../../machinery/codec/encode.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { turns } from '../http/turns.js';

/** What a store takes in one request is 1.5 MiB unless its operators say otherwise; key and framing need a little. */
const MAX_BYTES = 1.5 * 1024 * 1024 - 16 * 1024;

/**
 * The bytes to store. Who owns which field is worth less than the object itself: where both together are too much for
 * the store, the owners go; that takes another turn of the event loop.
 */
export function storedBytes(object: ApiObject): Buffer | Promise<Buffer> {
  const bytes = encodeObject(object);
  if (bytes.length <= MAX_BYTES || object.metadata.managedFields === undefined) return bytes;
  const { managedFields, ...metadata } = object.metadata;
  return turns.alone().then(() => encodeObject({ ...object, metadata }));
}
