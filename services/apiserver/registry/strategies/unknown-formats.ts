import { isKnownFormat } from '../../../machinery/structural/formats.js';
import type { CustomResourceDefinition } from '../../../machinery/types/generated/apiextensions.v1.js';
import { isSchema, type Schema } from '../validation/apiextensions/schemas.js';

/** Formats in the schemas of a definition that say nothing, for nobody here knows them; each once. */
export function unknownFormats({ spec }: CustomResourceDefinition): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { schema } of spec?.versions ?? []) note(schema?.openAPIV3Schema, found);
  return found;
}

/** Recurses: how deep a body may nest is bounded where it is parsed. */
function note(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) value.forEach((it) => note(it, found));
  if (!isSchema(value)) return;
  const { format, type = '', items, additionalProperties, properties = {} } = value;
  if (typeof format === 'string' && format !== '' && !isKnownFormat(format, type)) found.add(format);
  for (const inner of [items, additionalProperties, ...Object.values<Schema>(properties)]) note(inner, found);
  for (const name of ['allOf', 'anyOf', 'oneOf', 'not']) note(value[name], found);
}
