import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { revision, type Revision, type TransactionResult } from '../store.js';
import { Environment } from './environment.js';
import type { Batch, GroupCommit } from './group-commit.js';
import { Reader } from './reader.js';
import { NO_LEASE, type Change } from './records.js';
import { Transactor } from './transactor.js';

/** Decides over an empty table; a batch is on the disk when the test says so, and never really is. */
describe('Transactor', () => {
  let directory: string;
  let env: Environment;
  let gathered: Change[];
  let transactor: Transactor;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'transactor-'));
    env = Environment.open(directory);
    gathered = [];
    const commit = {
      write: () => undefined,
      changed: (change: Change) => void gathered.push(change),
    } as Partial<GroupCommit> as GroupCommit; // deciding asks nothing else of it
    const reader = new Reader(env);
    transactor = new Transactor({ reader, commit, head: revision(1), leaseNumber: () => NO_LEASE });
  });
  afterEach(async () => {
    await env.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const put = (value: string, at?: Revision): TransactionResult =>
    transactor.decide({
      conditions: at === undefined ? [] : [{ key: '/a', modRevision: at }],
      operations: [{ type: 'put', key: '/a', value: Buffer.from(value) }],
      otherwiseGet: ['/a'],
    });
  const batch = (): Pick<Batch, 'changes'> => ({ changes: gathered.splice(0) });

  it('decides against what is not yet on the disk', () => {
    assert.equal(put('one').revision, 2);
    const lost = put('two', revision(0));
    assert.ok(!lost.succeeded);
    assert.deepEqual([lost.found[0]?.value.toString(), lost.found[0]?.modRevision], ['one', 2]);
    assert.equal(put('two', revision(2)).revision, 3);
  });

  it('goes by the newer decision when the batch of an older one is on the disk', () => {
    put('one');
    const first = batch();
    put('two');
    transactor.released(first as Batch);
    const lost = put('three', revision(2));
    assert.ok(!lost.succeeded, 'what is decided about the key, and not yet on the disk, is revision 3');
    assert.equal(lost.found[0]?.value.toString(), 'two');
  });

  it('goes by the table alone once nothing is decided besides, or when all that was is void', () => {
    put('one');
    transactor.released(batch() as Batch);
    assert.equal(put('two', revision(0)).succeeded, true, 'the table of this test is empty');
    transactor.reset(revision(5));
    assert.deepEqual(put('three', revision(0)), { succeeded: true, revision: 6 });
  });
});
