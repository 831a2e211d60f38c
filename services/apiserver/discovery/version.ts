import { readFileSync } from 'node:fs';
import { arch, platform, version as runtime } from 'node:process';
import { isJsonObject } from '../../machinery/meta/own.js';

const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
]);

/** The build of the running code; '' where it is not known. */
export interface Build {
  readonly commit: string;
  readonly treeState: string;
  /** RFC 3339. */
  readonly date: string;
}

const UNKNOWN: Build = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };
/** Written by the build, at the root of the compiled code. */
const FILE = new URL('../../../build.json', import.meta.url);

/** Nothing is known of code that was compiled without the build. */
export function readBuild(file: URL = FILE): Build {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return UNKNOWN;
  }
  const text = (member: keyof Build): string => {
    const value = isJsonObject(read) ? read[member] : undefined;
    return typeof value === 'string' ? value : UNKNOWN[member];
  };
  return { commit: text('commit'), treeState: text('treeState'), date: text('date') };
}

/**
 * The answer of `/version`. Clients parse every member as text, and `gitVersion` as a version, so none may be missing.
 *
 * @param version `major.minor.patch` of the product.
 */
export function versionDocument(version: string, { commit, treeState, date }: Build = readBuild()): object {
  const [major = '', minor = ''] = version.split('.');
  return {
    major,
    minor,
    gitVersion: `v${version}`,
    gitCommit: commit,
    gitTreeState: treeState,
    buildDate: date,
    goVersion: runtime,
    compiler: 'v8',
    platform: `${platform}/${ARCHITECTURES.get(arch) ?? arch}`,
  };
}
