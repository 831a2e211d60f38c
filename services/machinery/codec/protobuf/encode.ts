import type { JsonObject } from '../../meta/object.js';
import type { Type } from '../../types/graph.js';
import { messageOf } from './messages.js';
import { written } from './wire-writer.js';

/**
 * Writes an object as clients and servers of the API write it: fields by number, maps by key; a field that is no
 * pointer is there also when it is zero, and nothing that is absent behind a pointer, in a list or in a map.
 * apiVersion and kind are not part of it but of the envelope.
 *
 * @param type A structure with field numbers, e.g. `core/v1.ConfigMap`.
 * @param object In the form that `decodeObject` gives.
 * @throws {TypeError} when a member is of another kind than declared.
 */
export function encodeProtobuf(type: Type, object: JsonObject): Buffer {
  const message = messageOf(type);
  return written((writer) => {
    message.writeMembers(writer, object);
  });
}
