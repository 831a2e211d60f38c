import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { StoreError, revision, type KeyValueStore } from '../store.js';
import { openEmbeddedStore } from './embedded-store.js';
import { Environment, type Write } from './environment.js';

const log = { info: () => undefined, error: () => undefined };
const { signal } = new AbortController();

describe('EmbeddedStore that is refused room', () => {
  let directory: string;
  let store: KeyValueStore;
  const disk: { commit: (writes: readonly Write[]) => Promise<void> } = Environment.prototype;
  const { commit } = disk;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'no-room-'));
    store = await openEmbeddedStore({ directory, log, onFatal: (err) => assert.fail(err) });
  });
  afterEach(async () => {
    disk.commit = commit;
    await store.close();
    rmSync(directory, { recursive: true });
  });

  const put = (value: string): Promise<unknown> => {
    const operation = { type: 'put', key: '/a', value: Buffer.from(value) } as const;
    return store.transact({ conditions: [], operations: [operation] }, signal);
  };
  const noRoom = { code: 'noSpace' };

  it('takes later what it had no room for: a compaction, the end of a lease', async () => {
    const lease = await store.grantLease(60, signal);
    await put('1');
    await put('2');
    disk.commit = () => Promise.reject(new StoreError('noSpace', 'no room'));
    await assert.rejects(put('3'), noRoom);
    await assert.rejects(store.compact(revision(3), signal), noRoom);
    await assert.rejects(store.revokeLease(lease, signal), noRoom);
    assert.equal((await store.get('/a', { revision: revision(2) }, signal)).kv?.value.toString(), '1');
    disk.commit = commit;
    await store.compact(revision(3), signal);
    await assert.rejects(store.get('/a', { revision: revision(2) }, signal), { code: 'compacted' });
    await store.revokeLease(lease, signal);
    await assert.rejects(store.revokeLease(lease, signal), { code: 'leaseNotFound' });
  });
});
