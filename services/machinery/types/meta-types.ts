import type { TypeDeclaration } from './declarations.js';
import { LazyTypes } from './lazy-types.js';

/** For types that all groups share (`meta/v1.Status`): they are the same in every vocabulary. */
export const META_TYPES: ReadonlyMap<string, TypeDeclaration> = new LazyTypes(undefined);
