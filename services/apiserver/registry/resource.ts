import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { ResourceCache } from '../cache/resource-cache.js';
import type { Strategy } from './strategy.js';

/** One kind of stored objects, shared by all versions (and, for events, groups) that serve it. */
export interface StoredResource {
  /** The declaration of the storage version. */
  readonly hub: ResourceDeclaration;
  readonly cache: ResourceCache;
  readonly strategy: Strategy;
  /** A status that says nothing, with the members that its type always shows; the caller owns it. */
  emptyStatus(): object;
}

/** The key of an object. */
export const keyOf = (stored: StoredResource, namespace: string, name: string): string =>
  stored.hub.namespaced ? `${stored.cache.keys.prefix}${namespace}/${name}` : `${stored.cache.keys.prefix}${name}`;
