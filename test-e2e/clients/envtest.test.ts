import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findEtcd } from '../../services/storage/testing/etcd-binary.js';
import { PROGRAM } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';

const CLIENT = join(dirname(dirname(PROGRAM)), '.cache/envtest/client');
const ENDS_WITHIN_MS = 150_000;

describe("controller-runtime's envtest", function () {
  this.timeout(ENDS_WITHIN_MS + 10_000);
  let assets: string;
  before(function () {
    if (existsSync(CLIENT)) return;
    if (process.env['CI'] !== undefined) throw new Error('Its client is not built, which these tests need in CI');
    this.skip();
  });
  beforeEach(() => {
    assets = scratchDirectory();
  });
  afterEach(() => removeDirectory(assets));

  it('starts this server in the place of its own, and tests an operator with it', async () => {
    const etcd = findEtcd('3.5');
    assert.ok(etcd !== undefined, 'there is no etcd');
    symlinkSync(etcd, join(assets, 'etcd'));
    const script = `#!/bin/sh\nexec '${PROGRAM}' apiserver --vocabulary=kubernetes "$@"\n`;
    writeFileSync(join(assets, 'kube-apiserver'), script, { mode: 0o755 });
    const env = { ...process.env, KUBEBUILDER_ASSETS: assets };
    const { stdout } = await promisify(execFile)(CLIENT, { env, timeout: ENDS_WITHIN_MS, maxBuffer: 16 << 20 });
    assert.deepEqual(stdout.trim().split('\n'), [
      'started',
      'defaulted and reconciled',
      'refused by its schema',
      'refused by a webhook',
      'applied by two owners',
      'finalized and collected in order',
      'another user has no rights',
      'stopped',
    ]);
  });
});
