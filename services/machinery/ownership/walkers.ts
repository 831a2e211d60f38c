import { deducedWalker } from './deduced-walker.js';
import { atomicWalker, scalarWalker, StructWalker, type Walker } from './walker.js';
import { keyNames, setNames, ListWalker } from './list-walker.js';
import type { Shape } from './shape.js';

const walkers = new WeakMap<Shape, Walker>();
const NONE: ReadonlySet<string> = new Set();

/** The walker of a shape: one for each, so that shapes may contain themselves. */
export function walkerOf(shape: Shape): Walker {
  let walker = walkers.get(shape);
  if (walker === undefined) {
    walker = build(shape);
    walkers.set(shape, walker);
  }
  return walker;
}

function build(shape: Shape): Walker {
  switch (shape.kind) {
    case 'scalar':
      return scalarWalker;
    case 'atomic':
      return atomicWalker;
    case 'deduced':
      return deducedWalker;
    case 'list-set':
      return new ListWalker(setNames, scalarWalker);
    case 'list-map':
      return new ListWalker(keyNames(shape.keys), walkerOf(shape.items));
    case 'map':
      return new StructWalker(() => ({ fields: new Map(), ownerless: NONE }), walkerOf(shape.values));
    case 'struct': {
      const { fields, others, ownerless = NONE } = shape;
      const load = () => ({
        fields: new Map([...fields()].map(([name, field]) => [name, walkerOf(field)])),
        ownerless,
      });
      return new StructWalker(load, others === undefined ? undefined : walkerOf(others));
    }
  }
}
