import type { Literals } from './literals.js';
import { StatusError, badRequest } from '../meta/status.js';
import type { TypeDeclaration } from '../types/declarations.js';
import { Compiler } from './compile.js';
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
const compilers = new WeakMap<ReadonlyMap<string, TypeDeclaration>, Compiler>();

/**
 * Brings a parsed body into the form of its declared type: checks the JSON kind of every member, drops unknown ones,
 * normalises times and quantities, leaves out what means the same as nothing, and orders members as declared and map
 * keys by their text. So two bodies that mean the same are written with the same bytes. Whether values make sense
 * together is not asked here.
 *
 * Nothing of `value` is changed. A body that was itself decoded comes out equal.
 *
 * @param types Compiled as types are met, and kept for as long as this map is.
 * @param typeKey e.g. `core/v1.ConfigMap`.
 * @throws {StatusError} BadRequest when a member is of another kind than declared.
 */
export function decodeObject(
  types: ReadonlyMap<string, TypeDeclaration>,
  typeKey: string,
  value: unknown,
  { maxUnknown = MAX_UNKNOWN, literals }: DecodeOptions = {},
): Decoded {
  let compiler = compilers.get(types);
  if (compiler === undefined) {
    compiler = new Compiler(types);
    compilers.set(types, compiler);
  }
  const trail = new Trail(maxUnknown, literals);
  try {
    return { value: compiler.root(typeKey).decode(value, trail), unknown: trail.unknown };
  } catch (err) {
    if (err instanceof StatusError) throw badRequest(`${described(typeKey)}: ${err.message}`, err);
    throw err;
  }
}

function described(typeKey: string): string {
  const dot = typeKey.lastIndexOf('.');
  const version = typeKey.slice(typeKey.indexOf('/') + 1, dot);
  const kind = typeKey.slice(dot + 1);
  return `${kind} in version "${version}" cannot be handled as a ${kind}`;
}
