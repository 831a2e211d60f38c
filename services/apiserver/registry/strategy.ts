import type { ApiObject } from '../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { UserInfo } from '../request/request.js';
import type { Allocator, Allocating } from './allocation/allocations.js';
import type { DeleteOptions } from './delete-options.js';
import type { KindValidation, ValidationOptions } from './validation/types.js';

/** The options of strategies. */
export interface StrategyOptions extends ValidationOptions {
  readonly vocabulary: Vocabulary;
  /** How long events are kept. */
  readonly eventTtlSeconds: number;
  /** Chooses addresses and ports for services. */
  readonly addresses: Allocator;
}

/** The behaviour of a kind where it differs from the rest. Everything is optional: the defaults fit most kinds. */
export interface Strategy extends Allocating {
  /**
   * The members whose changes move metadata.generation: those of the spec, of the spec and the annotations, or of
   * everything but metadata and status (`body`) or metadata alone (`everything`). `none`: the kind has no generation.
   * `specOnceChanged`: it has one from the first change on.
   */
  readonly generation: 'none' | 'spec' | 'specOnceChanged' | 'specAndAnnotations' | 'body' | 'everything';
  /** Fields that never change once set, as paths, e.g. `spec.selector`. */
  readonly immutable: readonly (readonly string[])[];
  /** Members that a write of the object itself owns nothing of, besides the status: they are the server's to decide. */
  readonly unowned: readonly string[];
  /**
   * Members that a write of the status leaves as they were, as paths below metadata; `everything` of metadata for some
   * kinds.
   */
  readonly statusLeaves: 'everything' | readonly (readonly string[])[];
  /** Where the number of replicas stands, which the scale of an object is a view of. */
  readonly replicas: readonly string[];
  /** A create takes the status of its body: who makes such an object knows its state. */
  readonly keepsFirstStatus: boolean;
  /** A finished deletion answers the last state instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Versions whose oldest clients count on dependents to stay, where a deletion does not say what happens to them. */
  readonly orphansIn?: readonly string[];
  /** What to tell the client of a new state that is right. */
  readonly warnings?: (next: ApiObject, old: ApiObject | undefined) => readonly string[];
  /** Told to clients whose deletion does not say what happens to dependents. */
  readonly silentDeletionWarning?: string;
  /** Members of an event carry a lease of this many seconds; 0 = kept for ever. */
  readonly ttlSeconds: number;
  /**
   * Writes are answered once this server's cache has them: who asks and what he may is decided from the cache, and what
   * was given or taken away holds as soon as that was said.
   */
  readonly decidesAccess: boolean;
  /** Says in one way what clients may say in several. `object` is in the storage version and may be changed. */
  normalise?(object: ApiObject): void;
  /**
   * Fills in what the server owns, before admission. `object` is in the storage version and may be changed.
   *
   * @param requester As authenticated, or as impersonated: the only source of what an object says of its author.
   * @param apiVersion What the request speaks, e.g. `apps/v1`.
   */
  prepareForCreate?(object: ApiObject, requester: UserInfo, apiVersion: string): void;
  /** Puts back what this write may not change. */
  prepareForUpdate?(next: ApiObject, old: ApiObject, apiVersion: string): void;
  /** Chooses what objects leave open, between validation and the last stage of admission. */
  readonly allocator?: Allocator;
  /** The rules for the kind's own fields. */
  readonly validation: KindValidation;
  /** Seconds that a deletion leaves the object for its owner to wind down; undefined or 0 = remove at once. */
  gracePeriod?(object: ApiObject, options: DeleteOptions): number | undefined;
  /** Whether a marked object without finalizers still has to wait, e.g. for a namespace's spec.finalizers. */
  holdsDeletion?(object: ApiObject): boolean;
  /** Why an object of this name cannot be deleted by a request for it; undefined: it can. */
  keeps?(name: string): string | undefined;
  /** Finalizers that an object gets as its deletion starts. */
  readonly deletionFinalizers?: readonly string[];
  /** Changes an object as its deletion starts. */
  markDeleted?(object: ApiObject): void;
}

export const DEFAULT_STRATEGY: Strategy = {
  generation: 'none',
  immutable: [],
  unowned: [],
  statusLeaves: [],
  replicas: ['spec', 'replicas'],
  keepsFirstStatus: false,
  returnsDeleted: false,
  ttlSeconds: 0,
  decidesAccess: false,
  validation: {},
};

const OWN_STATUS: Partial<Strategy> = {
  generation: 'body',
  prepareForCreate: (object) => {
    delete object['status'];
  },
  prepareForUpdate: (next, old) => {
    if (old['status'] === undefined) delete next['status'];
  },
};

/**
 * For resources that are not built in: rules of metadata alone, and a status that is a part only where it is declared.
 */
export const genericStrategy = ({ subresources }: ResourceDeclaration): Strategy => ({
  ...DEFAULT_STRATEGY,
  generation: 'everything',
  ...(subresources.some(({ name }) => name === 'status') ? OWN_STATUS : {}),
});
