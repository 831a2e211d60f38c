import { isReadable, type CachedObject } from './cached-object.js';
import type { Change } from './history.js';
import type { ResourceCache } from './resource-cache.js';

/**
 * Keeps something in step with the objects of a resource. Called synchronously as the cache changes, so what it keeps is
 * never behind the cache; it must not throw, and every write of the resource pays for what it does.
 */
export interface CacheFollower {
  /** The whole state is new. */
  loaded(objects: Iterable<CachedObject>): void;
  changed(change: Change): void;
}

/** Tells `follower` of the present state, and of every change from now on. */
export function follow(cache: ResourceCache, follower: CacheFollower): void {
  follower.loaded([...cache.objects()].filter(isReadable));
  cache.followBy(follower);
}
