import type { ResourceDeclaration, SubresourceDeclaration } from '../../machinery/types/declarations.js';
import type { ServedVersion } from '../registry/served.js';
import { isRemote, type ShownGroup, type ShownVersion } from './merge.js';

/** Versions of the aggregated form; the two differ in name only. */
export const AGGREGATED_VERSIONS = ['v2', 'v2beta1'] as const;
export type AggregatedVersion = (typeof AGGREGATED_VERSIONS)[number];

const sorted = (verbs: readonly string[]): readonly string[] => [...verbs].sort();

function subresourceEntry(sub: SubresourceDeclaration, { group, version }: ResourceDeclaration): object {
  return {
    subresource: sub.name,
    responseKind: { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind },
    verbs: sorted(sub.verbs),
  };
}

function resourceEntry(d: ResourceDeclaration): object {
  const subresources = [...d.subresources].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    resource: d.resource,
    responseKind: { group: d.group, version: d.version, kind: d.kind },
    scope: d.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: d.singular,
    verbs: sorted(d.verbs),
    ...(d.shortNames.length === 0 ? {} : { shortNames: d.shortNames }),
    ...(d.categories.length === 0 ? {} : { categories: d.categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map((sub) => subresourceEntry(sub, d)) }),
  };
}

/** Of versions that stay as they are while others come and go. */
const entries = new WeakMap<ServedVersion, object>();

function versionEntry(served: ShownVersion): object {
  if (isRemote(served)) {
    const { version, resources, isStale } = served;
    return { version, resources, freshness: isStale ? 'Stale' : 'Current' };
  }
  let entry = entries.get(served);
  if (entry === undefined) {
    entry = { version: served.version, resources: served.resources.map(resourceEntry), freshness: 'Current' };
    entries.set(served, entry);
  }
  return entry;
}

/** Everything about some groups in one document: a client asks twice instead of once per group version. */
export function aggregatedList(apiVersion: string, groups: readonly ShownGroup[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(versionEntry),
    })),
  };
}
