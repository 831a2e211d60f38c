import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { At } from '../registry/validation/checks/at.js';
import type { Problems } from '../registry/validation/types.js';
import { StructuralSchemas } from '../registry/validation/apiextensions/schemas.js';
import { schemaOf, specOf, versionsOf, type Definition } from './definition.js';

/** What is not structural about the schemas of a definition that was stored before that was asked; '' is nothing. */
export function schemaProblems(definition: Definition, vocabulary: Vocabulary): string {
  const problems: Problems = [];
  const at = At.root(problems, 'spec');
  if (specOf(definition).preserveUnknownFields === true) at.invalid('preserveUnknownFields', true, 'must be false');
  const structural = new StructuralSchemas(vocabulary);
  versionsOf(definition).forEach((version, i) => {
    structural.check(at.child('versions').index(i).child('schema').child('openAPIV3Schema'), schemaOf(version));
  });
  const told = problems.map(({ field, message }) => `${field}: ${message}`);
  return told.length === 1 ? (told[0] ?? '') : told.length === 0 ? '' : `[${told.join(', ')}]`;
}
