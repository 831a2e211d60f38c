import assert from 'node:assert/strict';

import {
  isStoreError,
  type Revision,
  type StoreError,
  type StoreErrorCode,
  type StoreEvent,
  type WatchHandler,
} from '../store.js';

const WAIT_MS = 10_000;

interface Waiter {
  readonly holds: () => boolean;
  readonly resolve: () => void;
}

/** Keeps all that a watch delivers, in order, and lets a test wait for what is to come. */
export class Recorder implements WatchHandler {
  readonly batches: (readonly StoreEvent[])[] = [];
  readonly all: StoreEvent[] = [];
  /** Each progress, with how many events had come before it. */
  readonly progressed: { readonly revision: Revision; readonly after: number }[] = [];
  readonly connections: boolean[] = [];
  readonly endings: StoreError[] = [];
  #waiters: Waiter[] = [];

  events(batch: readonly StoreEvent[]): void {
    this.batches.push(batch);
    this.all.push(...batch);
    this.check();
  }

  progress(revision: Revision): void {
    this.progressed.push({ revision, after: this.all.length });
    this.check();
  }

  connected(up: boolean): void {
    this.connections.push(up);
    this.check();
  }

  ended(error: StoreError): void {
    this.endings.push(error);
    this.check();
  }

  /** Waits until `holds`; fails when it does not within the bound of a step. */
  until(what: string, holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        holds,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((w) => w !== waiter);
        reject(new Error(`Waited ${WAIT_MS} ms for ${what}; ${this.summary()}`));
      }, WAIT_MS);
      this.#waiters.push(waiter);
    });
  }

  /** Waits for `count` events in all. More than that is for the caller to notice. */
  count(count: number): Promise<void> {
    return this.until(`${count} events`, () => this.all.length >= count);
  }

  /** Waits for an event at `revision` or later. */
  reached(revision: Revision): Promise<void> {
    return this.until(`an event at revision ${revision}`, () => (this.all.at(-1)?.modRevision ?? 0) >= revision);
  }

  async endedWith(code: StoreErrorCode): Promise<StoreError> {
    await this.until(`the end (${code})`, () => this.endings.length > 0);
    const error = this.endings[0]!;
    assert.ok(isStoreError(error, code), `ended with ${error.code}: ${error.message}`);
    return error;
  }

  /** The events so far, as `put name=value@revision`. */
  lines(prefix: string): string[] {
    return this.all.map((e) => {
      const name = e.key.slice(prefix.length);
      return e.type === 'put'
        ? `put ${name}=${e.value.toString()}@${e.modRevision}`
        : `delete ${name}@${e.modRevision}`;
    });
  }

  /** Revisions never fall, and none is spread over two batches. */
  assertOrdered(): void {
    let last = 0;
    for (const batch of this.batches) {
      assert.ok(batch.length > 0, 'an empty batch was delivered');
      assert.ok(batch[0]!.modRevision > last, `revision ${batch[0]!.modRevision} came in a later batch than ${last}`);
      for (const e of batch) {
        assert.ok(e.modRevision >= last, `revision ${e.modRevision} came after ${last}`);
        last = e.modRevision;
      }
    }
    const written = this.all.map((e) => `${e.modRevision} ${e.key}`);
    assert.equal(new Set(written).size, written.length, 'an event came twice');
  }

  private check(): void {
    const ready = this.#waiters.filter((w) => w.holds());
    this.#waiters = this.#waiters.filter((w) => !ready.includes(w));
    for (const w of ready) w.resolve();
  }

  private summary(): string {
    const ended = this.endings.map((e) => `${e.code}: ${e.message}`).join(', ');
    return `had ${this.all.length} events, ${this.progressed.length} progress, ended: ${ended === '' ? 'no' : ended}`;
  }
}
