import { isJsonObject } from '../meta/own.js';
import { printPath } from './fields-tree.js';
import type { Shape } from './shape-forms.js';
import { NotApplicable } from './walker.js';
import { walkerOf } from './walkers.js';

/** A configuration that does not fit its type, or says more than it may. */
export class NotLaidOver extends Error {
  override readonly name = 'NotLaidOver';
}

/**
 * Lays a configuration over an object, as an apply does, for somebody who owns nothing of it: so nothing is taken out. What is
 * replaced as a whole cannot be part of it, as that would take out what others have put there.
 *
 * @throws {NotLaidOver}
 */
export function layOver(shape: Shape, live: unknown, config: unknown): unknown {
  checkDeclared(shape, config, '');
  const wholes = wholesOf(shape, config, '');
  if (wholes.length > 0) {
    const why = `may not mutate atomic arrays, maps or structs: ${wholes.join(', ')}`;
    throw new NotLaidOver(`invalid ApplyConfiguration: ${why}`);
  }
  const walker = walkerOf(shape);
  try {
    walker.fields(config, false, []); // throws for items that cannot be told apart
  } catch (err) {
    if (!(err instanceof NotApplicable)) throw err;
    throw new NotLaidOver(`failed to convert patch object to typed object: ${printPath(err.steps)}: ${err.message}`);
  }
  return walker.merge(live, config);
}

/** The values inside of one, with their shapes and places; undefined: it is no member that there is. */
function* partsOf(
  shape: Shape,
  value: unknown,
): Iterable<readonly [shape: Shape | undefined, value: unknown, step: string]> {
  if (Array.isArray(value)) {
    if (shape.kind !== 'list-map') return;
    for (const [i, item] of (value as unknown[]).entries()) yield [shape.items, item, `[${i}]`];
  } else if (isJsonObject(value) && shape.kind === 'struct') {
    const fields = shape.fields();
    for (const [name, member] of Object.entries(value)) yield [fields.get(name) ?? shape.others, member, `.${name}`];
  } else if (isJsonObject(value) && shape.kind === 'map') {
    for (const [name, member] of Object.entries(value)) yield [shape.values, member, `.${name}`];
  }
}

/** @throws {NotLaidOver} */
function checkDeclared(shape: Shape, value: unknown, path: string): void {
  for (const [inner, member, step] of partsOf(shape, value)) {
    if (inner !== undefined) checkDeclared(inner, member, path + step);
    else {
      const why = `${path}${step}: field not declared in schema`;
      throw new NotLaidOver(`failed to convert patch object to typed object: ${why}`);
    }
  }
}

/** Places of lists and objects that have one owner. */
function wholesOf(shape: Shape, value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (shape.kind === 'atomic') return [path];
  if (shape.kind === 'deduced') return Array.isArray(value) ? [path] : deducedWholes(value, path);
  return [...partsOf(shape, value)].flatMap(([inner, member, step]) =>
    inner === undefined ? [] : wholesOf(inner, member, path + step),
  );
}

const deducedWholes = (value: object, path: string): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => wholesOf({ kind: 'deduced' }, member, `${path}.${name}`));
