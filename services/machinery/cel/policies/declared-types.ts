import type { ScalarType } from '../../types/declarations.js';
import { facet, type Field, type Type } from '../../types/graph.js';
import { escapedName, typeOfSchema } from '../schema-types.js';
import { BOOL, BYTES, DOUBLE, DYN, INT, listOf, mapOf, STRING, TIMESTAMP, type CelType } from '../types.js';

/** Those that are not here may be anything. */
const SCALARS: ReadonlyMap<ScalarType, CelType> = new Map<ScalarType, CelType>([
  ['string', STRING],
  ['bool', BOOL],
  ['int32', INT],
  ['int64', INT],
  ['double', DOUBLE],
  ['bytes', BYTES],
  ['time', TIMESTAMP],
  ['microTime', TIMESTAMP],
  ['quantity', STRING],
  ['duration', STRING],
]);

/** The type that values of a declared type have in expressions, where these are held against it. */
export const celTypeOf = facet((type: Type): CelType => {
  if (type.scalar !== undefined) return SCALARS.get(type.scalar) ?? DYN;
  if (type.form === 'list') return listOf(celTypeOf(type.items));
  if (type.form !== 'struct' || type.declaration.custom?.schema().preserves === true) return DYN;
  let fields: ReadonlyMap<string, CelType> | undefined;
  return { kind: 'object', name: type.key, fields: () => (fields ??= fieldsOf(type)) };
});

/** By their names, and by the form that names have which are words of the language. */
function fieldsOf(type: Type): ReadonlyMap<string, CelType> {
  const fields = new Map<string, CelType>();
  const add = (name: string, of: CelType): void => {
    fields.set(name, of);
    const escaped = escapedName(name);
    if (escaped !== undefined) fields.set(escaped, of);
  };
  for (const [name, property] of type.declaration.custom?.schema().properties ?? [])
    add(name, typeOfSchema(property) ?? DYN);
  for (const field of type.fields) add(field.name, typeOfField(field));
  return fields;
}

function typeOfField({ holds, type }: Field): CelType {
  const of = celTypeOf(type);
  if (holds === 'one') return of;
  return holds === 'list' ? listOf(of) : mapOf(STRING, of);
}
