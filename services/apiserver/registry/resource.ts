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

/** A built-in resource that the server itself works with. @throws {Error} when none is declared */
export function declaredResource(
  resources: { stored(group: string, resource: string): StoredResource | undefined },
  group: string,
  resource: string,
): StoredResource {
  const stored = resources.stored(group, resource);
  if (stored === undefined) throw new Error(`No declaration of ${group === '' ? resource : `${resource}.${group}`}`);
  return stored;
}
