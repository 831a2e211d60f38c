import { decodeObject } from '../../../../machinery/schema/decode.js';
import { Trail, type Codec } from '../../../../machinery/schema/trail.js';
import { CustomReader } from '../../../../machinery/structural/custom-reader.js';
import { embeddedProblems } from '../../../../machinery/structural/embedded.js';
import { duplicateItems } from '../../../../machinery/structural/list-keys.js';
import { readSchema } from '../../../../machinery/structural/read-schema.js';
import { askRules } from '../../../../machinery/structural/rules.js';
import type { Structural } from '../../../../machinery/structural/structural.js';
import { jsonEqual } from '../../../../machinery/meta/own.js';
import type { FieldError } from '../../../../machinery/meta/status.js';
import { META_TYPES } from '../../../../machinery/types/meta-types.js';
import { validate } from '../../../../machinery/structural/validate.js';
import type { Work } from '../../../../machinery/work/work.js';
import type { At } from '../checks/at.js';

/** Metadata inside of a default is held against its type. */
const METADATA: Codec = {
  decode: (value) => decodeObject(META_TYPES.of('meta/v1.ObjectMeta'), value).value,
  isZero: () => false,
  zero: () => null,
  type: 'ObjectMeta',
};

/** Asks of each default whether the schema that has it would take it as a value, and knows all of it. */
export function* checkDefaults(at: At, schema: Structural): Work<void> {
  if (!schema.hasDefaults) return;
  if (schema.default !== undefined) {
    yield* checkDefault(at, schema);
    yield;
  }
  const { properties, items, additional } = schema;
  for (const [name, property] of properties) yield* checkDefaults(at.child('properties').key(name), property);
  if (items !== undefined) yield* checkDefaults(at.child('items'), items);
  if (typeof additional === 'object') yield* checkDefaults(at.child('additionalProperties'), additional);
}

const OBJECT = readSchema({ type: 'object' }, (name) => name);

function* checkDefault(at: At, schema: Structural): Work<void> {
  const { default: value } = schema;
  // As the only member of an object: problems are told with its name in front.
  const around = { ...OBJECT, properties: new Map([['default', schema]]) };
  const object = { default: value };
  const trail = new Trail(1);
  try {
    const known = new CustomReader(trail, METADATA).root(object, around);
    if (trail.unknown.length > 0 || !jsonEqual(known, object))
      at.invalid('default', value, 'must not have unknown fields');
  } catch (err) {
    at.invalid('default', value, (err as Error).message);
    return;
  }
  const problems = [
    ...validate(object, around),
    ...duplicateItems(object, around),
    ...embeddedProblems(object, around),
    ...(yield* askRules(object, around)),
  ];
  for (const problem of problems) at.problems.push(placed(problem, at.path));
}

const placed = (problem: FieldError, path: string): FieldError => ({
  ...problem,
  field: problem.field.startsWith('default') ? `${path}.${problem.field}` : `${path}.default`,
});
