import type { FieldDeclaration } from '../types/declarations.js';
import { facet, type Field, type Type } from '../types/graph.js';
import { customShape } from './custom-shape.js';
import { ATOMIC, SCALAR, type ListKey, type Shape, type StructShape } from './shape-forms.js';

export * from './shape-forms.js';

const OWNERLESS_ROOT = new Set(['apiVersion', 'kind']);
const OWNERLESS_METADATA = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'resourceVersion',
  'managedFields',
]);
const ZEROS: ReadonlyMap<string, unknown> = new Map(
  Object.entries<unknown>({ string: '', bool: false, int32: 0, int64: 0 }),
);

/** A whole object of that shape: what says which object it is, and what only the server writes, has no owner. */
export function objectShape(shape: StructShape): StructShape {
  return {
    ...shape,
    ownerless: OWNERLESS_ROOT,
    fields: () => {
      const fields = new Map(shape.fields());
      const metadata = fields.get('metadata');
      if (metadata?.kind === 'struct') fields.set('metadata', { ...metadata, ownerless: OWNERLESS_METADATA });
      for (const name of OWNERLESS_ROOT) fields.set(name, SCALAR);
      return fields;
    },
  };
}

/** The shape of a structure. */
export const structShape = facet((type): StructShape => {
  const fields = () => new Map(type.fields.map((field): [string, Shape] => [field.name, fieldShape(field)]));
  const { custom } = type.declaration;
  return custom === undefined ? { kind: 'struct', fields } : customShape(custom.schema(), fields);
});

function shapeOf(type: Type): Shape {
  if (type.scalar !== undefined) return type.scalar === 'rawJSON' ? ATOMIC : SCALAR;
  return type.form === 'struct' ? structShape(type) : ATOMIC;
}

/** @param structType That of the field, where it says so; else of the type. */
const valueShape = (type: Type, structType = type.declaration.structType): Shape =>
  type.form === 'struct' && structType === 'atomic' ? ATOMIC : shapeOf(type);

function fieldShape({ holds, type, declaration }: Field): Shape {
  if (holds === 'list') return listShape(type, declaration);
  if (holds === 'one') return valueShape(type, declaration.structType);
  return declaration.mapType === 'atomic' ? ATOMIC : { kind: 'map', values: shapeOf(type) };
}

function listShape(type: Type, declaration: FieldDeclaration): Shape {
  if (shapeOf(type).kind === 'scalar') return isSet(declaration) ? { kind: 'list-set' } : ATOMIC;
  const keys = type.form === 'struct' ? listKeys(declaration) : undefined;
  if (keys === undefined) return ATOMIC;
  return { kind: 'list-map', keys: keys.map((name) => listKey(type, name)), items: valueShape(type) };
}

function listKey(type: Type, name: string): ListKey {
  const field = type.field(name);
  const zero = ZEROS.get(field?.type.scalar ?? '') ?? null;
  const byDefault = field?.declaration.default ?? (isAlwaysThere(field?.declaration) ? zero : undefined);
  return byDefault === undefined ? { name, zero } : { name, default: byDefault, zero };
}

/** Such a member has a value in every object: who leaves it out means the zero of its type. */
const isAlwaysThere = (field: FieldDeclaration | undefined): boolean =>
  field?.alwaysEmit === true && field.nullable !== true;

/** The older marker, where there is none of the new ones. */
const isMerged = ({ listType, patchStrategy }: FieldDeclaration): boolean =>
  listType === undefined && (patchStrategy ?? '').split(',').includes('merge');

function listKeys(field: FieldDeclaration): readonly string[] | undefined {
  if (field.listType === 'map') return field.listMapKeys;
  return isMerged(field) && field.patchMergeKey !== undefined ? [field.patchMergeKey] : undefined;
}

const isSet = (field: FieldDeclaration): boolean =>
  field.listType === 'set' || (isMerged(field) && field.patchMergeKey === undefined);
