import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { open } from 'lmdb';

import { ENVIRONMENT_OPTIONS, Environment } from './environment.js';
import { currentKey, currentSpan, keyOfCurrent } from './records.js';

describe('Environment', () => {
  let directory: string;
  let env: Environment;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'environment-'));
    env = Environment.open(directory);
  });
  afterEach(async () => {
    await env.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('reads nothing of a batch that is written and not yet released', async () => {
    const [old, fresh] = [currentKey('/old'), currentKey('/new')];
    await env.commit([{ key: old, value: Buffer.from('1') }]);
    env.renew();
    await env.commit([
      { key: fresh, value: Buffer.from('2') },
      { key: currentKey('/newer'), value: Buffer.from('3') },
      { key: old, value: undefined },
    ]);
    await new Promise((resolve) => setTimeout(resolve)); // lmdb renews a transaction of its own with each turn
    const seen = (): unknown => [
      env.get(old)?.toString(),
      env.get(fresh)?.toString(),
      [...env.keys(currentSpan(''))].map(keyOfCurrent),
      [...env.entries(currentSpan(''))].map(({ value }) => value.toString()),
      env.count(currentSpan('')),
    ];
    assert.deepEqual(seen(), ['1', undefined, ['/old'], ['1'], 1]);
    env.renew();
    assert.deepEqual(seen(), [undefined, '2', ['/new', '/newer'], ['2', '3'], 2]);
  });

  it('is opened so that a commit is on the disk when it is told', async () => {
    const db = open({ path: join(directory, 'other.mdb'), ...ENVIRONMENT_OPTIONS });
    try {
      const { overlappingSync } = db as unknown as { readonly overlappingSync: boolean };
      assert.equal(overlappingSync, false, 'lmdb itself would tell of a commit before it is flushed');
      const given: Readonly<Record<string, unknown>> = ENVIRONMENT_OPTIONS;
      const putOff = ['noSync', 'noMetaSync', 'mapAsync', 'useWritemap'].filter((name) => given[name] === true);
      assert.deepEqual(putOff, []);
    } finally {
      await db.close();
    }
  });
});
