import { RECORDS, registryPrefix } from '../../storage/layout.js';
import type { Snapshot, SnapshotEntry, SnapshotSource } from '../../storage/snapshot.js';
import { isStoreError, type LeaseId } from '../../storage/store.js';
import { CommandError } from '../failure.js';
import { BackupWriter, type BackupSummary } from './backup-file.js';
import { FORMAT_VERSION, type BackupEntry, type BackupLease } from './format.js';
import type { Output } from './output.js';

export interface BackupOptions {
  readonly source: SnapshotSource;
  readonly etcdPrefix: string;
  readonly productVersion: string;
  readonly output: Output;
  readonly now: Date;
}

/** How often it is begun anew because history was compacted meanwhile. */
const ATTEMPTS = 5;

/**
 * Writes everything under the prefix, as it is at one revision, however much is written meanwhile.
 * @throws {CommandError} there is no store of this product; what is there is half restored @throws {StoreError}
 */
export async function backUp(o: BackupOptions, signal: AbortSignal): Promise<BackupSummary> {
  for (let attempt = 1; ; attempt++) {
    try {
      const summary = await attemptOf(o, signal);
      await o.output.finish();
      return summary;
    } catch (err) {
      if (!isStoreError(err, 'compacted') || attempt === ATTEMPTS) throw err;
      await o.output.again();
    }
  }
}

async function attemptOf(o: BackupOptions, signal: AbortSignal): Promise<BackupSummary> {
  const prefix = registryPrefix(o.etcdPrefix);
  const snapshot = await o.source.take(prefix, signal);
  const leases = new Leases(snapshot, signal);
  const writer = new BackupWriter(o.output.sink, {
    formatVersion: FORMAT_VERSION,
    productVersion: o.productVersion,
    vocabulary: await vocabularyOf(snapshot, prefix, signal),
    prefix,
    revision: snapshot.revision,
    time: o.now.toISOString(),
    count: snapshot.count,
  });
  for await (const page of snapshot.pages(signal)) {
    for (const entry of page) await writer.add(await toBackup(entry, prefix, leases));
  }
  const summary = await writer.finish();
  if (summary.entries === summary.count) return summary;
  throw new CommandError(`The store told of ${summary.count} keys and gave ${summary.entries}`);
}

async function vocabularyOf(snapshot: Snapshot, prefix: string, signal: AbortSignal): Promise<string> {
  const restore = await snapshot.get(prefix + RECORDS.restore, signal);
  if (restore !== undefined) throw new CommandError(`What lies under ${prefix} is half restored`);
  const vocabulary = await snapshot.get(prefix + RECORDS.vocabulary, signal);
  if (vocabulary !== undefined) return vocabulary.value.toString();
  throw new CommandError(`There is nothing of this product under ${prefix}`);
}

async function toBackup(entry: SnapshotEntry, prefix: string, leases: Leases): Promise<BackupEntry> {
  const { key, value, createRevision, modRevision, lease } = entry;
  return {
    key: key.slice(prefix.length),
    value,
    createRevision,
    modRevision,
    lease: lease === undefined ? undefined : await leases.of(lease),
  };
}

/** Asks for each lease once. */
class Leases {
  readonly #snapshot: Snapshot;
  readonly #signal: AbortSignal;
  readonly #known = new Map<LeaseId, BackupLease>();

  constructor(snapshot: Snapshot, signal: AbortSignal) {
    this.#snapshot = snapshot;
    this.#signal = signal;
  }

  /** One that has ended since the revision had a moment to go. */
  async of(id: LeaseId): Promise<BackupLease> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const secondsLeft = (await this.#snapshot.secondsLeft(id, this.#signal)) ?? 0;
    const lease = { id, secondsLeft };
    this.#known.set(id, lease);
    return lease;
  }
}
