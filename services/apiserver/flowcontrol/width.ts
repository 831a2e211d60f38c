import type { ResourceCache } from '../cache/resource-cache.js';
import type { RequestInfo, ResourceRequest } from '../request/request.js';

/** A list of up to this many objects takes one seat, of up to twice as many two, ... */
const OBJECTS_PER_SEAT = 100;
/** However long the list is. */
const MAX_SEATS = 10;

/**
 * How many seats a request takes: a list takes more the more objects are looked at for it. O(log n) at most.
 *
 * @param cacheOf Where the objects of a request are; undefined when it is about none.
 */
export function widthOf(
  info: RequestInfo,
  query: URLSearchParams,
  cacheOf: (info: ResourceRequest) => ResourceCache | undefined,
): number {
  if (info.kind === 'path' || info.verb !== 'list') return 1;
  const cache = cacheOf(info);
  if (cache === undefined || cache.size <= OBJECTS_PER_SEAT) return 1;
  const { from, to } = cache.range(info.namespace);
  const there = info.namespace === '' ? cache.size : cache.current.count(from, to);
  return Math.min(MAX_SEATS, Math.max(1, Math.ceil(lookedAt(query, there) / OBJECTS_PER_SEAT)));
}

/** A page costs what is on it. A selector has to look at all, whatever it lets through. */
function lookedAt(query: URLSearchParams, there: number): number {
  const selects = (query.get('labelSelector') ?? '') !== '' || (query.get('fieldSelector') ?? '') !== '';
  if (selects) return there;
  const limit = Number(query.get('limit') ?? '');
  return limit > 0 ? Math.min(limit, there) : there;
}
