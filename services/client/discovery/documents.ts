import type { APIGroupDiscoveryList, APIResourceDiscovery } from '../../machinery/types/generated/apidiscovery.v2.js';
import type {
  APIGroupList,
  APIResource,
  APIResourceList,
  APIVersions,
} from '../../machinery/types/generated/meta.v1.js';
import type { DiscoveredResource } from './discovery.js';

/** One version of a group as documents of discovery tell of it. */
export interface VersionDocument {
  readonly group: string;
  readonly version: string;
  /** undefined: it has to be asked for by itself. */
  readonly resources: readonly DocumentResource[] | undefined;
  /** The server that serves it could not be asked. */
  readonly isStale: boolean;
}

type DocumentResource = Omit<DiscoveredResource, 'group' | 'version' | 'isPreferred'>;

/** The documents of `/api` and `/apis`, in the form of old or in that which holds everything. */
export type GroupsDocument = APIVersions | APIGroupList | APIGroupDiscoveryList;

/** The versions of the groups of a document, in its order: the preferred one of each group first. */
export function versionsOf(document: GroupsDocument): readonly VersionDocument[] {
  if ('items' in document) return aggregated(document);
  if ('groups' in document) return (document.groups ?? []).flatMap(ofGroup);
  const { versions } = document as APIVersions;
  return (versions ?? []).map((version) => ({ group: '', version, ...NOT_YET }));
}

const NOT_YET = { resources: undefined, isStale: false } as const;

function ofGroup({
  name = '',
  versions,
  preferredVersion,
}: NonNullable<APIGroupList['groups']>[number]): VersionDocument[] {
  const all = (versions ?? []).map(({ version = '' }) => version);
  const first = preferredVersion?.version;
  const ordered = [...all].sort((a, b) => Number(b === first) - Number(a === first));
  return ordered.map((version) => ({ group: name, version, ...NOT_YET }));
}

const aggregated = ({ items }: APIGroupDiscoveryList): readonly VersionDocument[] =>
  (items ?? []).flatMap(({ metadata, versions = [] }) =>
    versions.map(({ version = '', resources = [], freshness }) => ({
      group: metadata?.name ?? '',
      version,
      resources: resources.map(ofAggregated),
      isStale: freshness === 'Stale',
    })),
  );

const ofAggregated = (it: APIResourceDiscovery): DocumentResource => ({
  resource: it.resource ?? '',
  kind: it.responseKind?.kind ?? '',
  namespaced: it.scope === 'Namespaced',
  verbs: new Set(it.verbs ?? []),
  shortNames: it.shortNames ?? [],
  categories: it.categories ?? [],
  subresources: (it.subresources ?? []).map(({ subresource = '' }) => subresource),
});

/** The resources in the document of one group version. */
export function resourcesOf({ resources }: APIResourceList): readonly DocumentResource[] {
  const all = resources ?? [];
  const subresources = new Map<string, string[]>();
  for (const { name = '' } of all) {
    const [resource = '', ...rest] = name.split('/');
    if (rest.length > 0) subresources.set(resource, [...(subresources.get(resource) ?? []), rest.join('/')]);
  }
  return all
    .filter(({ name = '' }) => !name.includes('/'))
    .map((it) => ({ ...ofEntry(it), subresources: subresources.get(it.name ?? '') ?? [] }));
}

const ofEntry = ({
  name = '',
  kind = '',
  namespaced = false,
  verbs,
  shortNames,
  categories,
}: APIResource): Omit<DocumentResource, 'subresources'> => ({
  resource: name,
  kind,
  namespaced,
  verbs: new Set(verbs ?? []),
  shortNames: shortNames ?? [],
  categories: categories ?? [],
});

/**
 * All resources with what is the same about them in all versions: that of the first version of its group is preferred, in
 * which it is served.
 */
export function preferring(versions: readonly VersionDocument[]): readonly DiscoveredResource[] {
  const first = new Map<string, string>();
  return versions.flatMap(({ group, version, resources = [] }) =>
    resources.map((it) => {
      const name = `${group}/${it.resource}`;
      const preferred = first.get(name) ?? version;
      first.set(name, preferred);
      return { ...it, group, version, isPreferred: preferred === version };
    }),
  );
}
