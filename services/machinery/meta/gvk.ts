/** A group and version, e.g. `{ group: 'apps', version: 'v1' }`; the core group is ''. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Reads `v1` or `apps/v1`; the empty text has an empty version. undefined for anything with a second slash. */
export function parseApiVersion(apiVersion: string): GroupVersion | undefined {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  if (apiVersion.includes('/', slash + 1)) return undefined;
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Where a group version is served: `/api/v1` for the core group, `/apis/apps/v1` for the rest. */
export const groupVersionPath = ({ group, version }: GroupVersion): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
