import { decodeObject } from '../../../../machinery/schema/decode.js';
import { Trail, type Codec } from '../../../../machinery/schema/trail.js';
import { CustomReader } from '../../../../machinery/structural/custom-reader.js';
import { embeddedProblems } from '../../../../machinery/structural/embedded.js';
import { duplicateItems } from '../../../../machinery/structural/list-keys.js';
import { readSchema } from '../../../../machinery/structural/read-schema.js';
import { brokenRules } from '../../../../machinery/structural/rules.js';
import { jsonEqual } from '../../../../machinery/meta/own.js';
import type { FieldError } from '../../../../machinery/meta/status.js';
import { META_TYPES } from '../../../../machinery/types/meta-types.js';
import { validate } from '../../../../machinery/structural/validate.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import { eachInside, type Schema } from './schemas.js';

/** Metadata inside of a default is held against its type. */
const METADATA: Codec = {
  decode: (value) => decodeObject(META_TYPES.of('meta/v1.ObjectMeta'), value).value,
  isZero: () => false,
  zero: () => null,
  type: 'ObjectMeta',
};

/** Asks of each default whether the schema that has it would take it as a value, and knows all of it. */
export function checkDefaults(at: At, schema: Schema, extension: Vocabulary['openApiExtension']): void {
  const byDefault = schema['default'] ?? undefined;
  if (byDefault !== undefined) checkDefault(at, schema, byDefault, extension);
  eachInside(at, schema, (insideAt, inside) => checkDefaults(insideAt, inside, extension));
}

function checkDefault(at: At, schema: Schema, value: unknown, extension: Vocabulary['openApiExtension']): void {
  const { default: _, ...asked } = schema;
  // As the only member of an object: problems are told with its name in front.
  const around = readSchema({ type: 'object', properties: { default: asked } }, extension);
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
    ...brokenRules(object, around),
  ];
  for (const problem of problems) at.problems.push(placed(problem, at.path));
}

const placed = (problem: FieldError, path: string): FieldError => ({
  ...problem,
  field: problem.field.startsWith('default') ? `${path}.${problem.field}` : `${path}.default`,
});
