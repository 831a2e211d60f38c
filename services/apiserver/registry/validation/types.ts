import type { ApiObject } from '../../../machinery/meta/object.js';
import type { FieldError } from '../../../machinery/meta/status.js';
import type { Part } from '../parts.js';

/** Takes what is wrong. Order is the order of the answer's causes. */
export type Problems = FieldError[];

/**
 * @param apiVersion What the request speaks, e.g. `apps/v1`; absent: what is stored. Newer versions may ask for more, and
 *   call members differently.
 */
type CheckState = (object: ApiObject, problems: Problems, apiVersion?: string) => void;

/**
 * What must hold of a kind beyond the shape that decoding has seen to. Objects are in the storage version, with their
 * defaults; metadata is checked elsewhere. Nothing is changed and nothing is thrown.
 */
export interface KindValidation {
  /** What must hold of a state, however it came about. Not asked when only the status is written. */
  readonly object?: CheckState;
  /** What must hold besides of a state that is the first; asked after `object`. */
  readonly create?: CheckState;
  /** What a write of anything but the status may not change; asked after `object`. */
  readonly update?: (next: ApiObject, old: ApiObject, problems: Problems, apiVersion?: string) => void;
  /** What must hold after a write of a part alone: its status, its approval. */
  readonly parts?: Partial<Record<Part, (next: ApiObject, old: ApiObject, problems: Problems) => void>>;
}

/** The kinds of one group, by resource. */
export type GroupValidation = Readonly<Record<string, KindValidation>>;

/** What an operator decides about the checks. */
export interface ValidationOptions {
  /** Whether containers may be privileged. */
  readonly allowPrivileged: boolean;
}
