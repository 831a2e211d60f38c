import { StoreError, isStoreError, type Revision } from '../store.js';
import type { Environment, Write } from './environment.js';
import type { Change } from './records.js';

/** Called when a batch is durable, in the order of arrival, or with why it is not. */
type Waiter = (error?: Error) => void;

/** Writes that are committed together. */
export interface Batch {
  readonly writes: Write[];
  readonly changes: Change[];
  readonly waiters: Waiter[];
  /** The newest revision in it; undefined when none was assigned. */
  head: Revision | undefined;
  bytes: number;
}

export interface GroupCommitOptions {
  readonly env: Environment;
  /** Called when a batch is durable and readable, before its waiters are answered. */
  readonly released: (batch: Batch) => void;
  /** Called when there was no room for a batch: neither it nor the next one, which builds on it, was written. */
  readonly refused: (error: StoreError) => void;
  /** Called once; nothing is written after that. */
  readonly failed: (error: StoreError) => void;
}

/** Writes that may wait for the disk; more are refused. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_WAITING = 20_000;
/** Longest that a caller waits for the disk. */
const DEADLINE_MS = 10_000;
/** A disk that has not answered for this long is given up. */
const STUCK_MS = 60_000;

const empty = (): Batch => ({ writes: [], changes: [], waiters: [], head: undefined, bytes: 0 });

/**
 * One flush for all writes of the same time. While one batch is on its way to the disk, the next one gathers. The
 * answers of a batch are given when it is durable, also those that only depend on writes in it.
 */
export class GroupCommit {
  readonly #o: GroupCommitOptions;
  #gathering = empty();
  #underway: Batch | undefined;
  #finished: Promise<void> = Promise.resolve();
  #started: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(o: GroupCommitOptions) {
    this.#o = o;
  }

  /** Whether all decisions so far are durable. */
  get idle(): boolean {
    return this.#underway === undefined && this.#gathering.waiters.length === 0 && this.#gathering.writes.length === 0;
  }

  /** @throws {StoreError} unavailable: too much waits already */
  assertRoom(): void {
    const { bytes, waiters } = this.#gathering;
    if (bytes > MAX_WAITING_BYTES || waiters.length >= MAX_WAITING) {
      throw new StoreError('unavailable', `Cannot take the write: ${waiters.length} wait for the disk already`);
    }
  }

  write(key: Buffer, value: Buffer | undefined): void {
    this.#gathering.writes.push({ key, value });
    this.#gathering.bytes += key.length + (value?.length ?? 0);
    this.#start();
  }

  changed(change: Change): void {
    this.#gathering.changes.push(change);
    this.#gathering.head = change.revision;
  }

  /** Calls `act` when everything decided so far is durable, before later waiters are answered. */
  whenDurable(act: () => void): void {
    this.#gathering.waiters.push((error) => {
      if (error === undefined) act();
    });
    this.#start();
  }

  /**
   * Answers with `result` when everything decided so far is durable.
   * @throws {StoreError} unavailable: the disk did not answer in time @throws the signal's reason
   */
  async durable<T>(result: T, signal?: AbortSignal): Promise<T> {
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve();
        else reject(error);
      };
      const onAbort = (): void => settle();
      const timer = setTimeout(() => {
        settle(
          new StoreError('unavailable', `The disk did not answer within ${DEADLINE_MS} ms; the outcome is unknown`, {
            mayBeDone: true,
          }),
        );
      }, DEADLINE_MS);
      signal?.addEventListener('abort', onAbort);
      this.#gathering.waiters.push(settle);
      this.#start();
    });
    signal?.throwIfAborted();
    return result;
  }

  /** Lets the batch under way finish. The next one is not written: its waiters get `error`. */
  async close(error: StoreError): Promise<void> {
    this.#closed = true;
    clearImmediate(this.#started);
    for (const settle of this.#gathering.waiters.splice(0)) settle(error);
    await this.#finished;
  }

  #start(): void {
    // After the poll phase: all requests that the loop has read by then share the flush.
    if (this.#underway === undefined) this.#started ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#started = undefined;
    if (this.#closed || this.#underway !== undefined) return;
    const batch = this.#gathering;
    this.#gathering = empty();
    this.#underway = batch;
    this.#finished = this.#commit(batch);
  }

  async #commit(batch: Batch): Promise<void> {
    try {
      if (batch.writes.length > 0) await this.#bounded(this.#o.env.commit(batch.writes));
    } catch (err) {
      if (isStoreError(err, 'noSpace')) this.#refuse(batch, err as StoreError);
      else this.#fail(batch, err);
      return;
    }
    if (batch.writes.length > 0) this.#o.env.renew();
    this.#underway = undefined;
    this.#o.released(batch);
    for (const settle of batch.waiters) settle();
    if (this.#gathering.waiters.length > 0 || this.#gathering.writes.length > 0) this.#flush();
  }

  #bounded(commit: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(
          new StoreError('unavailable', `Cannot write to the store: the disk has not answered for ${STUCK_MS} ms`, {
            mayBeDone: true,
          }),
        );
      }, STUCK_MS);
      void commit.then(resolve, reject).finally(() => {
        clearTimeout(timer);
      });
    });
  }

  #refuse(batch: Batch, error: StoreError): void {
    const { waiters } = this.#gathering;
    this.#gathering = empty();
    this.#underway = undefined;
    this.#o.refused(error);
    for (const settle of [...batch.waiters, ...waiters]) settle(error);
  }

  #fail(batch: Batch, err: unknown): void {
    this.#closed = true;
    const error =
      err instanceof StoreError
        ? err
        : new StoreError('unavailable', 'Cannot write to the store', { cause: err, mayBeDone: true });
    for (const settle of [...batch.waiters, ...this.#gathering.waiters.splice(0)]) settle(error);
    this.#o.failed(error);
  }
}
