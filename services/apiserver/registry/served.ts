import type { ResourceDeclaration } from '../../machinery/types/declarations.js';

/** One served version of a group, with what it serves. */
export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly ResourceDeclaration[];
}

export interface ServedGroup {
  /** '' for the core group. */
  readonly name: string;
  /** Most preferred first. */
  readonly versions: readonly ServedVersion[];
}

/** The API of one version of the catalog; never changed. The next version has a higher generation. */
export interface ServedApi {
  readonly generation: number;
  /** In discovery order, core first. */
  readonly groups: readonly ServedGroup[];
  find(group: string, version: string, resource: string): ResourceDeclaration | undefined;
}
