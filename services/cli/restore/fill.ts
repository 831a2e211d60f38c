import { LIVING_SERVERS, RECORDS } from '../../storage/layout.js';
import { isStoreError, type KeyValueStore, type LeaseId, type Operation } from '../../storage/store.js';
import { readBackup, type BackupSummary, type Source } from '../backup/backup-file.js';
import type { BackupEntry, BackupLease } from '../backup/format.js';
import { CommandError } from '../failure.js';
import { patiently, type Claim } from './claim.js';

export interface FillOptions {
  readonly store: KeyValueStore;
  readonly claim: Claim;
  readonly prefix: string;
  readonly source: Source;
  /** Of the backup as it was checked. */
  readonly backup: BackupSummary;
  readonly report: (line: string) => void;
}

/** Within the bounds that both stores have for a transaction, 128 operations and 1.5 MB. */
const MOST_OPERATIONS = 100;
const MOST_BYTES = 1 << 20;
const AT_ONCE = 8;
const ATTEMPTS = 5;
const REPORT_EVERY = 20_000;

/** These are not put back: the vocabulary goes in at the very end, and the others tell of another history. */
const LEFT_OUT: ReadonlySet<string> = new Set(Object.values(RECORDS));

type Batch = BackupEntry[];

/** Puts every entry of the backup below the prefix. */
export async function fill(o: FillOptions, signal: AbortSignal): Promise<void> {
  const leases = new Leases(o.store);
  const underway = new Set<Promise<void>>();
  let failed: unknown;
  let done = 0;
  for await (const batch of batches(o)) {
    const work = putBatch(o, leases, batch, signal).then(
      () => {
        if (Math.floor((done + batch.length) / REPORT_EVERY) > Math.floor(done / REPORT_EVERY)) {
          o.report(`Restored ${done + batch.length} of ${o.backup.entries}`);
        }
        done += batch.length;
      },
      (err: unknown) => void (failed ??= err),
    );
    underway.add(work);
    void work.finally(() => underway.delete(work));
    if (underway.size >= AT_ONCE) await Promise.race(underway);
    if (failed !== undefined) break;
  }
  await Promise.all(underway);
  if (failed !== undefined) throw failed as Error;
}

async function* batches({ source, backup }: FillOptions): AsyncGenerator<Batch> {
  let batch: Batch = [];
  let bytes = 0;
  const entries = readBackup(source);
  let next = await entries.next();
  for (; next.done !== true; next = await entries.next()) {
    const entry = next.value;
    if (LEFT_OUT.has(entry.key) || entry.key.startsWith(LIVING_SERVERS)) continue;
    if (batch.length > 0 && (batch.length >= MOST_OPERATIONS || bytes + entry.value.length > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += entry.key.length + entry.value.length;
  }
  if (next.value.digest !== backup.digest) throw new CommandError('The backup was changed while it was restored');
  if (batch.length > 0) yield batch;
}

/** A lease may end while a large backup is restored: then there is another one. */
async function putBatch(o: FillOptions, leases: Leases, batch: Batch, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const operations: Operation[] = [];
    for (const { key, value, lease } of batch) {
      const put = { type: 'put', key: o.prefix + key, value } as const;
      operations.push(lease === undefined ? put : { ...put, lease: await leases.of(lease, signal) });
    }
    try {
      await o.claim.write(operations, signal);
      return;
    } catch (err) {
      if (!isStoreError(err, 'leaseNotFound') || attempt === ATTEMPTS) throw err;
      for (const { lease } of batch) if (lease !== undefined) leases.forget(lease);
    }
  }
}

/** Leases of this store in place of those of the backup, with the time that they had left. */
class Leases {
  readonly #store: KeyValueStore;
  readonly #granted = new Map<LeaseId, Promise<LeaseId>>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  of({ id, secondsLeft }: BackupLease, signal: AbortSignal): Promise<LeaseId> {
    let granted = this.#granted.get(id);
    if (granted === undefined) {
      granted = patiently(() => this.#store.grantLease(Math.max(1, secondsLeft), signal), signal);
      this.#granted.set(id, granted);
    }
    return granted;
  }

  forget({ id }: BackupLease): void {
    this.#granted.delete(id);
  }
}
