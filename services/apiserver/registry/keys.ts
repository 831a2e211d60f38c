import type { ResourceKeys } from '../cache/resource-cache.js';

/** Everything that a product stores lies under one prefix, so that one watch sees every revision it writes. */
export interface RegistryKeys {
  /** Ends in "/". */
  readonly prefix: string;
  /** Keys that are no objects: `-` is no group's name. */
  readonly internal: (name: string) => string;
  /** The key of an allocation; of '', what all of them start with. */
  readonly allocation: (allocation: string) => string;
  readonly of: (r: { readonly group: string; readonly resource: string; readonly namespaced: boolean }) => ResourceKeys;
}

/** @param etcdPrefix As the flag gives it, e.g. `/registry`. */
export function registryKeys(etcdPrefix: string): RegistryKeys {
  const prefix = `/${etcdPrefix.replace(/^\/+|\/+$/g, '')}/`;
  return {
    prefix,
    internal: (name) => `${prefix}-/${name}`,
    allocation: (allocation) => `${prefix}-/claims/${allocation}`,
    of: ({ group, resource, namespaced }) => ({
      prefix: `${prefix}${group === '' ? 'core' : group}/${resource}/`,
      namespaced,
    }),
  };
}
