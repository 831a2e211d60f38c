import { setTimeout as sleep } from 'node:timers/promises';

import {
  NO_REVISION,
  isStoreError,
  revision,
  type KeyValue,
  type KeyValueStore,
  type Operation,
  type Revision,
  type TransactionResult,
} from '../store.js';

export interface CompactorClock {
  /** Milliseconds since 1970, for the record only: nothing is decided by it. */
  now(): number;
  /** Rejects when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
}

export interface CompactorLog {
  info(message: string, keys: object): void;
  warn(message: string, keys: object): void;
}

export interface CompactorOptions {
  readonly store: Pick<KeyValueStore, 'head' | 'get' | 'transact' | 'compact'>;
  /** Where replicas agree, e.g. "/registry/compaction". */
  readonly key: string;
  /** @default 300,000 */
  readonly intervalMs?: number;
  readonly clock?: CompactorClock;
  readonly log: CompactorLog;
}

/** The record under the key, as this replica saw it last. */
interface Seen {
  readonly modRevision: Revision;
  /** The head when it was written; NO_REVISION when it cannot be read. */
  readonly revision: Revision;
}

const DEFAULT_INTERVAL_MS = 5 * 60 * 1000;
const ABSENT: Seen = { modRevision: NO_REVISION, revision: NO_REVISION };
const systemClock: CompactorClock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * Compacts history that is older than one interval (and at most two), until `signal` fires. Any number of replicas may
 * run it; one of them compacts per interval.
 *
 * Each replica remembers the record {time, revision} it saw, sleeps an interval, and then replaces the record by
 * {now, head} on condition that it has not changed since. The server that succeeds knows that no other has compacted
 * for an interval by its own clock, and that the record's revision is at least that old: it compacts there. Who does
 * not has seen the new record and sleeps again. So no two clocks are compared, and a replica that is replaced is
 * replaced by the next to wake.
 *
 * A store that is full takes no record, and needs compaction more than ever. Then the turn is taken by deleting the
 * record on the same condition, which needs no space; as long as there is none, each replica compacts at the head that
 * it saw an interval ago by its own clock. That is as old as is promised, and to compact twice does no harm.
 * @throws {RangeError} `intervalMs` is not positive. Nothing else: what fails is logged and tried again an interval
 * later.
 */
export async function runCompactor(o: CompactorOptions, signal: AbortSignal): Promise<void> {
  const { intervalMs = DEFAULT_INTERVAL_MS, clock = systemClock } = o;
  if (!(intervalMs > 0)) throw new RangeError(`Cannot compact every ${intervalMs} ms: the interval must be positive`);
  const stopped = (): boolean => signal.aborted;
  let seen: Seen | undefined;
  while (!stopped()) {
    try {
      seen = seen === undefined ? await begin(o, clock, signal) : await takeTurn(o, clock, seen, signal);
    } catch (err) {
      if (!stopped()) o.log.warn('Compaction failed, will be tried again', { err, intervalMs });
    }
    await clock.sleep(intervalMs, signal).catch(() => undefined); // the loop asks the signal
  }
}

/** The record of another replica must first grow old before this one's eyes. */
async function begin(o: CompactorOptions, clock: CompactorClock, signal: AbortSignal): Promise<Seen> {
  const { kv } = await o.store.get(o.key, {}, signal);
  return kv === undefined ? takeTurn(o, clock, ABSENT, signal) : parse(kv);
}

async function takeTurn(o: CompactorOptions, clock: CompactorClock, seen: Seen, signal: AbortSignal): Promise<Seen> {
  const head = await o.store.head(signal);
  const record = { time: new Date(clock.now()).toISOString(), revision: head };
  const { result, full } = await replaceRecord(o, seen, record, signal);
  if (!result.succeeded) return result.found[0] === undefined ? { ...ABSENT, revision: head } : parse(result.found[0]);
  if (seen.revision !== NO_REVISION) await compact(o, seen.revision, signal);
  return { modRevision: full ? NO_REVISION : result.revision, revision: head };
}

/** @returns `full`: there was no room for the record, and the one before is gone. */
async function replaceRecord(
  { store, key }: CompactorOptions,
  { modRevision }: Seen,
  record: object,
  signal: AbortSignal,
): Promise<{ readonly result: TransactionResult; readonly full: boolean }> {
  const by = (operation: Operation): Promise<TransactionResult> =>
    store.transact({ conditions: [{ key, modRevision }], operations: [operation], otherwiseGet: [key] }, signal);
  try {
    return { result: await by({ type: 'put', key, value: Buffer.from(JSON.stringify(record)) }), full: false };
  } catch (err) {
    if (!isStoreError(err, 'noSpace')) throw err;
    return { result: await by({ type: 'delete', key }), full: true };
  }
}

async function compact(o: CompactorOptions, at: Revision, signal: AbortSignal): Promise<void> {
  try {
    await o.store.compact(at, signal);
    o.log.info('History compacted', { revision: at });
  } catch (err) {
    if (isStoreError(err, 'compacted') || signal.aborted) return; // another server went further, or this one stops
    o.log.warn('History was not compacted', { revision: at, err });
  }
}

/** A record that cannot be read is replaced in its turn, without compacting. */
function parse(kv: KeyValue): Seen {
  let at: unknown;
  try {
    const record: unknown = JSON.parse(kv.value.toString());
    at = typeof record === 'object' && record !== null && 'revision' in record ? record.revision : undefined;
  } catch {
    at = undefined;
  }
  const known = typeof at === 'number' && Number.isSafeInteger(at) && at > 0;
  return { modRevision: kv.modRevision, revision: known ? revision(at as number) : NO_REVISION };
}
