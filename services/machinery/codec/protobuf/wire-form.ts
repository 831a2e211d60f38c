import type { TypeDeclaration } from '../../types/declarations.js';
import { SCALARS } from './scalars.js';

type Types = ReadonlyMap<string, TypeDeclaration>;
const known = new WeakMap<Types, Map<string, boolean>>();

/** Whether objects of a type can be Protobuf: every field of all that it is made of has a number. */
export function hasWireForm(types: Types, typeKey: string): boolean {
  let answers = known.get(types);
  if (answers === undefined) known.set(types, (answers = new Map<string, boolean>()));
  const answer = answers.get(typeKey) ?? isNumbered(types, typeKey, new Set());
  answers.set(typeKey, answer);
  return answer;
}

function isNumbered(types: Types, key: string, seen: Set<string>): boolean {
  if (SCALARS.has(key) || seen.has(key)) return true;
  seen.add(key); // types may contain themselves
  const declaration = types.get(key);
  if (declaration === undefined) return false;
  if (declaration.scalar !== undefined) return SCALARS.has(declaration.scalar);
  if (declaration.listOf !== undefined) return isNumbered(types, declaration.listOf, seen);
  return (declaration.fields ?? []).every(
    ({ inline, proto, type, jsonHidden }) =>
      jsonHidden === true ||
      (inline === true && proto === undefined) ||
      (proto !== undefined && isNumbered(types, type, seen)),
  );
}
