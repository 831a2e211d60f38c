/** A version of a group that a server behind this one serves, as discovery tells of it. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** In the form that holds everything. */
  readonly resources: readonly object[];
  /** It could not be asked of late. */
  readonly isStale: boolean;
}

/** What such a server says of its schemas in OpenAPI 2. */
export interface RemoteSpec {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly definitions: Readonly<Record<string, unknown>>;
}

/** The schemas of such a version. */
export interface RemoteSchemas {
  /** Where its document of version 3 is: `apis/<group>/<version>` */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  /** Of that document; undefined: it has none. */
  readonly hash: string | undefined;
  /** undefined: it has none. */
  readonly spec: RemoteSpec | undefined;
}

/** What others serve behind this one. Neither list is ever changed: what comes next is another one. */
export interface RemoteApi {
  readonly versions: readonly RemoteVersion[];
  readonly schemas: readonly RemoteSchemas[];
}

export const NOTHING_REMOTE: RemoteApi = { versions: [], schemas: [] };
