import { NO_REVISION, revision, type Revision, type StoreEvent } from '../store.js';
import type { WatchResponse } from './watch-messages.js';

/**
 * Makes of the answers of one stream batches that never split a revision. A batch that is sent in fragments is given
 * on revision by revision, so that no more than the events of one revision are held back. What lies below `next`
 * was delivered before.
 */
export class WatchBatches {
  /** The first revision that is not yet delivered: where a new stream has to begin. */
  next: Revision;
  /** Everything up to this was delivered; 0 at first. */
  delivered: Revision = NO_REVISION;
  #held: StoreEvent[] = [];

  constructor(from: Revision) {
    this.next = from;
  }

  /** Events that may be delivered now, and count as delivered; perhaps none. */
  add(response: Pick<WatchResponse, 'events' | 'fragment'>): readonly StoreEvent[] {
    const first = response.events[0];
    if (this.#held.length === 0 && !response.fragment && first !== undefined && first.modRevision >= this.next) {
      this.passed(response.events.at(-1)?.modRevision ?? this.delivered);
      return response.events; // as nearly always: nothing to put together
    }
    const events = [...this.#held, ...response.events.filter((it) => it.modRevision >= this.next)];
    const last = events.at(-1)?.modRevision;
    if (last === undefined) return events;
    const whole = response.fragment ? events.findIndex((it) => it.modRevision === last) : events.length;
    this.#held = events.slice(whole);
    const batch = events.slice(0, whole);
    const delivered = batch.at(-1)?.modRevision;
    if (delivered !== undefined) this.passed(delivered);
    return batch;
  }

  /** Whether a revision has come in part. */
  get incomplete(): boolean {
    return this.#held.length > 0;
  }

  /** Nothing more will come up to and including `at`. */
  passed(at: Revision): void {
    this.delivered = revision(Math.max(this.delivered, at));
    this.next = revision(Math.max(this.next, at + 1));
  }

  /** The stream is gone: what has come in part comes again, whole. */
  restart(): void {
    this.#held = [];
  }
}
