/** Any JSON value. Objects that came from a client may carry own keys such as `__proto__`: treat keys as data. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Spec 1, 2.2. Absent and empty mean the same; the codec leaves empty members out. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string | null;
  deletionGracePeriodSeconds?: number | null;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

/** An object of the API, as decoded: mutable while one request owns it, frozen by convention once it is cached. */
export interface ApiObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
  [member: string]: unknown;
}

/** `v1` for the core group, `apps/v1` for the rest. */
export const apiVersionOf = (gv: { readonly group: string; readonly version: string }): string =>
  gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;
