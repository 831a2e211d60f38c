import type { ApiObject } from '../../machinery/meta/object.js';
import { StatusError } from '../../machinery/meta/status.js';
import type { ClaimTaken } from './claims.js';
import { type Allocated } from './claims.js';
import type { StoredResource } from './resource.js';

/** How often one write chooses anew because others were quicker. */
const MAX_ATTEMPTS = 16;

/**
 * What the server chooses for one write. Choosing holds nothing: the transaction finds out that somebody else was
 * quicker, and then what was chosen is chosen anew, and what was asked for is refused. Kinds that choose nothing pay
 * nothing.
 */
export class Choices {
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
   * Takes note of a claim that somebody else has, so that the next `fill` chooses another.
   *
   * @throws {StatusError} Invalid when the claim was asked for, not chosen; ServiceUnavailable after 16 attempts
   */
  retryAfter(taken: ClaimTaken): void {
    const { allocator } = this.#stored.strategy;
    if (allocator === undefined || this.#last === undefined) throw taken;
    if (!this.#last.chosen.has(taken.claim)) throw allocator.refusal(this.#last.object, taken);
    this.#avoid.add(taken.claim);
    if (++this.#attempts === MAX_ATTEMPTS) throw tooBusy(taken);
  }
}

const tooBusy = (cause: ClaimTaken): StatusError =>
  new StatusError('ServiceUnavailable', 'Others were quicker with everything that the server chose; try again', {
    cause,
    details: { retryAfterSeconds: 1 },
  });
