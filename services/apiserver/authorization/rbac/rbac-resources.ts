import { follow } from '../../cache/follow.js';
import { declaredResource, type StoredResource, type ResourceTable } from '../../registry/resources.js';
import { AccessIndex } from './access-index.js';

/** The index of roles by user, in step with the caches from now on. */
export function openAccessIndex(resources: ResourceTable, group: string): AccessIndex {
  const index = new AccessIndex(group);
  const cacheOf = (name: string): StoredResource['cache'] => declaredResource(resources, group, name).cache;
  follow(cacheOf('roles'), index.roles('Role'));
  follow(cacheOf('clusterroles'), index.roles('ClusterRole'));
  follow(cacheOf('rolebindings'), index.bindings('RoleBinding'));
  follow(cacheOf('clusterrolebindings'), index.bindings('ClusterRoleBinding'));
  return index;
}
