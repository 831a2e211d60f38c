import { isDeepStrictEqual } from 'node:util';
import type { ServedApi } from '../registry/served.js';
import { DEFINED_VERSION_PRIORITY, groupPriority, versionPriority } from '../registry/priorities.js';
import { apiServiceName, specOf, withAvailability, type ApiService, type Availability } from './api-service.js';

/** How an object is kept: made and mended once by each process, or always, and deleted with what it stands for. */
export type Upkept = 'onstart' | 'true';

/** An APIService of a version that this server serves itself. */
export interface LocalService {
  readonly name: string;
  readonly upkept: Upkept;
  readonly spec: {
    readonly group: string;
    readonly version: string;
    readonly groupPriorityMinimum: number;
    readonly versionPriority: number;
  };
}

export const LOCAL: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

/** All that there should be, by name. @param builtIn `group/version` of those that do not come and go. */
export function localServices(api: Pick<ServedApi, 'groups'>, builtIn: ReadonlySet<string>): Map<string, LocalService> {
  const all = new Map<string, LocalService>();
  for (const { name: group, versions } of api.groups) {
    if (group.startsWith('apiregistration.')) continue; // what these objects are told by is there without one
    for (const { version } of versions) {
      const isBuiltIn = builtIn.has(`${group}/${version}`);
      const spec = {
        group,
        version,
        groupPriorityMinimum: groupPriority(group),
        versionPriority: isBuiltIn ? versionPriority(group, version) : DEFINED_VERSION_PRIORITY,
      };
      const name = apiServiceName(group, version);
      all.set(name, { name, upkept: isBuiltIn ? 'onstart' : 'true', spec });
    }
  }
  return all;
}

/** How an object is kept, as its label says; undefined: it is somebody's own. */
export function upkeepOf({ metadata }: ApiService, label: string): Upkept | undefined {
  const value = metadata.labels?.[label];
  return value === 'onstart' || value === 'true' ? value : undefined;
}

/** What becomes of an object: the state that it should have, `delete`, or undefined where it is in order. */
export type Verdict = ApiService | 'delete' | undefined;

export interface Judged {
  /** What there should be of its name. */
  readonly wanted: LocalService | undefined;
  /** Whether those that are kept at the start alone are looked at. */
  readonly atStart: boolean;
  readonly label: string;
}

/** What an object that is there should become. What has no label of upkeep is its owner's. */
export function judgeLocal(service: ApiService, { wanted, atStart, label }: Judged): Verdict {
  const upkept = upkeepOf(service, label);
  const isOurs = upkept !== undefined && (upkept === 'true' || atStart);
  if (isOurs && wanted === undefined) return 'delete';
  const mended = isOurs && wanted !== undefined ? inLine(service, wanted, label) : service;
  if (specOf(mended).service !== undefined) return mended === service ? undefined : mended;
  return withAvailability(mended, LOCAL) ?? (mended === service ? undefined : mended);
}

function inLine(service: ApiService, { spec, upkept }: LocalService, label: string): ApiService {
  const { metadata } = service;
  if (metadata.labels?.[label] === upkept && isDeepStrictEqual({ ...service.spec }, { ...spec })) return service;
  return { ...service, metadata: { ...metadata, labels: { ...metadata.labels, [label]: upkept } }, spec };
}
