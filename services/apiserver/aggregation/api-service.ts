import type { ApiObject } from '../../machinery/meta/object.js';
import { now } from '../../machinery/meta/time.js';
import type * as apiregistration from '../../machinery/types/generated/apiregistration.v1.js';
import type { CachedObject } from '../cache/cached-object.js';

/** Who serves a version of a group, as it is stored. */
export type ApiService = ApiObject & apiregistration.APIService;

/** What is found out about an APIService: whether requests can be sent to it. */
export interface Availability {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const AVAILABLE = 'Available';

/** Of the cache; we encoded it. */
export const apiServiceOf = (object: CachedObject): ApiService => object.parse() as ApiService;

export const specOf = ({ spec = {} }: apiregistration.APIService): apiregistration.APIServiceSpec => spec;

/** The name that the object of a version has to have. */
export const apiServiceName = (group: string, version: string): string => `${version}.${group}`;

const availableOf = ({ status }: apiregistration.APIService): apiregistration.APIServiceCondition | undefined =>
  status?.conditions?.find(({ type }) => type === AVAILABLE);

export const isAvailable = (service: apiregistration.APIService): boolean => availableOf(service)?.status === 'True';

/** The same object that says so; undefined where it does already. The time moves with the status alone. */
export function withAvailability(service: ApiService, found: Availability): ApiService | undefined {
  const before = availableOf(service);
  const { status, reason, message } = found;
  if (before?.status === status && before.reason === reason && before.message === message) return undefined;
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now()) : now();
  const condition = { type: AVAILABLE, status, lastTransitionTime, reason, message };
  const others = service.status?.conditions ?? [];
  const conditions =
    before === undefined ? [...others, condition] : others.map((it) => (it === before ? condition : it));
  return { ...service, status: { ...service.status, conditions } };
}
