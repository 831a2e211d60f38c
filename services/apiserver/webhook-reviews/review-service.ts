import { firstOf } from '../../client/deadline/deadline.js';
import { isJsonObject } from '../../machinery/meta/own.js';
import type { RemoteAnswer, RemoteService } from '../../client/remote/remote-service.js';
import { objectAt, textAt, type Members } from './members.js';
import type { Outages } from './outages.js';
import { ReviewError } from './review-error.js';

export interface ReviewServiceOptions {
  /** Begins errors, e.g. `authentication webhook`. */
  readonly name: string;
  /** Of the reviews that are sent, and of those that come back. */
  readonly kind: string;
  readonly apiVersion: string;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  readonly outages: Outages;
}

/** A service that is asked by a review with a spec, and answers by one with a status (spec 2, 2.6 and 4.3). */
export class ReviewService {
  readonly #service: RemoteService;
  readonly #o: ReviewServiceOptions;

  constructor(service: RemoteService, o: ReviewServiceOptions) {
    this.#service = service;
    this.#o = o;
  }

  /**
   * @param read Takes the status for what it says. What it throws ends the question.
   * @param left Fires when the answer is not waited for any more; that is no failure of the service.
   * @throws {ReviewError} For an answer that is not of this kind and version, that has no status, or a failure.
   * @throws {RemoteError} When none came. @throws `left.reason`
   */
  async ask<T>(spec: object, read: (status: Members) => T, left?: AbortSignal): Promise<T> {
    const { kind, apiVersion, outages } = this.#o;
    const ends = firstOf(this.#o.signal, ...(left === undefined ? [] : [left]));
    try {
      return read(this.#statusOf(await this.#service.post({ kind, apiVersion, spec }, ends.signal)));
    } catch (err) {
      const named = err instanceof ReviewError ? new ReviewError(`${this.#o.name}: ${err.message}`) : err;
      if (!ends.signal.aborted) outages.failed(named);
      throw named;
    } finally {
      ends.end();
    }
  }

  close(): void {
    this.#service.close();
  }

  /** The spec of the answer does not matter. A kind or a version that is not said is the one that was asked for. */
  #statusOf({ status: code, body }: RemoteAnswer): Members {
    if (code < 200 || code >= 300) throw new ReviewError(`answered with the status ${code}`);
    if (!isJsonObject(body)) throw new ReviewError('the answer is no object');
    for (const member of ['kind', 'apiVersion'] as const) {
      const said = textAt(body, member, member);
      if (said !== '' && said !== this.#o[member]) {
        throw new ReviewError(`${member} of the answer is not ${this.#o[member]}`);
      }
    }
    const status = objectAt(body, 'status', 'status');
    if (status === undefined) throw new ReviewError('the answer has no status');
    return status;
  }
}
