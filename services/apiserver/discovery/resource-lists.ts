import type { ResourceDeclaration, SubresourceDeclaration } from '../../machinery/types/declarations.js';
import { storageVersionHash } from '../../machinery/types/storage-version-hash.js';
import type { ServedVersion } from '../registry/served.js';
import type { ShownGroup } from './merge.js';

/** `v1`, `apps/v1` */
export const groupVersionName = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`;

const sorted = (verbs: readonly string[]): readonly string[] => [...verbs].sort();

/** Where a sub-resource's kind is another group version's, it says which. */
function kindOf(sub: SubresourceDeclaration, { group, version }: ResourceDeclaration): object {
  const own = { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind };
  return own.group === group && own.version === version ? { kind: sub.kind } : own;
}

function entriesOf(d: ResourceDeclaration, showsHash: boolean): readonly { readonly name: string }[] {
  const own = {
    name: d.resource,
    singularName: d.singular,
    namespaced: d.namespaced,
    kind: d.kind,
    verbs: sorted(d.verbs),
    ...(d.shortNames.length === 0 ? {} : { shortNames: d.shortNames }),
    ...(d.categories.length === 0 ? {} : { categories: d.categories }),
    ...(d.virtual || !showsHash
      ? {}
      : { storageVersionHash: storageVersionHash(d.storage.group, d.storage.version, d.kind) }),
  };
  const parts = d.subresources.map((sub) => ({
    name: `${d.resource}/${sub.name}`,
    singularName: '',
    namespaced: d.namespaced,
    ...kindOf(sub, d),
    verbs: sorted(sub.verbs),
  }));
  return [own, ...parts];
}

/**
 * The answer of `/api/v1` and `/apis/<group>/<version>`.
 *
 * @param showsHash Whether entries tell the versions that are stored apart.
 */
export function resourceList(group: string, { version, resources }: ServedVersion, showsHash = true): object {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersionName(group, version),
    resources: resources.flatMap((d) => entriesOf(d, showsHash)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** One group in the answer of `/apis`. */
export function groupEntry({ name, versions }: ShownGroup): object {
  const entries = versions.map(({ version }) => ({ groupVersion: groupVersionName(name, version), version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** The answer of `/apis/<group>`. */
export const groupDocument = (group: ShownGroup): object => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupEntry(group),
});

/** The answer of `/apis`. The core group is not among them: it has `/api`. */
export const groupList = (groups: readonly ShownGroup[]): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter((g) => g.name !== '').map(groupEntry),
});
