import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import type { StoredResource } from '../resource.js';
import type { Allocated, AlreadyAllocated } from './allocations.js';

/** Most choices for one write, each after another object has turned out to have the one before. */
const MAX_ATTEMPTS = 16;

/**
 * Allocates for the attempts of one write. A choice holds nothing: the transaction finds out whether another object was
 * quicker. An allocation that was chosen is then chosen anew, and one that was asked for is refused.
 */
export class WriteAllocator {
  readonly #stored: StoredResource;
  readonly #avoid = new Set<string>();
  #last: Allocated | undefined;
  #attempts = 0;

  constructor(stored: StoredResource) {
    this.#stored = stored;
  }

  /** The object with what it leaves open filled in. @throws {StatusError} Invalid, InternalError */
  async fill(object: ApiObject, old: ApiObject | undefined): Promise<ApiObject> {
    const { allocator } = this.#stored.strategy;
    if (allocator === undefined) return object;
    this.#last = await allocator.allocate(object, old, this.#avoid);
    return this.#last.object;
  }

  /**
   * Lets the next `fill` choose another allocation than one that another object has.
   *
   * @throws {StatusError} Invalid when it was asked for, not chosen; ServiceUnavailable after 16 attempts
   */
  retryAfter(taken: AlreadyAllocated): void {
    const { allocator } = this.#stored.strategy;
    if (allocator === undefined || this.#last === undefined) throw taken;
    if (!this.#last.chosen.has(taken.allocation)) throw allocator.refusal(this.#last.object, taken);
    this.#avoid.add(taken.allocation);
    if (++this.#attempts === MAX_ATTEMPTS) throw tooBusy(taken);
  }
}

const tooBusy = (cause: AlreadyAllocated): StatusError =>
  new StatusError('ServiceUnavailable', 'Others were quicker with everything that the server chose; try again', {
    cause,
    details: { retryAfterSeconds: 1 },
  });
