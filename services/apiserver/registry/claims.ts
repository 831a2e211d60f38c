import type { ApiObject } from '../../machinery/meta/object.js';
import type { StatusError } from '../../machinery/meta/status.js';

/*
 * A claim is the name of something that one object at a time can have, e.g. `nodeport/30080`. It is a key of the store,
 * with the key of the object that has it as its value, written and removed in the transaction of that object. So nothing
 * is had twice, and nothing is held by what is not there, whichever server does what and whenever it ends.
 */

/** Somebody else has what an object asks for. Whoever chose it decides what now. */
export class ClaimTaken extends Error {
  override readonly name = 'ClaimTaken';
  readonly claim: string;
  /** The key of the object that has it. */
  readonly holder: string;

  constructor(claim: string, holder: string) {
    super(`${claim} is held by ${holder}`);
    this.claim = claim;
    this.holder = holder;
  }
}

/** A kind whose objects hold claims, or not. */
export interface Claiming {
  /** Names of what an object has to itself as long as it is stored. Not more than fit into one transaction. */
  readonly claims?: (object: ApiObject) => readonly string[];
}

/** What changes hands with a write. */
export interface ClaimChanges {
  readonly taken: readonly string[];
  readonly left: readonly string[];
}

export const NO_CHANGES: ClaimChanges = { taken: [], left: [] };

/** Most operations that a store does in one transaction, the object's own aside: etcd's limit is 128. */
export const MAX_CLAIM_CHANGES = 127;

/** @param before The stored state; undefined for a new object. @param after undefined for one that goes. */
export function claimChanges(
  { claims: claimsOf }: Claiming,
  before: { readonly parse: () => unknown } | undefined,
  after: ApiObject | undefined,
): ClaimChanges {
  if (claimsOf === undefined) return NO_CHANGES;
  const had = new Set(before === undefined ? [] : claimsOf(before.parse() as ApiObject)); // we encoded it
  const has = new Set(after === undefined ? [] : claimsOf(after));
  return { taken: [...has].filter((claim) => !had.has(claim)), left: [...had].filter((claim) => !has.has(claim)) };
}

/** An object with everything that it left open filled in. */
export interface Allocated {
  readonly object: ApiObject;
  /** Claims of what was chosen here, as opposed to asked for. */
  readonly chosen: ReadonlySet<string>;
}

/** Chooses for the objects of a kind what they leave to the server. Nothing is held by having been chosen. */
export interface Allocator {
  /**
   * @param object Validated. It stays as it is, but for metadata, which the result shares.
   * @param old undefined for a new object.
   * @param avoid Claims that have turned out to be taken.
   * @throws {StatusError} Invalid when what was asked for cannot be had by anybody; InternalError when nothing is free
   */
  allocate(object: ApiObject, old: ApiObject | undefined, avoid: ReadonlySet<string>): Promise<Allocated>;
  /** What to say when somebody else has what the object asks for. */
  refusal(object: ApiObject, taken: ClaimTaken): StatusError;
}
