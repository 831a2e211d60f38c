import { StoreError, revision, type Revision } from '../store.js';
import type { Environment } from './environment.js';
import type { GroupCommit } from './group-commit.js';
import { decodeNumber, encodeNumber, historyKey, logKey, metaKey, type Change } from './records.js';
import type { Reader } from './reader.js';

/** Changes looked at between two turns of other work. */
const SLICE_CHANGES = 500;

const COMPACTED = metaKey('compacted');
const SWEPT = metaKey('swept');

export interface CompactionOptions {
  readonly env: Environment;
  readonly reader: Reader;
  readonly commit: GroupCommit;
  readonly failed: (err: unknown) => void;
}

/**
 * Compaction happens in two steps, as in etcd: first the revision is written down, and from then on no call may read
 * below it; then the space is swept in the background. The sweep walks the changes since the last one: each names the
 * version it replaced, which is what has become unreadable, so the work is that of the changes and not of the keys.
 * A deletion itself goes once it is below the compacted revision. Sweeping twice does no harm, so a sweep that was cut
 * short goes on at the next start.
 */
export class Compaction {
  readonly #o: CompactionOptions;
  /** The compacted revision as decided, perhaps not durable yet. */
  #decided: Revision;
  /** The compacted revision: older states cannot be read. */
  #at: Revision;
  /** Changes up to this revision are swept. */
  #swept: Revision;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(o: CompactionOptions) {
    this.#o = o;
    this.#at = revision(numberAt(o.env, COMPACTED));
    this.#decided = this.#at;
    this.#swept = revision(numberAt(o.env, SWEPT));
  }

  get at(): Revision {
    return this.#at;
  }

  /** @throws {StoreError} compacted, future */
  decide(at: Revision, head: Revision): void {
    if (at <= this.#decided) {
      const compactRevision = this.#decided;
      throw new StoreError('compacted', `Cannot compact at ${at}: ${compactRevision} is compacted`, {
        compactRevision,
      });
    }
    if (at > head) throw new StoreError('future', `Cannot compact at ${at}: the newest revision is ${head}`);
    this.#decided = at;
    this.#o.commit.write(COMPACTED, encodeNumber(at));
    this.#o.commit.whenDurable(() => {
      this.#at = at;
      this.sweep();
    });
  }

  /** Goes back to the durable revision. */
  reset(): void {
    this.#decided = this.#at;
  }

  /** Frees what cannot be read any more, in the background. */
  sweep(): void {
    this.#sweeping ??= this.#run()
      .catch((err: unknown) => {
        if (!this.#stopped) this.#o.failed(err);
      })
      .finally(() => (this.#sweeping = undefined));
  }

  /** Resolves when no sweep is under way. */
  async swept(): Promise<void> {
    await this.#sweeping;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    while (this.#swept < this.#at && !this.#stopped) {
      const swept = this.#slice(this.#swept, this.#at);
      this.#o.commit.write(SWEPT, encodeNumber(swept));
      await this.#o.commit.durable(undefined);
      this.#swept = swept; // not before: what found no room on the disk is still to be freed
    }
  }

  /** Returns from where to go on; a revision is never left half. */
  #slice(from: Revision, at: Revision): Revision {
    let seen = 0;
    let last = from;
    for (const change of this.#o.reader.changes(from, at)) {
      if (seen >= SLICE_CHANGES && change.revision !== last) return change.revision;
      this.#dropReplaced(change, at);
      last = change.revision;
      seen++;
    }
    // Deletions at `at` itself stay: one of them may be the newest change, which says where history has come to.
    return at;
  }

  #dropReplaced(c: Change, at: Revision): void {
    if (c.previousRevision > 0) this.#drop(c.key, c.previousRevision, c.previousSub, false);
    if (c.type === 'delete' && c.revision < at) this.#drop(c.key, c.revision, c.sub, true);
  }

  #drop(key: string, at: Revision, sub: number, deleted: boolean): void {
    this.#o.commit.write(logKey(at, sub), undefined);
    this.#o.commit.write(historyKey(key, { revision: at, sub, deleted }), undefined);
  }
}

function numberAt(env: Environment, key: Buffer): number {
  const bytes = env.get(key);
  return bytes === undefined ? 0 : decodeNumber(bytes);
}
