import { INTERNAL, RECORDS, registryPrefix } from '../../storage/layout.js';
import type { ResourceKeys } from '../cache/resource-cache.js';

/** Everything that a product stores lies under one prefix, so that one watch sees every revision it writes. */
export interface RegistryKeys {
  /** Ends in "/". */
  readonly prefix: string;
  /** Keys of what the store says about itself. */
  readonly record: (name: keyof typeof RECORDS) => string;
  /** The key of an allocation; of '', what all of them start with. */
  readonly allocation: (allocation: string) => string;
  readonly of: (r: { readonly group: string; readonly resource: string; readonly namespaced: boolean }) => ResourceKeys;
}

/** @param etcdPrefix As the flag gives it, e.g. `/registry`. */
export function registryKeys(etcdPrefix: string): RegistryKeys {
  const prefix = registryPrefix(etcdPrefix);
  return {
    prefix,
    record: (name) => `${prefix}${RECORDS[name]}`,
    allocation: (allocation) => `${prefix}${INTERNAL}claims/${allocation}`,
    of: ({ group, resource, namespaced }) => ({
      prefix: `${prefix}${group === '' ? 'core' : group}/${resource}/`,
      namespaced,
    }),
  };
}
