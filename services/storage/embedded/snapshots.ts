import { PageSize } from '../page-size.js';
import { keyAfter, type Snapshot, type SnapshotEntry, type SnapshotSource } from '../snapshot.js';
import { revision, type KeyValue, type LeaseId, type Revision } from '../store.js';
import { Table } from './environment.js';
import { Reader } from './reader.js';
import { NO_LEASE, decodeNumber, leaseKey } from './records.js';

/** However small entries are. */
const MOST_IN_PAGE = 20_000;

/**
 * Reads the store in `directory`, which another process may have open and write to: a snapshot is the moment at which the
 * table was opened, so nothing can be compacted away.
 */
export function embeddedSnapshots({ directory }: { readonly directory: string }): SnapshotSource {
  const tables = new Set<Table>();
  return {
    take: (prefix) => {
      const table = Table.openForReading(directory);
      tables.add(table);
      return Promise.resolve(new EmbeddedSnapshot(table, prefix));
    },
    close: async () => {
      for (const table of tables) await table.close();
      tables.clear();
    },
  };
}

class EmbeddedSnapshot implements Snapshot {
  readonly revision: Revision;
  readonly count: number;
  readonly #table: Table;
  readonly #reader: Reader;
  readonly #prefix: string;

  constructor(table: Table, prefix: string) {
    this.#table = table;
    this.#reader = new Reader(table);
    this.#prefix = prefix;
    this.revision = this.#reader.lastRevision() ?? revision(1);
    this.count = this.#reader.range(prefix, { limit: 1 }).count ?? 0;
  }

  get(key: string): Promise<KeyValue | undefined> {
    return Promise.resolve(this.#reader.get(key));
  }

  async *pages(signal: AbortSignal): AsyncGenerator<readonly SnapshotEntry[]> {
    const size = new PageSize(MOST_IN_PAGE);
    let from: string | undefined = this.#prefix;
    while (from !== undefined) {
      signal.throwIfAborted();
      const { kvs, more } = this.#reader.range(this.#prefix, { from, limit: size.entries });
      size.learn(kvs);
      yield await Promise.resolve(kvs.map((kv) => this.#entry(kv)));
      const last: KeyValue | undefined = kvs.at(-1);
      from = more && last !== undefined ? keyAfter(last.key) : undefined;
    }
  }

  /** All of it: when a lease ends is known to the process alone that runs the store, and a restart gives it its full time. */
  secondsLeft(lease: LeaseId): Promise<number | undefined> {
    const seconds = this.#table.get(leaseKey(BigInt(lease)));
    return Promise.resolve(seconds === undefined ? undefined : decodeNumber(seconds));
  }

  #entry(kv: KeyValue): SnapshotEntry {
    const lease = this.#reader.current(kv.key)?.lease ?? NO_LEASE;
    return { ...kv, lease: lease === NO_LEASE ? undefined : (lease.toString() as LeaseId) };
  }
}
