import { typeGraph } from './graph.js';
import { LazyTypes } from './lazy-types.js';

/** For types that all groups share (`meta/v1.Status`): they are the same in every vocabulary. */
export const META_TYPES = typeGraph(new LazyTypes(undefined));
