import { facet, type Type } from '../../types/graph.js';
import { isEnvelopes } from './messages.js';

/** Whether objects of a type can be Protobuf: every field of all that it is made of has a number. */
export const hasWireForm = facet((type): boolean => isNumbered(type, new Set()));

function isNumbered(type: Type, seen: Set<Type>): boolean {
  if (type.scalar !== undefined || seen.has(type)) return true;
  seen.add(type); // types may contain themselves
  if (type.form === 'list') return isNumbered(type.items, seen);
  return type.declared.every(
    (field) => isEnvelopes(field) || (field.declaration.proto !== undefined && isNumbered(field.type, seen)),
  );
}
