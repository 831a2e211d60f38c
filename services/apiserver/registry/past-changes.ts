import type { StoreEvent } from '../../storage/store.js';
import { Change } from '../cache/history.js';
import type { ResourceCache } from '../cache/resource-cache.js';

/** Whether the state before it is there, if there was one: without it a watcher's selection before is not known. */
export const isComplete = ({ type, previous, unreadable, createRevision, modRevision }: StoreEvent): boolean =>
  unreadable === undefined && (previous !== undefined || (type === 'put' && createRevision === modRevision));

/** A change as the store tells it; undefined for what is no object of the resource. */
export function pastChange(cache: Pick<ResourceCache, 'decode'>, event: StoreEvent): Change | undefined {
  const before = event.previous === undefined ? undefined : cache.decode(event.key, event.previous, event.modRevision);
  const object = event.type === 'put' ? cache.decode(event.key, event.value, event.modRevision) : before;
  return object && new Change(object, before, event.type === 'delete', 0);
}
