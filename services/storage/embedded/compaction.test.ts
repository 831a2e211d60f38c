import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NO_REVISION, StoreError, isStoreError, revision, type Operation, type Revision } from '../store.js';
import { Compaction } from './compaction.js';
import { Environment } from './environment.js';
import { GroupCommit } from './group-commit.js';
import { Reader } from './reader.js';
import { NO_LEASE, logSpan, spanOf, versionOf } from './records.js';
import { Transactor } from './transactor.js';

const closed = new StoreError('closed', 'closed');

/** The parts of a store below its interface, to see what lies in the table. */
class Ground {
  readonly env: Environment;
  readonly reader: Reader;
  readonly commit: GroupCommit;
  readonly compaction: Compaction;
  /** Of sweeps. */
  readonly failures: unknown[] = [];
  readonly #transactor: Transactor;

  constructor(directory: string) {
    this.env = Environment.open(directory);
    this.reader = new Reader(this.env);
    this.commit = new GroupCommit({
      env: this.env,
      released: (batch) => {
        this.#transactor.released(batch);
      },
      refused: () => {
        this.#transactor.reset(this.reader.lastRevision() ?? revision(1));
        this.compaction.reset();
      },
      failed: (err) => assert.fail(err),
    });
    const head = this.reader.lastRevision() ?? revision(1);
    this.#transactor = new Transactor({ reader: this.reader, commit: this.commit, head, leaseNumber: () => NO_LEASE });
    this.compaction = new Compaction({
      env: this.env,
      reader: this.reader,
      commit: this.commit,
      failed: (err) => void this.failures.push(err),
    });
  }

  /** The disk has no room for the `n`th batch from now on. */
  refuse(n: number): void {
    const real = this.env.commit.bind(this.env);
    this.env.commit = (writes) => {
      if (--n > 0) return real(writes);
      this.env.commit = real;
      return Promise.reject(new StoreError('noSpace', 'full'));
    };
  }

  put(key: string, value = 'v'): Promise<Revision> {
    return this.#write({ type: 'put', key, value: Buffer.from(value) });
  }

  remove(key: string): Promise<Revision> {
    return this.#write({ type: 'delete', key });
  }

  async compact(at: Revision): Promise<void> {
    this.compaction.decide(at, this.reader.lastRevision() ?? NO_REVISION);
    await this.commit.durable(undefined);
    await this.compaction.swept();
  }

  /** Revisions of which something is kept. */
  kept(): { readonly log: number[]; readonly versions: number[] } {
    const versions = [...this.env.keys(spanOf(Buffer.from('h')))].map((key) => versionOf(key).revision as number);
    const log = [...this.reader.changes(revision(0), revision(1_000_000))].map((c) => c.revision as number);
    assert.equal(this.env.count(logSpan), log.length);
    return { log, versions: versions.sort((a, b) => a - b) };
  }

  async close(): Promise<void> {
    this.compaction.stop();
    await this.commit.close(closed);
    await this.compaction.swept();
    await this.env.close();
  }

  #write(op: Operation): Promise<Revision> {
    return this.commit.durable(this.#transactor.write([op], [NO_LEASE]));
  }
}

describe('Compaction', () => {
  let directory: string;
  let s: Ground;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compaction-'));
    s = new Ground(directory);
  });
  afterEach(async () => {
    assert.deepEqual(s.failures, []);
    await s.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('frees every version that can no longer be read, and no other', async () => {
    await s.put('/a'); // 2
    await s.put('/b'); // 3
    await s.put('/a'); // 4: replaces 2
    const at = await s.put('/c'); // 5
    await s.put('/a'); // 6: replaces 4, which is still read at 5
    await s.compact(at);
    assert.deepEqual(s.kept(), { log: [3, 4, 5, 6], versions: [3, 4, 5, 6] });
  });

  it('frees deletions, but those at the revision itself only the next time', async () => {
    await s.put('/a'); // 2
    await s.remove('/a'); // 3
    await s.put('/b'); // 4
    const at = await s.remove('/b'); // 5
    await s.compact(at);
    assert.deepEqual(s.kept(), { log: [5], versions: [5] });
    await s.compact(await s.put('/c')); // 6
    assert.deepEqual(s.kept(), { log: [6], versions: [6] });
  });

  it('does not reach below what earlier ones have swept', async () => {
    for (let i = 0; i < 10; i++) await s.put('/a', String(i)); // 2..11
    await s.compact(revision(6));
    assert.deepEqual(s.kept().log, [6, 7, 8, 9, 10, 11]);
    await s.compact(revision(9));
    assert.deepEqual(s.kept().log, [9, 10, 11]);
    await s.compact(revision(11));
    assert.deepEqual(s.kept(), { log: [11], versions: [11] });
  });

  it('sweeps more than one slice', async () => {
    await Promise.all(Array.from({ length: 1500 }, (_, i) => s.put(`/k${i % 7}`)));
    await s.compact(revision(1501));
    assert.equal(s.kept().log.length, 7);
  });

  it('goes on with a sweep that was cut short', async () => {
    await Promise.all(Array.from({ length: 1500 }, (_, i) => s.put(`/k${i % 7}`)));
    s.compaction.decide(revision(1501), revision(1501));
    await s.commit.durable(undefined); // the sweep has only begun
    await s.close();
    s = new Ground(directory);
    assert.ok(s.kept().log.length > 7);
    assert.equal(s.compaction.at, 1501);
    s.compaction.sweep();
    await s.compaction.swept();
    assert.deepEqual(s.kept().log.length, 7);
  });

  it('decides between two that come at once', async () => {
    for (let i = 0; i < 5; i++) await s.put('/a');
    s.compaction.decide(revision(4), revision(6));
    assert.throws(
      () => {
        s.compaction.decide(revision(4), revision(6));
      },
      (err) => isStoreError(err, 'compacted'),
    );
    s.compaction.decide(revision(5), revision(6));
    await s.commit.durable(undefined);
    await s.compaction.swept();
    assert.deepEqual([s.compaction.at, s.kept().log], [5, [5, 6]]);
  });

  it('may be asked again when there was no room for it', async () => {
    for (let i = 0; i < 3; i++) await s.put('/a'); // 2..4
    s.refuse(1);
    await assert.rejects(s.compact(revision(4)), (err) => isStoreError(err, 'noSpace'));
    assert.equal(s.compaction.at, 0);
    await s.compact(revision(4));
    assert.deepEqual([s.compaction.at, s.kept().log], [4, [4]]);
  });

  it('frees with the next sweep what one had no room to free', async () => {
    for (let i = 0; i < 4; i++) await s.put('/a'); // 2..5
    s.refuse(2);
    await s.compact(revision(4));
    assert.ok(isStoreError(s.failures.pop(), 'noSpace'));
    assert.deepEqual([s.compaction.at, s.kept().log], [4, [2, 3, 4, 5]]);
    await s.compact(revision(5));
    assert.deepEqual(s.kept(), { log: [5], versions: [5] });
  });
});
