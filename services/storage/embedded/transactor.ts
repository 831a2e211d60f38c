import {
  NO_REVISION,
  StoreError,
  revision,
  type Condition,
  type KeyValue,
  type Operation,
  type Revision,
  type Transaction,
  type TransactionResult,
} from '../store.js';
import type { Batch, GroupCommit } from './group-commit.js';
import {
  NO_LEASE,
  attachedKey,
  checkKey,
  currentKey,
  decodeChange,
  encodeChange,
  encodeCurrent,
  historyKey,
  logKey,
  type Change,
  type Current,
  type LeaseNumber,
} from './records.js';
import { toKeyValue, type Reader } from './reader.js';

/** As etcd's defaults, so that what works here works there. */
export const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;
export const MAX_OPERATIONS = 128;

/** A decided change of a key that is not yet released. `current` undefined = deleted. */
interface Pending {
  readonly change: Change;
  readonly current: Current | undefined;
}

export interface TransactorOptions {
  readonly reader: Reader;
  readonly commit: GroupCommit;
  readonly head: Revision;
  /** @throws {StoreError} leaseNotFound */
  readonly leaseNumber: (op: Operation) => LeaseNumber;
}

/**
 * Decides transactions one after the other, in the order of arrival, against the stored state and pending writes.
 * Deciding never waits: a transaction that sees another's outcome is answered no earlier than the other.
 */
export class Transactor {
  readonly #reader: Reader;
  readonly #commit: GroupCommit;
  readonly #leaseNumber: (op: Operation) => LeaseNumber;
  readonly #pending = new Map<string, Pending>();
  #head: Revision;

  constructor(o: TransactorOptions) {
    this.#reader = o.reader;
    this.#commit = o.commit;
    this.#leaseNumber = o.leaseNumber;
    this.#head = o.head;
  }

  /** Decides now; the answer may be told when the batch is durable. @throws {StoreError} tooLarge, leaseNotFound */
  decide(t: Transaction): TransactionResult {
    checkSize(t);
    if (!t.conditions.every((c) => this.#holds(c))) {
      return { succeeded: false, revision: this.#head, found: (t.otherwiseGet ?? []).map((key) => this.#get(key)) };
    }
    const leases = t.operations.map(this.#leaseNumber);
    return { succeeded: true, revision: this.write(t.operations, leases) };
  }

  /** Writes at one revision, without a condition. Returns the head when nothing changes. */
  write(operations: readonly Operation[], leases: readonly LeaseNumber[]): Revision {
    const at = revision(this.#head + 1);
    // All reads come first: one that fails must not leave half a transaction in the batch.
    const found = operations.map((op) => this.#current(op.key));
    let sub = 0;
    for (const [i, op] of operations.entries()) {
      const before = found[i];
      if (op.type === 'delete' && before === undefined) continue;
      this.#apply(op, { at, sub, before, lease: leases[i] ?? NO_LEASE });
      sub++;
    }
    if (sub > 0) this.#head = at;
    return this.#head;
  }

  /** The next write is at a revision above `at`. */
  skipTo(at: Revision): void {
    if (at > this.#head) this.#head = at;
  }

  /** The keys that a lease holds. @param stored Those that it holds on the disk. */
  heldBy(lease: LeaseNumber, stored: Iterable<string>): string[] {
    const keys = new Set<string>();
    for (const key of stored) if (this.#current(key)?.lease === lease) keys.add(key);
    for (const [key, { current }] of this.#pending) if (current?.lease === lease) keys.add(key);
    return [...keys];
  }

  /** Forgets all pending decisions. */
  reset(head: Revision): void {
    this.#pending.clear();
    this.#head = head;
  }

  /** The batch can be read from the disk now. */
  released(batch: Batch): void {
    for (const change of batch.changes) {
      if (this.#pending.get(change.key)?.change === change) this.#pending.delete(change.key);
    }
  }

  #current(key: string): Current | undefined {
    const pending = this.#pending.get(key);
    return pending === undefined ? this.#reader.current(key) : pending.current;
  }

  #get(key: string): KeyValue | undefined {
    const pending = this.#pending.get(key);
    if (pending === undefined) return this.#reader.get(key);
    return pending.current === undefined ? undefined : toKeyValue(pending.change);
  }

  #holds(c: Condition): boolean {
    return (this.#current(c.key)?.modRevision ?? NO_REVISION) === c.modRevision;
  }

  #apply(op: Operation, o: { at: Revision; sub: number; before: Current | undefined; lease: LeaseNumber }): void {
    const { at, sub, before, lease } = o;
    const put = op.type === 'put';
    const createRevision = put ? (before?.createRevision ?? at) : NO_REVISION;
    const record = encodeChange({
      type: op.type,
      key: op.key,
      value: put ? op.value : Buffer.alloc(0),
      revision: at,
      sub,
      createRevision,
      previousRevision: before?.modRevision ?? NO_REVISION,
      previousSub: before?.sub ?? 0,
    });
    // From here on the store's own copy is used, never the caller's buffer.
    const change = decodeChange(at, sub, record);
    const current = put ? { modRevision: at, sub, createRevision, lease } : undefined;
    this.#commit.write(logKey(at, sub), record);
    this.#commit.write(historyKey(op.key, { revision: at, sub, deleted: !put }), Buffer.alloc(0));
    this.#commit.write(currentKey(op.key), current === undefined ? undefined : encodeCurrent(current));
    this.#attach(op.key, before?.lease ?? NO_LEASE, current?.lease ?? NO_LEASE);
    this.#pending.set(op.key, { change, current });
    this.#commit.changed(change);
  }

  #attach(key: string, before: LeaseNumber, after: LeaseNumber): void {
    if (before === after) return;
    if (before !== NO_LEASE) this.#commit.write(attachedKey(before, key), undefined);
    if (after !== NO_LEASE) this.#commit.write(attachedKey(after, key), Buffer.alloc(0));
  }
}

/** @throws {StoreError} tooLarge @throws {RangeError} a key twice, or one that cannot be stored */
function checkSize(t: Transaction): void {
  if (t.operations.length > MAX_OPERATIONS || t.conditions.length > MAX_OPERATIONS) {
    const most = Math.max(t.operations.length, t.conditions.length);
    throw new StoreError('tooLarge', `Cannot write ${most} keys in one transaction: the most is ${MAX_OPERATIONS}`);
  }
  let bytes = 0;
  const keys = new Set<string>();
  for (const op of t.operations) {
    checkKey(op.key);
    if (keys.has(op.key)) throw new RangeError(`Cannot write ${JSON.stringify(op.key)} twice in one transaction`);
    keys.add(op.key);
    bytes += op.key.length + (op.type === 'put' ? op.value.length : 0);
  }
  for (const c of t.conditions) checkKey(c.key);
  for (const key of t.otherwiseGet ?? []) checkKey(key);
  if (bytes > MAX_REQUEST_BYTES) {
    throw new StoreError(
      'tooLarge',
      `Cannot write ${bytes} bytes in one transaction: the most is ${MAX_REQUEST_BYTES}`,
    );
  }
}
