import type { ApiObject } from '../../machinery/meta/object.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Allocator, Claiming } from './claims.js';
import type { DeleteOptions } from './delete-options.js';
import type { KindValidation } from './validation/types.js';

/** What strategies are made of. */
export interface StrategyOptions {
  readonly vocabulary: Vocabulary;
  /** How long events are kept. */
  readonly eventTtlSeconds: number;
  /** Chooses addresses and ports for services. */
  readonly addresses: Allocator;
}

/** What a kind does differently from the rest. Everything is optional: the defaults fit most kinds. */
export interface Strategy extends Claiming {
  /**
   * Whose changes move metadata.generation: those of the spec, of the spec and the annotations, or of everything but
   * metadata and status. `none`: the kind has no generation.
   */
  readonly generation: 'none' | 'spec' | 'specAndAnnotations' | 'body';
  /** Fields that never change once set, as paths, e.g. `spec.selector`. */
  readonly immutable: readonly (readonly string[])[];
  /** A finished deletion answers the last state instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Members of an event carry a lease of this many seconds; 0 = kept for ever. */
  readonly ttlSeconds: number;
  /**
   * Writes are answered once this server's cache has them: who asks and what he may is decided from the cache, and what
   * was given or taken away holds as soon as that was said.
   */
  readonly decidesAccess: boolean;
  /** Fills in what the server owns, before admission. `object` is in the storage version and may be changed. */
  prepareForCreate?(object: ApiObject): void;
  /** Puts back what this write may not change. */
  prepareForUpdate?(next: ApiObject, old: ApiObject): void;
  /** Chooses what objects leave open, between validation and the last stage of admission. */
  readonly allocator?: Allocator;
  /** What must hold of the kind's own fields. */
  readonly validation: KindValidation;
  /** Seconds that a deletion leaves the object for its owner to wind down; undefined or 0 = remove at once. */
  gracePeriod?(object: ApiObject, options: DeleteOptions): number | undefined;
  /** Whether a marked object without finalizers still has to wait, e.g. for a namespace's spec.finalizers. */
  holdsDeletion?(object: ApiObject): boolean;
  /** Changes an object as its deletion starts. */
  markDeleted?(object: ApiObject): void;
}

export const DEFAULT_STRATEGY: Strategy = {
  generation: 'none',
  immutable: [],
  returnsDeleted: false,
  ttlSeconds: 0,
  decidesAccess: false,
  validation: {},
};
