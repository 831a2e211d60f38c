import { follow } from '../../cache/follow.js';
import type { StoredResource } from '../../registry/resource.js';
import type { ResourceTable } from '../../registry/resources.js';
import { AccessIndex } from './access-index.js';

/** The resource of a name in the group of roles. */
export function rbacResource(resources: ResourceTable, group: string, name: string): StoredResource {
  const stored = resources.stored(group, name);
  if (stored === undefined) throw new Error(`No declaration of ${name}.${group}`);
  return stored;
}

/** Who has which roles, in step with the caches from now on. */
export function openAccessIndex(resources: ResourceTable, group: string): AccessIndex {
  const index = new AccessIndex(group);
  const cacheOf = (name: string): StoredResource['cache'] => rbacResource(resources, group, name).cache;
  follow(cacheOf('roles'), index.roles('Role'));
  follow(cacheOf('clusterroles'), index.roles('ClusterRole'));
  follow(cacheOf('rolebindings'), index.bindings('RoleBinding'));
  follow(cacheOf('clusterrolebindings'), index.bindings('ClusterRoleBinding'));
  return index;
}
