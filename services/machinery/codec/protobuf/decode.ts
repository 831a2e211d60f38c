import type { JsonObject } from '../../meta/object.js';
import type { Type } from '../../types/graph.js';
import { messageOf } from './messages.js';
import { WireReader } from './wire.js';

/**
 * Reads an object of a declared type: what a client would have sent as JSON. Members that say nothing (a zero in a
 * field that is no pointer) are left out, except where JSON always has them. An object of a kind gets its kind, and the
 * apiVersion that its type has; both are in the envelope only, which may say another apiVersion for types that all
 * groups share, e.g. DeleteOptions.
 *
 * The result is owned by the caller and, like any body, not in normal form before `decodeObject`.
 *
 * @param type A structure with field numbers, e.g. `core/v1.ConfigMap`.
 * @throws {StatusError} BadRequest when the bytes are no such message, or hold what JSON cannot.
 */
export function decodeProtobuf(type: Type, raw: Buffer): JsonObject {
  const object: Record<string, unknown> = type.declaration.kind === true ? typeMeta(type.key) : {};
  messageOf(type).readMembers(new WireReader(raw), object);
  return object as JsonObject; // readers give nothing else
}

/** `core/v1.Pod` is a `Pod` of `v1`. */
function typeMeta(typeKey: string): { kind: string; apiVersion: string } {
  const dot = typeKey.lastIndexOf('.');
  return { kind: typeKey.slice(dot + 1), apiVersion: typeKey.slice(0, dot).replace(/^(core|meta)\//, '') };
}
