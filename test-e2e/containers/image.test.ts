import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GenericContainer, Network, Wait, type StartedNetwork, type StartedTestContainer } from 'testcontainers';

import { BUILD_MS, IMAGE_MS, makeImages, makePlatformImage, needsEngine, PLATFORM_IMAGE } from '../support/engine.js';
import { PROGRAM } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';

const ROOT = dirname(dirname(PROGRAM));
const NAME = PLATFORM_IMAGE;
const READY = /ready https:/;

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8', timeout: 60_000 });

interface Inspected {
  readonly Id: string;
  readonly Size: number;
  readonly Config: { readonly User: string; readonly Entrypoint: readonly string[]; readonly Env: readonly string[] };
}

interface Archives {
  readonly digestOf: (file: string) => Promise<string>;
  readonly rewriteLayer: (from: string, to: string, epoch: number) => Promise<void>;
}

describe('a layer that is written again', () => {
  let dir: string;
  before(() => (dir = scratchDirectory()));
  after(() => removeDirectory(dir));

  it('is the same for the same files, whenever they were made and whoever made them', async () => {
    const { digestOf, rewriteLayer } = (await import(join(ROOT, 'deploy/images/archive.mjs'))) as Archives;
    const epoch = 1_700_000_000;
    const digests = [];
    for (const [i, made] of [1, 86_400.5].entries()) {
      const tree = join(dir, String(i));
      mkdirSync(join(tree, 'a'), { recursive: true });
      writeFileSync(join(tree, 'a/file'), 'content', { mode: 0o640 });
      symlinkSync('file', join(tree, 'a/link'));
      for (const it of ['a/file', 'a']) utimesSync(join(tree, it), epoch + made, epoch + made);
      const [plain, again] = [join(dir, `${i}.tar`), join(dir, `${i}-again.tar`)];
      const owner = i === 0 ? [] : ['--owner=builder:0', '--group=builders:0'];
      execFileSync('tar', ['-C', tree, '--format=pax', '--owner=0', '--group=0', ...owner, '-cf', plain, 'a/file', 'a/link', 'a']); // prettier-ignore
      await rewriteLayer(plain, again, epoch);
      digests.push(await digestOf(again));
      const listed = execFileSync('tar', ['-tvf', again, '--full-time', '--utc'], { encoding: 'utf8' });
      assert.match(listed, /^-rw-r-----\s+0\/0\s+7 2023-11-14 22:13:20 a\/file$/m);
      assert.match(listed, /a\/link -> file/);
    }
    assert.equal(digests[0], digests[1]);
  });
});

describe('the image', function () {
  this.timeout(BUILD_MS);
  let id: string;
  before(function () {
    needsEngine(this);
    id = makePlatformImage();
  });

  it('is small, runs as nobody, and has no shell', () => {
    const [{ Id, Size, Config }] = JSON.parse(docker('inspect', NAME)) as [Inspected];
    assert.equal(Id, id);
    assert.ok(Size < 150 << 20, `${Math.round(Size / 1e6)} MB`); // Node's binary alone is 99 MB
    assert.equal(Config.User, '65532:65532');
    assert.throws(() => docker('run', '--rm', '--entrypoint', '/bin/sh', NAME, '-c', 'true'), /no such file/);
  });

  it('says its version on a file system that cannot be written', () => {
    const { version } = JSON.parse(execFileSync('cat', ['package.json'], { cwd: ROOT, encoding: 'utf8' })) as {
      version: string;
    };
    assert.equal(docker('run', '--rm', '--read-only', '--network=none', NAME, '--version').trim(), version);
  });

  describe('with an etcd in another container', () => {
    const started: { stop(): Promise<unknown> }[] = [];
    let network: StartedNetwork;
    let server: StartedTestContainer;
    before(async function () {
      this.timeout(IMAGE_MS);
      makeImages('platform-etcd');
      process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
      network = await new Network().start();
      started.push(network);
      const flags = ['--listen-client-urls=http://0.0.0.0:2379', '--advertise-client-urls=http://etcd:2379'];
      started.unshift(
        await new GenericContainer('platform-etcd:latest')
          .withNetwork(network)
          .withNetworkAliases('etcd')
          .withCommand(['etcd', '--data-dir=/var/lib/etcd', ...flags])
          .withWaitStrategy(Wait.forLogMessage(/ready to serve client requests/))
          .start(),
      );
      server = await new GenericContainer(NAME)
        .withNetwork(network)
        .withTmpFs({ '/tmp': 'rw,mode=1777' })
        .withExposedPorts(6443)
        .withCommand(['up', '--data-dir=/tmp/platform', '--store=etcd', '--etcd-servers=http://etcd:2379'])
        .withWaitStrategy(Wait.forLogMessage(READY))
        .start();
      started.unshift(server);
    });
    after(async () => {
      for (const it of started) await it.stop();
    });

    it('serves', () => {
      const url = `https://127.0.0.1:${server.getMappedPort(6443)}/readyz`;
      assert.equal(execFileSync('curl', ['--silent', '--insecure', url], { encoding: 'utf8' }), 'ok');
    });
  });
});
