import { DEFINED_VERSION_PRIORITY, groupPriority, isBuiltInGroup, versionPriority } from '../registry/priorities.js';
import type { RemoteVersion } from '../registry/remote-api.js';
import { compareVersions } from '../registry/runtime-config.js';
import type { ServedGroup, ServedVersion } from '../registry/served.js';

export type ShownVersion = ServedVersion | RemoteVersion;

/** A group with all its versions, whoever serves them. */
export interface ShownGroup {
  readonly name: string;
  /** Most preferred first. */
  readonly versions: readonly ShownVersion[];
}

export const isRemote = (version: ShownVersion): version is RemoteVersion => 'isStale' in version;

/**
 * The groups that clients are shown: those that are served here, and among them those of other servers, each in its place.
 * What is served here and elsewhere is shown as it is served here. Groups to which nothing comes are the same objects.
 */
export function merged(served: readonly ServedGroup[], remote: readonly RemoteVersion[]): readonly ShownGroup[] {
  if (remote.length === 0) return served;
  const groups = new Map<string, ShownGroup>(served.map((group) => [group.name, group]));
  const priorities = new Map(served.map(({ name }) => [name, groupPriority(name)]));
  for (const it of remote) {
    const { name, versions } = groups.get(it.group) ?? { name: it.group, versions: [] };
    if (name === '' || versions.some(({ version }) => version === it.version)) continue;
    groups.set(name, { name, versions: [...versions, it].sort((a, b) => compare(name, a, b)) });
    priorities.set(name, Math.max(priorities.get(name) ?? 0, it.groupPriority));
  }
  const of = ({ name }: ShownGroup): number => (name === '' ? Infinity : (priorities.get(name) ?? 0));
  return [...groups.values()].sort((a, b) => (of(a) === of(b) ? byName(a, b) : of(b) - of(a)));
}

const byName = (a: ShownGroup, b: ShownGroup): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function compare(group: string, a: ShownVersion, b: ShownVersion): number {
  const of = (it: ShownVersion): number => {
    if (isRemote(it)) return it.versionPriority;
    return isBuiltInGroup(group) ? versionPriority(group, it.version) : DEFINED_VERSION_PRIORITY;
  };
  return of(b) - of(a) || compareVersions(a.version, b.version);
}
