import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';

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

/** Most choices for one write, each after another object has turned out to have the one before. */
const MAX_ATTEMPTS = 16;

/**
 * Allocates for the attempts of one write. A choice holds nothing: the transaction finds out whether another object was
 * quicker. An allocation that was chosen is then chosen anew, and one that was asked for is refused.
 */
export class WriteAllocator {
  readonly #allocator: Allocator;
  readonly #avoid = new Set<string>();
  #last: Allocated | undefined;
  #attempts = 0;

  constructor(allocator: Allocator) {
    this.#allocator = allocator;
  }

  /** The object with what it leaves open filled in. @throws {StatusError} Invalid, InternalError */
  async allocate(object: ApiObject, old: ApiObject | undefined): Promise<ApiObject> {
    this.#last = await this.#allocator.allocate(object, old, this.#avoid);
    return this.#last.object;
  }

  /**
   * Lets the next call choose another allocation than one that another object has.
   *
   * @throws {StatusError} Invalid when it was asked for, not chosen; ServiceUnavailable after 16 attempts
   */
  retryAfter(taken: AlreadyAllocated): void {
    if (this.#last === undefined) throw taken;
    if (!this.#last.chosen.has(taken.allocation)) throw this.#allocator.refusal(this.#last.object, taken);
    this.#avoid.add(taken.allocation);
    if (++this.#attempts === MAX_ATTEMPTS) throw tooBusy(taken);
  }
}

const tooBusy = (cause: AlreadyAllocated): StatusError =>
  new StatusError('ServiceUnavailable', 'Others were quicker with everything that the server chose; try again', {
    cause,
    details: { retryAfterSeconds: 1 },
  });
