import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { StoredResource } from '../registry/resources.js';
import type { Companion } from '../registry/companions.js';
import type { AuditAnnotationLevel, UserInfo } from '../request/request.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A kind, as `apiVersion` and `kind` of an object name it. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A request as admission plugins see it. Objects are in the storage version of the resource, or what a sub-resource takes. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  /** In the version that the client speaks. */
  readonly resource: ResourceDeclaration;
  /** The kind of the object in the version that the client speaks: that of the resource, or e.g. Scale, Binding, PodExecOptions. */
  readonly kind: GroupVersionKind;
  readonly subresource: string;
  readonly namespace: string;
  /** '' for a new object whose name the server makes. */
  readonly name: string;
  /** The new state, or the options of a connection; plugins that mutate change it in place. undefined for a deletion. */
  readonly object: ApiObject | undefined;
  /** The stored state; undefined for a creation and a connection. Read-only. */
  readonly oldObject: ApiObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions as the client gave them; undefined for a connection. */
  readonly options: JsonObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Fires when nobody waits for the answer any more, or the request has taken too long: every wait ends with it. */
  readonly signal: AbortSignal;
  /**
   * Writers of one object take turns in a server. Who asks another server leaves his: it may take its time, and may write the
   * object itself.
   */
  leaveTurn(): void;
  /** Adds a header `Warning` to the answer. */
  warn(text: string): void;
  /** Adds an annotation to the audit event. @param level The least level of events that show it; absent: `Metadata`. */
  annotate(key: string, value: string, level?: AuditAnnotationLevel): void;
}

/** What mutating plugins know of their phase, which may have a second round. */
export interface MutatingPhase {
  /** The second round: others have changed the object since the plugin saw it. */
  readonly isReinvocation: boolean;
  /** Asks for a second round. */
  reinvoke(): void;
}

/** A change of a stored object that is about to be written. */
export interface StoredChange {
  readonly stored: StoredResource;
  readonly namespace: string;
  readonly name: string;
  /** undefined for a creation. */
  readonly current: CachedObject | undefined;
  /** In the storage version; undefined for a removal. */
  readonly next: ApiObject | undefined;
}

/**
 * Throws a StatusError to refuse. All `mutate` of the chain run before the object is validated, all `validate` after it.
 * None may keep what it knows of one request for another, but through caches with a bound.
 */
export interface AdmissionPlugin {
  /** Operations that it handles. */
  readonly operations: readonly AdmissionOperation[];
  /** Resources that it handles, with their sub-resources, as `pods` and `roles.<group>`. Absent: all. */
  readonly resources?: readonly string[];
  mutate?(request: AdmissionRequest, phase: MutatingPhase): Promise<void> | void;
  validate?(request: AdmissionRequest): Promise<void> | void;
  /**
   * Objects that change in one transaction with what is written, such as the quota that counts it, or must not, such as the
   * namespace that holds it. The last word before a write; also asked about removals. `operations` do not apply.
   */
  charge?(change: StoredChange): Promise<readonly Companion[]> | readonly Companion[];
  close?(): Promise<void> | void;
}
