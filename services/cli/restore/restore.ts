import { RECORDS, registryPrefix } from '../../storage/layout.js';
import type { KeyValueStore, Operation, Revision } from '../../storage/store.js';
import { checkBackup, type BackupSummary, type Source } from '../backup/backup-file.js';
import { CommandError } from '../failure.js';
import { Claim, patiently } from './claim.js';
import { fill } from './fill.js';
import { compactUpTo, raiseRevisions, raisingKey } from './raise.js';

export interface RestoreOptions {
  readonly store: KeyValueStore & { readonly skipTo?: (at: Revision) => void };
  readonly etcdPrefix: string;
  readonly source: Source;
  /** Whether what is there may go. */
  readonly force: boolean;
  /** How far above the revision of the backup the store goes on; undefined: by default, and only when it is behind. */
  readonly bumpRevisions: number | undefined;
  /** Told of what is going on, a line at a time. */
  readonly report: (line: string) => void;
}

export interface Restored extends BackupSummary {
  /** Watches and lists of this revision and older ones begin anew. */
  readonly compacted: Revision;
}

/** As many changes may have been told to clients since the backup was made. */
export const DEFAULT_BUMP = 1_000_000;
const PAGE = 100;

/**
 * Puts a backup below the prefix. It can be killed anywhere: until it is finished no server starts on the store, and the same
 * backup goes on.
 *
 * @throws {CommandError} the backup is damaged, or something is there @throws {StoreError}
 */
export async function restore(o: RestoreOptions, signal: AbortSignal): Promise<Restored> {
  const prefix = registryPrefix(o.etcdPrefix);
  const backup = await checkBackup(o.source);
  if (backup.encrypted > 0 && backup.prefix !== prefix) throw bound(backup, prefix);
  const claim = await Claim.take({ store: o.store, prefix, backup: backup.digest, force: o.force }, signal);
  const steps = { ...o, prefix, backup, claim };
  if (claim.phase === 'emptying') {
    await empty(steps, signal);
    await claim.enter('raising', signal);
  }
  if (claim.phase === 'raising') {
    await raise(steps, signal);
    await claim.enter('filling', signal);
  }
  await fill(steps, signal);
  await assertWhole(steps, signal);
  const compacted = await o.store.head(signal);
  await compactUpTo(o.store, compacted, signal);
  await claim.finish(lastWrites(steps), signal);
  return { ...backup, compacted };
}

interface Steps extends RestoreOptions {
  readonly prefix: string;
  readonly backup: BackupSummary;
  readonly claim: Claim;
}

/** Encrypted values may say where they belong, and then cannot be read anywhere else. */
const bound = ({ encrypted, prefix }: BackupSummary, other: string): CommandError =>
  new CommandError(
    `${encrypted} values of the backup are encrypted and belong under ${prefix}: they cannot be read under ${other}`,
  );

async function empty({ store, prefix, claim, report }: Steps, signal: AbortSignal): Promise<void> {
  report(`Taking away what is under ${prefix}`);
  const marker = prefix + RECORDS.restore;
  for (;;) {
    const { kvs } = await patiently(() => store.range(prefix, { limit: PAGE }, signal), signal);
    const gone = kvs.filter(({ key }) => key !== marker).map(({ key }): Operation => ({ type: 'delete', key }));
    if (gone.length === 0) return;
    await claim.write(gone, signal);
  }
}

async function raise(o: Steps, signal: AbortSignal): Promise<void> {
  const head = await o.store.head(signal);
  const least = o.backup.revision + (o.bumpRevisions ?? DEFAULT_BUMP);
  const isFar = o.bumpRevisions === undefined ? head > o.backup.revision : head >= least;
  if (!isFar) await raiseRevisions({ ...o, least }, signal);
}

/** Entries of leases may have ended meanwhile. */
async function assertWhole({ store, prefix, backup }: Steps, signal: AbortSignal): Promise<void> {
  const { count = 0 } = await patiently(() => store.range(prefix, { limit: 1 }, signal), signal);
  const least = backup.entries - backup.leased - Object.keys(RECORDS).length;
  if (count < least) throw new CommandError(`Only ${count} keys are in the store: another process takes them away`);
}

const lastWrites = ({ prefix, backup }: Steps): Operation[] => [
  { type: 'put', key: prefix + RECORDS.vocabulary, value: Buffer.from(backup.vocabulary) },
  { type: 'delete', key: raisingKey(prefix) },
];
