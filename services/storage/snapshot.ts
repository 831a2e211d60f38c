import type { KeyValue, LeaseId, Revision } from './store.js';

/** One key as a snapshot has it. */
export interface SnapshotEntry extends KeyValue {
  /** The lease that holds it. */
  readonly lease: LeaseId | undefined;
}

/** All keys that start with a prefix, as they were at one revision. */
export interface Snapshot {
  readonly revision: Revision;
  readonly count: number;
  /** One key. @throws {StoreError} as `pages` */
  get(key: string, signal: AbortSignal): Promise<KeyValue | undefined>;
  /**
   * The entries in bytewise key order, some 4 MB of values at a time.
   * @throws {StoreError} `compacted`, when the store has dropped this revision meanwhile
   */
  pages(signal: AbortSignal): AsyncIterable<readonly SnapshotEntry[]>;
  /** How long a lease has still to go; undefined when it has ended. */
  secondsLeft(lease: LeaseId, signal: AbortSignal): Promise<number | undefined>;
}

/** A store of which snapshots are taken while others write to it. */
export interface SnapshotSource {
  take(prefix: string, signal: AbortSignal): Promise<Snapshot>;
  close(): Promise<void>;
}

/** The first key, bytewise, that is above `key`. */
export const keyAfter = (key: string): string => `${key}\0`;
