import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isStoreError, revision, type LeaseId } from '../store.js';
import { Environment, type Write } from './environment.js';
import type { GroupCommit } from './group-commit.js';
import { Leases } from './leases.js';
import type { Transactor } from './transactor.js';

describe('Leases of the embedded store', () => {
  let directory: string;
  let env: Environment;
  let gathered: Write[];
  let commit: GroupCommit;
  let leases: Leases;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'leases-'));
    env = Environment.open(directory);
    gathered = [];
    commit = {
      write: (key: Buffer, value: Buffer | undefined) => void gathered.push({ key, value }),
    } as Partial<GroupCommit> as GroupCommit; // nothing else of it is asked
    leases = new Leases({ env, commit });
  });
  afterEach(async () => {
    await env.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const transactor = { heldBy: () => [], write: () => revision(1) } as Partial<Transactor> as Transactor;
  const flush = async (): Promise<void> => {
    await env.commit(gathered.splice(0));
    env.renew();
  };
  const known = (id: LeaseId): boolean => {
    try {
      leases.numberOf(id);
      return true;
    } catch (err) {
      assert.ok(isStoreError(err, 'leaseNotFound'));
      return false;
    }
  };

  it('forget one that found no room on the disk, and keep those that are there', async () => {
    const kept = leases.grant(60);
    await flush();
    const lost = leases.grant(60);
    assert.deepEqual([known(kept), known(lost)], [true, true]);
    leases.reset();
    assert.deepEqual([known(kept), known(lost)], [true, false]);
  });

  it('have one again whose end found no room', async () => {
    const kept = leases.grant(60);
    await flush();
    leases.revoke(kept, transactor);
    assert.equal(known(kept), false);
    leases.reset();
    assert.equal(known(kept), true);
  });

  it('are those of the disk at the start', async () => {
    const kept = leases.grant(60);
    await flush();
    leases.revoke(leases.grant(60), transactor);
    await flush();
    const again = new Leases({ env, commit });
    assert.equal(again.numberOf(kept), leases.numberOf(kept));
  });
});
