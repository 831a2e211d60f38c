import { groupVersionPath } from '../../machinery/meta/gvk.js';
import type { ApplyOptions, ListOptions, WatchOptions, WriteOptions } from './client.js';
import type { ObjectName, ResourceType } from './resource-type.js';

type Query = readonly (readonly [name: string, value: string | number | boolean | undefined])[];

/** The collection of a resource. @param namespace Absent or '': all. */
export function collectionPath(type: ResourceType, namespace = ''): string {
  const inside = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${groupVersionPath(type)}${inside}/${type.resource}`;
}

/** @throws {TypeError} for an object without a name: its path would be that of all of them. */
export function objectPath(type: ResourceType, { namespace, name }: ObjectName, subresource = ''): string {
  if (name === '') throw new TypeError(`An object of ${type.resource} has no name`);
  const sub = subresource === '' ? '' : `/${subresource}`;
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}${sub}`;
}

export function withQuery(path: string, query: Query): string {
  const given = query.filter((entry): entry is readonly [string, string | number | boolean] => {
    const [, value] = entry;
    return value !== undefined && value !== '' && value !== false;
  });
  if (given.length === 0) return path;
  return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

export const listQuery = (o: ListOptions, continueAt?: string): Query => [
  ['labelSelector', o.labelSelector],
  ['fieldSelector', o.fieldSelector],
  ['limit', o.limit],
  ['continue', continueAt],
  // The token of a further page holds its version.
  ['resourceVersion', continueAt === undefined ? o.resourceVersion : undefined],
  ['resourceVersionMatch', continueAt === undefined ? o.resourceVersionMatch : undefined],
];

export const watchQuery = (o: WatchOptions): Query => [
  ['watch', true],
  ...listQuery(o),
  ['allowWatchBookmarks', o.allowWatchBookmarks],
  ['sendInitialEvents', o.sendInitialEvents],
  ['timeoutSeconds', o.timeoutSeconds],
];

export const writeQuery = ({ dryRun, fieldManager, force }: WriteOptions & Partial<ApplyOptions>): Query => [
  ['dryRun', dryRun === true ? 'All' : undefined],
  ['fieldManager', fieldManager],
  ['force', force],
];
