import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { open, type RootDatabase, type Transaction } from 'lmdb';

import { StoreError } from '../store.js';
import { metaKey, type Span } from './records.js';

/** A key to write, or to remove when there is no value. */
export interface Write {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

const OWNER = metaKey('owner');
const FORMAT = metaKey('format');
const FORMAT_VERSION = '1';
/** A write that was cut short, which a full disk does as well as a broken one. */
const CUT_SHORT = /input\/output error/i;
/** Size of a probe's chunk, and room that a batch needs beside its values, for copied pages. */
const PROBE_BYTES = 64 * 1024;
const DATA = 'data.mdb';
export const ENVIRONMENT_OPTIONS = {
  encoding: 'binary',
  keyEncoding: 'binary',
  overlappingSync: false,
  // Batches are made here, by hand; turn batching would only add a second queue.
  eventTurnBatching: false,
  maxDbs: 1,
} as const;
/** How lmdb ends a commit that did not fit: no space on the device, map full, quota, file too large. */
const NO_SPACE = /no space|MDB_MAP_FULL|disk quota|file too large/i;

/** What was committed at one moment; reads never see half a commit. */
export class Table {
  protected readonly db: RootDatabase<Buffer, Buffer>;
  protected snapshot: Transaction;

  protected constructor(db: RootDatabase<Buffer, Buffer>) {
    this.db = db;
    this.snapshot = db.useReadTransaction();
  }

  /**
   * Opens the table of a store for reading alone, beside the process that owns it: lmdb keeps the moment of opening for as
   * long as this is open, and the file grows by what is written meanwhile.
   * @throws {StoreError} corrupt, unavailable: there is none
   */
  static openForReading(directory: string): Table {
    if (!existsSync(join(directory, DATA))) throw new StoreError('unavailable', `There is no store in ${directory}`);
    try {
      const db = open<Buffer, Buffer>({ path: join(directory, DATA), ...ENVIRONMENT_OPTIONS, readOnly: true });
      if (checkFormat(db) === undefined) throw new StoreError('unavailable', `There is no store in ${directory}`);
      return new Table(db);
    } catch (err) {
      throw translate(err, `Cannot open the store in ${directory}`);
    }
  }

  /** The value is the caller's own copy. */
  get(key: Buffer): Buffer | undefined {
    return this.db.get(key, { transaction: this.snapshot });
  }

  /** In key order; the cursor is closed when the loop ends, however it ends. */
  entries(
    span: Span,
    o: { readonly limit?: number; readonly reverse?: boolean } = {},
  ): Iterable<{ key: Buffer; value: Buffer }> {
    return this.db.getRange({ ...directed(span, o.reverse), ...o, transaction: this.snapshot });
  }

  keys(span: Span, o: { readonly limit?: number; readonly reverse?: boolean } = {}): Iterable<Buffer> {
    return this.db.getKeys({ ...directed(span, o.reverse), ...o, transaction: this.snapshot });
  }

  count(span: Span): number {
    return this.db.getKeysCount({ ...span, transaction: this.snapshot });
  }

  async close(): Promise<void> {
    this.snapshot.done();
    await this.db.close();
  }
}

/**
 * The table on disk: the one file that knows lmdb.
 *
 * lmdb is opened without overlappingSync, so a commit resolves only when data and meta page are on the disk
 * (fdatasync, then a write with O_DSYNC); with it, "committed" would mean visible and only "flushed" durable. Group
 * commit already makes one flush serve many writers: measured, overlapping gains nothing (27,000 and 28,000 puts/s).
 *
 * Reads see one snapshot, taken when the last commit was released and not when lmdb made it visible: what a reader
 * sees and the head revision that is told beside it never disagree.
 *
 * Every commit carries a condition on the owner's number, which each opener raises. So even a second process that the
 * lock file could not see (another pid namespace) cannot mix its writes into ours: the one that came first is
 * refused, by lmdb's own lock in shared memory.
 */
export class Environment extends Table {
  readonly #owner: number;
  readonly #directory: string;

  private constructor(db: RootDatabase<Buffer, Buffer>, owner: number, directory: string) {
    super(db);
    this.#directory = directory;
    this.#owner = owner;
  }

  /** `directory` exists. @throws {StoreError} corrupt, noSpace, unavailable */
  static open(directory: string): Environment {
    try {
      const db = open<Buffer, Buffer>({ path: join(directory, DATA), ...ENVIRONMENT_OPTIONS });
      const env = new Environment(db, takeOwnership(db), directory);
      syncDirectory(directory);
      return env;
    } catch (err) {
      throw translate(err, `Cannot open the store in ${directory}`);
    }
  }

  /**
   * Writes all or nothing; resolves when it is on the disk. Reads see it after `renew()`. One at a time.
   * @throws {StoreError} noSpace: nothing was written; unavailable: no write is possible after that
   */
  async commit(writes: readonly Write[]): Promise<void> {
    let mine: boolean;
    try {
      mine = await this.db.ifVersion(OWNER, this.#owner, () => {
        for (const { key, value } of writes) {
          if (value === undefined) void this.db.remove(key);
          else void this.db.put(key, value);
        }
      });
    } catch (err) {
      throw translate(withoutRoom(await commitError(err), this.#directory, writes), 'Cannot write to the store');
    }
    if (!mine) throw new StoreError('unavailable', 'Cannot write to the store: another process has opened it');
  }

  /** Size of the file. */
  get bytes(): number {
    return statSync(join(this.#directory, DATA)).size;
  }

  /** Lets reads see the last commit. */
  renew(): void {
    this.snapshot.done();
    this.db.resetReadTxn();
    this.snapshot = this.db.useReadTransaction();
  }
}

/** lmdb wants the upper bound first when it walks down. */
const directed = (span: Span, reverse = false): Span =>
  reverse ? { start: span.end, end: span.start } : { start: span.start, end: span.end };

/** The format of what is stored; undefined where nothing is. @throws {StoreError} corrupt */
function checkFormat(db: RootDatabase<Buffer, Buffer>): string | undefined {
  const format = db.getBinary(FORMAT)?.toString();
  if (format !== undefined && format !== FORMAT_VERSION) {
    throw new StoreError('corrupt', `Cannot read a store of format ${format}: this release knows ${FORMAT_VERSION}`);
  }
  return format;
}

/** Checks the format, raises the owner's number and returns it. Stored as lmdb compares versions: a double. */
function takeOwnership(db: RootDatabase<Buffer, Buffer>): number {
  return db.transactionSync(() => {
    if (checkFormat(db) === undefined) db.putSync(FORMAT, Buffer.from(FORMAT_VERSION));
    const owner = (db.getBinary(OWNER)?.readDoubleLE(0) ?? 0) + 1;
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(owner);
    db.putSync(OWNER, bytes);
    return owner;
  });
}

/**
 * lmdb tells of a write that was cut short as an error of the device, whatever cut it. Whether there is room for as
 * much is found out with a file beside it, at the same distance from its start (files have limits, too).
 */
function withoutRoom(err: unknown, directory: string, writes: readonly Write[]): unknown {
  if (!(err instanceof Error && CUT_SHORT.test(err.message))) return err;
  const bytes = writes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), PROBE_BYTES);
  const probe = join(directory, 'room');
  try {
    const fd = openSync(probe, 'w', 0o600);
    try {
      const start = statSync(join(directory, DATA)).size;
      const chunk = Buffer.alloc(PROBE_BYTES);
      for (let at = 0; at < bytes;) at += writeSync(fd, chunk, 0, chunk.length, start + at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (found) {
    return NO_SPACE.test(String(found)) ? found : err;
  } finally {
    rmSync(probe, { force: true });
  }
  return err;
}

/** Makes the names of new files durable: a flush of a file does not flush the directory it is in. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** lmdb rejects with a generic error whose cause is a promise. */
async function commitError(err: unknown): Promise<unknown> {
  if (!(err instanceof Error && 'commitError' in err)) return err;
  try {
    await err.commitError;
  } catch (cause) {
    return cause;
  }
  return err;
}

function translate(err: unknown, what: string): StoreError {
  if (err instanceof StoreError) return err;
  const why = err instanceof Error ? err.message : String(err);
  return new StoreError(NO_SPACE.test(why) ? 'noSpace' : 'unavailable', `${what}: ${why}`, { cause: err });
}
