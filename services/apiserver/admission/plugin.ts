import type { ApiObject } from '../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { UserInfo } from '../request/request.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A write as admission plugins see it. Objects are in the storage version. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly resource: ResourceDeclaration;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The new state; plugins that mutate change it in place. undefined for a deletion. */
  readonly object: ApiObject | undefined;
  /** The stored state; undefined for a creation. Read-only. */
  readonly oldObject: ApiObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** Throws a StatusError to refuse. All `mutate` of the chain run before the first `validate`. */
export interface AdmissionPlugin {
  /** Operations that it handles. */
  readonly operations: readonly AdmissionOperation[];
  /** Resources that it handles, with their sub-resources, as `pods` and `roles.<group>`. Absent: all. */
  readonly resources?: readonly string[];
  mutate?(request: AdmissionRequest): Promise<void> | void;
  validate?(request: AdmissionRequest): Promise<void> | void;
}
