import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { startPlatform } from './support/platform.js';
import { runProgram } from './support/program.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

describe('platform certificates', function () {
  this.timeout(60_000);
  let directory: string;
  beforeEach(() => (directory = scratchDirectory()));
  afterEach(() => removeDirectory(directory));

  const make = (...args: string[]): ReturnType<typeof runProgram> =>
    runProgram(['certificates', 'make', `--directory=${directory}`, ...args]);
  const read = (set: string, file: string): string => readFileSync(join(directory, set, file), 'utf8');
  const all = (): Record<string, string> => {
    const files = readdirSync(directory).flatMap((set) => readdirSync(join(directory, set)).map((it) => [set, it] as const)); // prettier-ignore
    return Object.fromEntries(files.map(([set, file]) => [`${set}/${file}`, read(set, file)]));
  };

  it('makes keys that only their owner can read, and nothing the second time', async () => {
    const { code, stderr } = await make('--hosts=api.example.com', '--etcd-hosts=etcd-0');
    assert.equal(code, 0, stderr);
    const before = all();
    for (const file of Object.keys(before)) {
      const mode = statSync(join(directory, file)).mode & 0o777;
      assert.equal(mode, file.endsWith('.key') ? 0o600 : 0o644, file);
    }
    const server = new X509Certificate(read('apiserver', 'tls.crt'));
    assert.ok(server.checkHost('api.example.com') && server.checkPrivateKey(createPrivateKey(read('apiserver', 'tls.key')))); // prettier-ignore
    const { stderr: again } = await make('--hosts=api.example.com', '--etcd-hosts=etcd-0');
    assert.equal(again, '');
    assert.deepEqual(all(), before);
    assert.ok(Object.entries(before).every(([file, text]) => !file.endsWith('.key') || !stderr.includes(text)));
  });

  it('mends what a person took away, and leaves to him what it cannot', async () => {
    await make();
    const before = all();
    rmSync(join(directory, 'admin'), { recursive: true });
    assert.equal((await make()).code, 0);
    const changed = Object.entries(all()).filter(([file, text]) => before[file] !== text).map(([file]) => file); // prettier-ignore
    assert.deepEqual(changed.sort(), ['admin/tls.crt', 'admin/tls.key']);
    rmSync(join(directory, 'ca/tls.key'));
    const { code, stderr } = await make();
    assert.equal(code, 1);
    assert.match(stderr, /^platform certificates make: The set ca cannot be used: it has no key to sign with\n$/);
  });

  for (const [what, args, why] of [
    ['a host that is none', ['make', '--hosts=a b'], /"a b" is neither/],
    ['a command that it has not', ['mend'], /needs a command: make or check/],
    ['a place that is no pod', ['make'], /no pod with a service account/],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await runProgram(['certificates', ...args], { KUBERNETES_SERVICE_HOST: '' });
      assert.notEqual(code, 0);
      assert.match(stderr, why);
    });

  it('asks a server, and tells when there is none', async () => {
    const running = await startPlatform({ dataDir: directory }); // which keeps the client configuration
    const check = (): ReturnType<typeof runProgram> =>
      runProgram(['certificates', 'check', `--kubeconfig=${running.kubeconfig}`, '--timeout=10s']);
    try {
      const { code, stderr } = await check();
      assert.equal(code, 0, stderr);
    } finally {
      await running.stop();
    }
    const { code, stderr } = await check();
    assert.equal(code, 1);
    assert.match(stderr, /^platform certificates check: /m);
  });
});
