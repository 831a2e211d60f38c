import type { ApiObject } from '../../../machinery/meta/object.js';
import type { FieldError } from '../../../machinery/meta/status.js';
import type { TypeGraph } from '../../../machinery/types/graph.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { Part } from '../parts.js';
import type { At } from './checks/at.js';

/** Takes what is wrong. Order is the order of the answer's causes. */
export type Problems = FieldError[];

/**
 * Validation of a kind, beyond the shape that decoding ensures. Objects are in the storage version, with their
 * defaults; metadata is checked elsewhere. Nothing is changed and nothing is thrown.
 *
 * `apiVersion` is what the request speaks, e.g. `apps/v1`; absent: what is stored. Newer versions may ask for more, and
 * call members differently. `K` is the kind's type.
 */
export interface KindValidation<K = unknown> {
  /** The body never changes: what the declarations say of it is asked of new objects alone. */
  readonly neverChanges?: true;
  /** Checks any new state, except when only the status is written. */
  object?(object: ApiObject & K, problems: Problems, apiVersion?: string): void;
  /** Further checks of a new object, after `object`. A promise: it takes more than one turn. */
  create?(object: ApiObject & K, problems: Problems, apiVersion?: string): void | Promise<void>;
  /** Checks changes by a write of anything but the status, after `object`. */
  update?(next: ApiObject & K, old: ApiObject & K, problems: Problems, apiVersion?: string): void | Promise<void>;
  /** Checks a write of a part alone: its status, its approval. */
  readonly parts?: Parts<K>;
}

/** A method, so that what is written for one kind fits a table of all. */
interface PartCheck<K> {
  check(next: ApiObject & K, old: ApiObject & K, problems: Problems, apiVersion?: string): void | Promise<void>;
}
type Parts<K> = { readonly [Name in Part]?: PartCheck<K>['check'] };

/** Checks between the fields of a value of a type. */
export type TypeRule<T> = (at: At, value: T) => void;

/** Rules that are asked before and after the fields of the type; before all but those that are checked first. */
export interface AroundRule<T> {
  readonly first: TypeRule<T>;
  readonly last?: TypeRule<T>;
}

/** The rules of a group version, by the type that each is about. `Types` are the interfaces of the group version. */
export type TypeRules<Types> = { readonly [Name in keyof Types]?: TypeRule<Types[Name]> | AroundRule<Types[Name]> };

/** Flags that change checks. */
export interface ValidationOptions {
  /** Whether containers may be privileged. */
  readonly allowPrivileged: boolean;
}

export interface ValidationSources extends ValidationOptions {
  readonly vocabulary: Vocabulary;
  /** Asked for the type of a kind when an object of it is first validated. */
  readonly types: Pick<TypeGraph, 'of'>;
}
