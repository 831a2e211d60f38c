import type { ApiObject } from '../../../machinery/meta/object.js';
import type { StatusError } from '../../../machinery/meta/status.js';

/*
 * An allocation is an address or a port that one object at a time can have, by its name, e.g. `nodeport/30080`. It is a key
 * of the store whose value is the key of the object that has it, written and removed in the transaction of that object. So
 * no two objects have the same one, and none outlives its object, whichever server writes and whenever it is killed.
 */

/** Another object has what this one asks for. */
export class AlreadyAllocated extends Error {
  override readonly name = 'AlreadyAllocated';
  readonly allocation: string;
  /** The key of the object that has it. */
  readonly holder: string;

  constructor(allocation: string, holder: string) {
    super(`${allocation} is held by ${holder}`);
    this.allocation = allocation;
    this.holder = holder;
  }
}

/** A kind whose objects have allocations, or not. */
export interface Allocating {
  /** Names of the allocations that an object has for as long as it is stored: 127 at most change in one write. */
  readonly allocations?: (object: ApiObject) => readonly string[];
}

/** The allocations that an object takes and releases by one write. */
export interface AllocationChanges {
  readonly taken: readonly string[];
  readonly released: readonly string[];
}

export const NO_CHANGES: AllocationChanges = { taken: [], released: [] };

/** Most operations that a store does in one transaction, the object's own aside: etcd's limit is 128. */
export const MAX_ALLOCATION_CHANGES = 127;

/** @param before The stored state; undefined for a new object. @param after undefined for one that goes. */
export function allocationChanges(
  { allocations: allocationsOf }: Allocating,
  before: { readonly parse: () => unknown } | undefined,
  after: ApiObject | undefined,
): AllocationChanges {
  if (allocationsOf === undefined) return NO_CHANGES;
  const had = new Set(before === undefined ? [] : allocationsOf(before.parse() as ApiObject)); // we encoded it
  const has = new Set(after === undefined ? [] : allocationsOf(after));
  return { taken: [...has].filter((name) => !had.has(name)), released: [...had].filter((name) => !has.has(name)) };
}

/** An object with everything that it left open filled in. */
export interface Allocated {
  readonly object: ApiObject;
  /** Allocations that the allocator chose, as opposed to those that the object asked for. */
  readonly chosen: ReadonlySet<string>;
}

/** Chooses the allocations that objects of a kind leave to the server. A choice holds nothing until it is written. */
export interface Allocator {
  /**
   * @param object Validated. It stays as it is, but for metadata, which the result shares.
   * @param old undefined for a new object.
   * @param avoid Allocations that have turned out to be taken.
   * @throws {StatusError} Invalid when no object can have what was asked for; InternalError when nothing is free
   */
  allocate(object: ApiObject, old: ApiObject | undefined, avoid: ReadonlySet<string>): Promise<Allocated>;
  /** The answer when another object has what this one asks for. */
  refusal(object: ApiObject, taken: AlreadyAllocated): StatusError;
}
