import type { Catalog, ResourceDeclaration } from '../../machinery/types/declarations.js';
import { isReached } from '../../machinery/types/release.js';
import { groupPriority } from './priorities.js';
import type { ServedApi, ServedGroup, ServedVersion } from './served.js';

/** The value of `--runtime-config`, checked against the catalog. */
interface Choices {
  readonly byKey: ReadonlyMap<string, boolean>;
  readonly warnings: readonly string[];
}

/** Stands for many group versions; the later ones are more specific and win. */
const WIDE_KEYS: ReadonlyMap<string, (version: string) => boolean> = new Map(
  Object.entries<(version: string) => boolean>({
    'api/all': () => true,
    'api/ga': (version) => stability(version) === 'ga',
    'api/beta': (version) => stability(version) === 'beta',
    'api/alpha': (version) => stability(version) === 'alpha',
  }),
);

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** The level that a version's name says (spec 1, 9.1). */
function stability(version: string): 'ga' | 'beta' | 'alpha' {
  const level = VERSION.exec(version)?.[2];
  return level === 'alpha' || level === 'beta' ? level : 'ga';
}

/** The more stable first, then the higher; names that are no versions last. Negative when `a` comes first. */
export function compareVersions(a: string, b: string): number {
  const ranked = (version: string): readonly number[] => {
    const [, major, level, minor] = VERSION.exec(version) ?? [];
    if (major === undefined) return [3, 0, 0];
    return [level === undefined ? 0 : level === 'beta' ? 1 : 2, -Number(major), -Number(minor ?? 0)];
  };
  const [left, right] = [ranked(a), ranked(b)];
  for (const [i, rank] of left.entries()) {
    const difference = rank - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The core group, which has a path of its own, then the preferred ones first, then by name. */
const compareGroups = (a: string, b: string): number =>
  Number(b === '') - Number(a === '') || groupPriority(b) - groupPriority(a) || (a < b ? -1 : a > b ? 1 : 0);

const resourceKey = (d: { group: string; version: string; resource: string }): string =>
  `${d.group}/${d.version}/${d.resource}`;

/**
 * The served API: the default of the release, changed by `--runtime-config` (spec 1, 9.1). Keys are
 * `<group>/<version>` and `<group>/<version>/<resource>` (core: `v1` or `api/v1`), and `api/all|ga|beta|alpha`; the
 * more specific key wins.
 *
 * @throws {Error} for a group that there is not, a value that is neither true nor false, or nothing left to serve
 */
export function servedApi(
  catalog: Catalog,
  runtimeConfig: ReadonlyMap<string, string>,
): { api: ServedApi; served: readonly ResourceDeclaration[]; warnings: string[] } {
  const { byKey, warnings } = readChoices(catalog, runtimeConfig);
  const served = catalog.resources.filter((d) => isChosen(d, byKey) ?? d.servedByDefault);
  if (served.length === 0) throw new Error('Cannot use --runtime-config: it leaves nothing to serve');
  return { api: serve(served, 0), served, warnings: [...warnings] };
}

/**
 * The served API made of these declarations.
 *
 * @param before What was served until now: groups and versions in which nothing has changed are the same objects.
 */
export function serve(
  declarations: readonly ResourceDeclaration[],
  generation: number,
  before?: Pick<ServedApi, 'groups'>,
): ServedApi {
  const index = indexed(declarations);
  return {
    generation,
    groups: groupsOf(index, before?.groups ?? []),
    find: (group, version, resource) => index.get(group)?.get(version)?.get(resource),
  };
}

type Index = ReadonlyMap<string, ByVersion>;

function indexed(declarations: readonly ResourceDeclaration[]): Index {
  const index = new Map<string, Map<string, Map<string, ResourceDeclaration>>>();
  for (const d of declarations) {
    const versions = index.get(d.group) ?? new Map<string, Map<string, ResourceDeclaration>>();
    const resources = versions.get(d.version) ?? new Map<string, ResourceDeclaration>();
    index.set(d.group, versions.set(d.version, resources.set(d.resource, d)));
  }
  return index;
}

/** Apart from `serve`, whose result must not keep what was served before. */
function groupsOf(index: Index, before: readonly ServedGroup[]): readonly ServedGroup[] {
  const known = new Map(before.map((group) => [group.name, group]));
  const groups = [...index].map(([name, versions]) => groupOf(name, versions, known.get(name)));
  return groups.sort((a, b) => compareGroups(a.name, b.name));
}

type ByVersion = ReadonlyMap<string, ReadonlyMap<string, ResourceDeclaration>>;

function groupOf(name: string, byVersion: ByVersion, before: ServedGroup | undefined): ServedGroup {
  const known = new Map(before?.versions.map((version) => [version.version, version]));
  const versions = [...byVersion]
    .map(([version, resources]) => versionOf(version, resources, known.get(version)))
    .sort((a, b) => compareVersions(a.version, b.version));
  return before !== undefined && isSame(before.versions, versions) ? before : { name, versions };
}

function versionOf(
  version: string,
  byName: ReadonlyMap<string, ResourceDeclaration>,
  before: ServedVersion | undefined,
): ServedVersion {
  const resources = [...byName.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1));
  return before !== undefined && isSame(before.resources, resources) ? before : { version, resources };
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

/** Undefined where nothing was said about it. */
function isChosen(d: ResourceDeclaration, byKey: ReadonlyMap<string, boolean>): boolean | undefined {
  const exact = byKey.get(resourceKey(d)) ?? byKey.get(`${d.group}/${d.version}`);
  if (exact !== undefined || isReached(d.removed)) return exact; // what is gone has to be asked for by name
  let wide: boolean | undefined;
  for (const [key, covers] of WIDE_KEYS) {
    if (covers(d.version)) wide = byKey.get(key) ?? wide;
  }
  return wide;
}

function readChoices(catalog: Catalog, runtimeConfig: ReadonlyMap<string, string>): Choices {
  const groups = new Set(catalog.resources.map((d) => d.group));
  const known = new Set(catalog.resources.flatMap((d) => [`${d.group}/${d.version}`, resourceKey(d)]));
  const byKey = new Map<string, boolean>();
  const warnings: string[] = [];
  for (const [key, value] of runtimeConfig) {
    const wide = WIDE_KEYS.has(key);
    const { group, rest } = wide ? { group: '', rest: '' } : readKey(key);
    if (!wide && !groups.has(group)) throw cannotUse(key, `there is no API group "${group}"`);
    const normal = wide ? key : `${group}/${rest}`;
    if (!wide && !known.has(normal)) warnings.push(`--runtime-config: "${key}" is not known and changes nothing`);
    byKey.set(normal, readValue(key, value));
  }
  return { byKey, warnings };
}

/** `apps/v1`, `apps/v1/deployments`, and for core `v1`, `api/v1`, `v1/pods`, `api/v1/pods` */
function readKey(key: string): { group: string; rest: string } {
  const parts = key.split('/');
  const [first = ''] = parts;
  const core = first === 'api' ? parts.slice(1) : VERSION.test(first) ? parts : undefined;
  const below = core ?? parts.slice(1);
  const isVersion = core === undefined || VERSION.test(core[0] ?? '');
  if (below.length < 1 || below.length > 2 || below.includes('') || !isVersion) {
    throw cannotUse(
      key,
      'wanted <group>/<version>, <group>/<version>/<resource>, or api/all, api/ga, api/beta, api/alpha',
    );
  }
  return { group: core === undefined ? first : '', rest: below.join('/') };
}

function readValue(key: string, value: string): boolean {
  if (value === '' || value === 'true') return true;
  if (value === 'false') return false;
  throw cannotUse(key, `"${value}" is neither true nor false`);
}

const cannotUse = (key: string, why: string): Error => new Error(`Cannot use --runtime-config "${key}": ${why}`);
