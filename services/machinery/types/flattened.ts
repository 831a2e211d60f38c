import type { FieldDeclaration, TypeDeclaration } from './declarations.js';

/**
 * The members that a type has in JSON, in the order they are written in: inline types give their fields to the type they
 * stand in, its own come first where names meet.
 */
export function flattenedFields(
  types: ReadonlyMap<string, TypeDeclaration>,
  { fields = [] }: TypeDeclaration,
): readonly FieldDeclaration[] {
  const declared = fields.filter((field) => field.jsonHidden !== true);
  const own = new Set(declared.flatMap((field) => (field.inline === true ? [] : [field.name])));
  return declared.flatMap((field) => {
    if (field.inline !== true) return [field];
    const inner = types.get(field.type);
    if (inner === undefined) throw new Error(`No declaration of type ${field.type}`);
    return flattenedFields(types, inner).filter(({ name }) => !own.has(name));
  });
}
