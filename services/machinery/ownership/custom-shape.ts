import type { Structural } from '../structural/structural.js';
import { ATOMIC, DEDUCED, SCALAR, type ListKey, type Shape, type StructShape } from './shape-forms.js';

/**
 * The parts of a custom kind that have owners of their own.
 *
 * @param declared Of the members that its type declares, as all types do: those of its metadata.
 */
export function customShape(schema: Structural, declared: () => ReadonlyMap<string, Shape>): StructShape {
  const { fields, ...shape } = structShapeOf(schema);
  return { ...shape, fields: () => new Map([...fields(), ...declared()]) };
}

/** What is not known was kept without a schema, so it is seen without one. */
const structShapeOf = ({ properties, preserves }: Structural): StructShape => ({
  kind: 'struct',
  fields: () => new Map([...properties].map(([name, property]) => [name, shapeOf(property)])),
  ...(preserves ? { others: DEDUCED } : {}),
});

function shapeOf(schema: Structural): Shape {
  if (schema.intOrString) return SCALAR;
  if (schema.type === 'array') return listShape(schema);
  if (schema.type === 'object') return mapShape(schema);
  return schema.type === undefined ? DEDUCED : SCALAR;
}

function mapShape(schema: Structural): Shape {
  const { additional, mapType, properties, embedded, preserves } = schema;
  if (mapType === 'atomic') return ATOMIC;
  if (properties.size > 0) return structShapeOf(schema);
  if (typeof additional === 'object') return { kind: 'map', values: shapeOf(additional) };
  return additional === true || preserves || embedded ? DEDUCED : structShapeOf(schema);
}

function listShape({ items, listType, listMapKeys }: Structural): Shape {
  if (items === undefined || listType === undefined || listType === 'atomic') return ATOMIC;
  if (listType === 'set') return { kind: 'list-set' };
  return { kind: 'list-map', keys: listMapKeys.map((name) => listKey(items, name)), items: shapeOf(items) };
}

/** A key that is absent is no other value: nothing is left out of what is stored. */
function listKey({ properties }: Structural, name: string): ListKey {
  const byDefault = properties.get(name)?.default;
  return byDefault === undefined ? { name, zero: null } : { name, default: byDefault, zero: null };
}
