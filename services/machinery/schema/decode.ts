import type { Literals } from './literals.js';
import { StatusError, badRequest } from '../meta/status.js';
import type { Type } from '../types/graph.js';
import { rootCodec } from './compile.js';
import { Trail } from './trail.js';

export interface DecodeOptions {
  /** Most unknown members to report; the rest is dropped in silence. */
  readonly maxUnknown?: number;
  /** How the text wrote its numbers: `1.0` is no integer. */
  readonly literals?: Literals | undefined;
}

export interface Decoded {
  /** Owned by the caller, except for raw JSON in it, which is the input's. */
  readonly value: unknown;
  /** Paths of the members that were dropped, e.g. `spec.containers[0].imagee`. */
  readonly unknown: readonly string[];
}

const MAX_UNKNOWN = 100;

/**
 * Brings a parsed body into the form of its declared type: checks the JSON kind of every member, drops unknown ones,
 * normalises times and quantities, leaves out what means the same as nothing, and orders members as declared and map
 * keys by their text. So two bodies that mean the same are written with the same bytes. Whether values make sense
 * together is not asked here.
 *
 * Nothing of `value` is changed. A body that was itself decoded comes out equal.
 *
 * @throws {StatusError} BadRequest when a member is of another kind than declared.
 */
export function decodeObject(
  type: Type,
  value: unknown,
  { maxUnknown = MAX_UNKNOWN, literals }: DecodeOptions = {},
): Decoded {
  const trail = new Trail(maxUnknown, literals);
  try {
    return { value: rootCodec(type).decode(value, trail), unknown: trail.unknown };
  } catch (err) {
    if (err instanceof StatusError) throw badRequest(`${described(type.key)}: ${err.message}`, err);
    throw err;
  }
}

function described(typeKey: string): string {
  const dot = typeKey.lastIndexOf('.');
  const version = typeKey.slice(typeKey.indexOf('/') + 1, dot);
  const kind = typeKey.slice(dot + 1);
  return `${kind} in version "${version}" cannot be handled as a ${kind}`;
}
