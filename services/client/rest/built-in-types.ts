import { RESOURCES, type Objects } from '../../machinery/types/generated/resources.js';
import type { Vocabulary, VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import type { ResourceType } from './resource-type.js';

/**
 * The built-in resources by name, e.g. `pods`, `configMaps`, `subjectAccessReviews`, each in the version that clients should
 * use. `events` are those of the core group; those of the group of events are `eventsEvents`.
 */
export type BuiltInTypes = { readonly [K in keyof Objects]: ResourceType<Objects[K]> };

const built = new Map<VocabularyName, BuiltInTypes>();

/** In the words of a vocabulary; always the same table. */
export function builtInTypes({ name, translate }: Vocabulary): BuiltInTypes {
  const known = built.get(name);
  if (known !== undefined) return known;
  const entries = Object.entries(RESOURCES).map(([key, type]) => [key, { ...type, group: translate(type.group) }]);
  const types = Object.fromEntries(entries) as BuiltInTypes; // the same keys
  built.set(name, types);
  return types;
}
