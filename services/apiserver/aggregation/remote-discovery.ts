import { isJsonObject } from '../../machinery/meta/own.js';

/** A version, and the kinds in it. */
export interface VersionName {
  readonly group: string;
  readonly version: string;
}

/** Resources of one version that are told of; those beyond are left out. */
const MAX_RESOURCES = 1_000;

type Members = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((it): it is string => typeof it === 'string') : [];
const objects = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const some = (name: string, list: readonly unknown[]): object => (list.length === 0 ? {} : { [name]: list });

const kindOf = (value: unknown): object => {
  const { group, version, kind } = isJsonObject(value) ? value : {};
  return { group: text(group), version: text(version), kind: text(kind) };
};

/**
 * The resources of a version in a document of everything that a server serves, each with the members that clients know.
 *
 * @returns undefined: the version is not in it.
 */
export function resourcesIn(document: unknown, { group, version }: VersionName): readonly object[] | undefined {
  const items = objects(isJsonObject(document) ? document['items'] : undefined);
  const own = items.find(({ metadata }) => isJsonObject(metadata) && metadata['name'] === group);
  const found = objects(own?.['versions']).find((it) => it['version'] === version);
  if (found === undefined) return undefined;
  return objects(found['resources']).slice(0, MAX_RESOURCES).map(resource);
}

const resource = (it: Members): object => ({
  resource: text(it['resource']),
  responseKind: kindOf(it['responseKind']),
  scope: it['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
  singularResource: text(it['singularResource']),
  verbs: texts(it['verbs']),
  ...some('shortNames', texts(it['shortNames'])),
  ...some('categories', texts(it['categories'])),
  ...some('subresources', objects(it['subresources']).map(subresource)),
});

const subresource = (it: Members): object => ({
  subresource: text(it['subresource']),
  responseKind: kindOf(it['responseKind']),
  ...some('acceptedTypes', objects(it['acceptedTypes']).map(kindOf)),
  verbs: texts(it['verbs']),
});

/** The same, of the list that servers have which know no such document. */
export function resourcesOfList(document: unknown, of: VersionName): readonly object[] {
  const all = objects(isJsonObject(document) ? document['resources'] : undefined);
  const parts = new Map<string, object[]>();
  for (const it of all) {
    const [name = '', ...part] = text(it['name']).split('/');
    if (part.length === 0) continue;
    const entry = { subresource: part.join('/'), responseKind: kindIn(it, of), verbs: texts(it['verbs']) };
    parts.set(name, [...(parts.get(name) ?? []), entry]);
  }
  return all
    .filter((it) => !text(it['name']).includes('/'))
    .slice(0, MAX_RESOURCES)
    .map((it) => listed(it, of, parts.get(text(it['name'])) ?? []));
}

const listed = (it: Members, of: VersionName, subresources: readonly object[]): object => ({
  resource: text(it['name']),
  responseKind: kindIn(it, of),
  scope: it['namespaced'] === true ? 'Namespaced' : 'Cluster',
  singularResource: text(it['singularName']),
  verbs: texts(it['verbs']),
  ...some('shortNames', texts(it['shortNames'])),
  ...some('categories', texts(it['categories'])),
  ...some('subresources', subresources),
});

/** Of the version that the list is of, unless it says otherwise. */
const kindIn = (it: Members, { group, version }: VersionName): object => {
  const isOther = text(it['version']) !== '';
  const place = isOther ? { group: text(it['group']), version: text(it['version']) } : { group, version };
  return { ...place, kind: text(it['kind']) };
};
