import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { client, clientFor, credentialsOf, type Client } from './support/client.js';
import { credentialFlags, startApiServer, startPlatform, stopped, type Running } from './support/platform.js';
import { runProgram, startProgram } from './support/program.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** Unauthorized or Forbidden: which of them is a matter of the authenticators. */
const REFUSED: readonly number[] = [401, 403];
const configMap = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { name },
});

describe('up', function () {
  this.timeout(90_000);
  let dataDir: string;
  const toStop: (() => unknown)[] = [];
  beforeEach(() => (dataDir = scratchDirectory()));
  afterEach(async () => {
    for (const stop of toStop.splice(0).reverse()) await stop();
    removeDirectory(dataDir);
  });

  const start = async (o: Parameters<typeof startPlatform>[0] = {}): Promise<Running> => {
    const running = await startPlatform({ dataDir, ...o });
    toStop.push(() => running.stop());
    return running;
  };
  const connect = (running: Running): Client => {
    const connected = client(running);
    toStop.push(() => connected.close());
    return connected;
  };
  const read = (name: string): string => readFileSync(join(dataDir, name), 'utf8');
  const servingNames = (): string => new X509Certificate(read('apiserver.crt')).subjectAltName ?? '';

  describe('on a fresh directory', () => {
    it('makes the directory, and files that only their owner can read where there is a key in them', async () => {
      removeDirectory(dataDir);
      await start();
      const mode = (name: string): string => (statSync(join(dataDir, name)).mode & 0o777).toString(8);
      const files = readdirSync(dataDir).filter((name) => !name.startsWith('owner.'));
      assert.deepEqual(Object.fromEntries(files.map((name) => [name, mode(name)])), {
        'admin.crt': '644',
        'admin.key': '600',
        'admin.kubeconfig': '600',
        'apiserver.crt': '644',
        'apiserver.key': '600',
        'ca.crt': '644',
        'ca.key': '600',
        'front-proxy-ca.crt': '644',
        'front-proxy-client.crt': '644',
        'front-proxy-client.key': '600',
        'controller-manager.crt': '644',
        'controller-manager.key': '600',
        'service-account.key': '600',
        'service-account.pub': '644',
        store: '700',
      });
      assert.equal(mode('.'), '700');
    });

    it('prints one line, with the address and the client configuration, when readyz answers 200', async () => {
      const running = await start();
      assert.equal(running.stdout(), `ready ${running.url} kubeconfig=${join(dataDir, 'admin.kubeconfig')}\n`);
      assert.equal(credentialsOf(running.kubeconfig).server, running.url);
      const { status, text } = await connect(running).get('/readyz');
      assert.deepEqual([status, text], [200, 'ok']);
    });

    it('makes certificates that openssl finds in order', async () => {
      await start();
      const openssl = (...args: string[]): string => execFileSync('openssl', args, { cwd: dataDir, encoding: 'utf8' });
      const check = ['verify', '-x509_strict', '-CAfile', 'ca.crt'];
      assert.match(openssl(...check, '-purpose', 'sslserver', '-verify_hostname', 'localhost', 'apiserver.crt'), /OK/);
      for (const address of ['127.0.0.1', '::1']) {
        assert.match(openssl(...check, '-purpose', 'sslserver', '-verify_ip', address, 'apiserver.crt'), /OK/);
      }
      assert.match(openssl(...check, '-purpose', 'sslclient', 'admin.crt'), /OK/);
      assert.match(openssl('x509', '-in', 'admin.crt', '-noout', '-subject'), /O\s*=\s*system:masters, CN\s*=\s*admin/);
      for (const serial of ['ca.crt', 'apiserver.crt', 'admin.crt'].map((it) =>
        openssl('x509', '-in', it, '-noout', '-serial'),
      )) {
        assert.match(serial, /^serial=[0-9A-F]{24,40}\n$/);
      }
    });

    it('calls cluster and host names as the vocabulary does', async () => {
      const running = await start({ vocabulary: 'kubernetes' });
      assert.match(readFileSync(running.kubeconfig, 'utf8'), /current-context: "admin@kubernetes"/);
      assert.match(servingNames(), /DNS:kubernetes\.default\.svc\.cluster\.local/);
    });

    it('has a certificate for the address under which others reach it, also when that is another later', async () => {
      await (await start({ args: ['--advertise-address=192.0.2.7'] })).stop();
      assert.match(servingNames(), /IP Address:192\.0\.2\.7(?:,|$)/);
      await start({ args: ['--advertise-address=192.0.2.8'] });
      assert.match(servingNames(), /IP Address:192\.0\.2\.8(?:,|$)/);
    });
  });

  describe('on a directory of an earlier start', () => {
    it('finds the credentials and the objects again', async () => {
      const first = await start();
      assert.equal((await connect(first).post(CONFIG_MAPS, configMap('kept'))).status, 201);
      const [ca, admin, key] = ['ca.crt', 'admin.crt', 'service-account.key'].map(read);
      const exit = await first.stop();
      assert.deepEqual(exit, { code: 0, signal: null });
      const second = await start();
      assert.deepEqual(['ca.crt', 'admin.crt', 'service-account.key'].map(read), [ca, admin, key]);
      assert.equal((await connect(second).get(`${CONFIG_MAPS}/kept`)).status, 200);
    });

    it('writes the client configuration anew when the port is another', async () => {
      const first = await start();
      await first.stop();
      const second = await start();
      assert.notEqual(second.port, first.port);
      assert.equal(credentialsOf(second.kubeconfig).server, second.url);
      assert.equal((await connect(second).get('/version')).status, 200);
    });

    it('makes a serving certificate for a new name, signed by the same authority', async () => {
      await (await start()).stop();
      const [ca, admin] = [read('ca.crt'), read('admin.crt')];
      await start({ args: ['--tls-san=api.example.com'] });
      assert.deepEqual([read('ca.crt'), read('admin.crt')], [ca, admin]);
      const args = ['verify', '-CAfile', 'ca.crt', '-verify_hostname', 'api.example.com', 'apiserver.crt'];
      assert.match(execFileSync('openssl', args, { cwd: dataDir, encoding: 'utf8' }), /OK/);
    });

    it('has every object whose creation was answered before it was killed', async () => {
      const first = await start();
      const writer = connect(first);
      const acknowledged: string[] = [];
      const write = async (thread: number): Promise<void> => {
        for (let i = 0; ; i++) {
          const answer = await writer.post(CONFIG_MAPS, configMap(`m-${thread}-${i}`)).catch(() => undefined);
          if (answer === undefined) return; // the wire was cut
          assert.equal(answer.status, 201, answer.text);
          acknowledged.push(`m-${thread}-${i}`);
          if (acknowledged.length === 200) first.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, thread) => write(thread)));
      assert.equal((await first.exited).signal, 'SIGKILL');
      const listed = (await connect(await start()).get(CONFIG_MAPS)).json() as unknown as {
        readonly items: readonly { readonly metadata: { readonly name: string } }[];
      };
      const names = new Set(listed.items.map(({ metadata }) => metadata.name));
      assert.ok(acknowledged.length >= 200);
      assert.deepEqual(
        acknowledged.filter((name) => !names.has(name)),
        [],
      );
    });

    it('is refused while the first one runs, and leaves everything as it is', async () => {
      const first = await start();
      const before = readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).mtimeMs]);
      const second = await runProgram(['up', `--data-dir=${dataDir}`, '--secure-port=0', '--tls-san=other']);
      assert.equal(second.code, 1);
      assert.match(second.stderr, new RegExp(`^\\S+ up: Cannot start: [^\\n]*process ${first.pid}[^\\n]*\\n$`));
      assert.deepEqual(
        readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).mtimeMs]),
        before,
      );
      assert.equal((await connect(first).get('/readyz')).status, 200);
    });

    it('is refused with another vocabulary', async () => {
      await (await start()).stop();
      const { code, stderr } = await runProgram([
        'up',
        `--data-dir=${dataDir}`,
        '--secure-port=0',
        '--vocabulary=kubernetes',
        '--log-level=error',
      ]);
      assert.equal(code, 1);
      assert.match(stderr, /^[^\n]*--vocabulary=platform[^\n]*kubernetes\n$/);
    });
  });

  describe('that cannot start', () => {
    const wrongFlags = [
      [['--no-such-flag'], /Unknown flag: --no-such-flag/],
      [['--secure-port=seven'], /--secure-port: "seven" is no integer/],
      [['--secure-port=70000'], /--secure-port: "70000" is above 65535/],
      [['--vocabulary=other'], /--vocabulary: "other" choose one of/],
      [['--request-timeout'], /--request-timeout needs a value/],
      [['--tls-cert-file=a.crt'], /--tls-cert-file and --tls-private-key-file go together/],
      [['--tls-san=no name'], /--tls-san: "no name" is neither/],
      [['word'], /Unknown flag: word/],
    ] as const;
    for (const [flags, message] of wrongFlags) {
      it(`says in one line what is wrong with ${flags.join(' ')}`, async () => {
        const { code, stdout, stderr } = await runProgram(['up', `--data-dir=${dataDir}`, ...flags]);
        assert.deepEqual([code, stdout, stderr.split('\n').length], [2, '', 2]);
        assert.match(stderr, message);
        assert.deepEqual(readdirSync(dataDir), []);
      });
    }

    const failing = async (...flags: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runProgram(['up', `--data-dir=${dataDir}`, '--log-level=error', ...flags]);
      assert.deepEqual([code, stdout, stderr.split('\n').length], [1, '', 2], stderr);
      return stderr;
    };

    it('says in one line that the port is taken', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      toStop.push(() => new Promise((resolve) => other.close(resolve)));
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as AddressInfo;
      assert.match(await failing('--bind-address=127.0.0.1', `--secure-port=${port}`), new RegExp(`in use.*:${port}`));
    });

    it('says in one line which file cannot be read', async () => {
      assert.match(await failing('--secure-port=0', '--token-auth-file=/no/such/file'), /\/no\/such\/file/);
      writeFileSync(join(dataDir, 'ca.key'), 'nonsense');
      assert.match(await failing('--secure-port=0'), /Cannot read the key in ca\.key/);
    });

    it('leaves a directory that the next start can use', async () => {
      await failing('--secure-port=0', '--token-auth-file=/no/such/file');
      assert.equal((await connect(await start()).get('/readyz')).status, 200);
    });
  });

  describe('on a signal', () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      it(`ends watches well and exits with 0 on ${signal}`, async () => {
        const running = await start();
        const watching = await connect(running).watch(`${CONFIG_MAPS}?watch=1`);
        running.kill(signal);
        const all: string[] = [];
        for await (const { type } of watching) all.push(type);
        assert.deepEqual(
          all.filter((type) => type === 'ERROR'),
          [],
        );
        assert.deepEqual(await running.exited, { code: 0, signal: null });
      });
    }

    it('serves on, not ready, for the delay that was asked for, and exits at once on the second', async () => {
      const running = await start({ args: ['--shutdown-delay-duration=1m'] });
      const asking = connect(running);
      running.kill('SIGTERM');
      let answer = await asking.get('/readyz');
      while (answer.status === 200) answer = await asking.get('/readyz');
      assert.equal(answer.status, 500);
      assert.equal((await asking.get(CONFIG_MAPS)).status, 200);
      running.kill('SIGTERM');
      assert.deepEqual(await running.exited, { code: 1, signal: null });
    });
  });

  describe('with files of the operator', () => {
    it('lets in whoever the token file names', async () => {
      writeFileSync(join(dataDir, 'tokens.csv'), 'secret-token,jane,1,"readers"\n');
      const running = await start({ args: [`--token-auth-file=${join(dataDir, 'tokens.csv')}`] });
      const { ca } = credentialsOf(running.kubeconfig);
      const statusWith = async (token: string): Promise<number> => {
        const jane = clientFor(running.url, { ca, token });
        toStop.push(() => jane.close());
        return (await jane.get(CONFIG_MAPS)).status;
      };
      // Jane is known, and nobody has given her any rights.
      assert.deepEqual([await statusWith('secret-token'), await statusWith('other')], [403, 401]);
    });

    it('warns when its own administrator will be refused', async () => {
      const other = scratchDirectory();
      toStop.push(() => removeDirectory(other));
      await (await startPlatform({ dataDir: other })).stop();
      const running = await start({ args: [`--client-ca-file=${join(other, 'ca.crt')}`] });
      assert.match(running.stderr(), /will be refused/);
      assert.ok(REFUSED.includes((await connect(running).get(CONFIG_MAPS)).status));
    });

    it('writes a client configuration that trusts the certificate it was given', async () => {
      const cert = join(dataDir, 'own.crt');
      const key = join(dataDir, 'own.key');
      const names = 'subjectAltName=IP:127.0.0.1';
      const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=own', '-addext', names];
      execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'pipe' });
      const running = await start({ args: [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`] });
      assert.equal((await connect(running).get(CONFIG_MAPS)).status, 200);
    });
  });

  describe('killed while it starts', () => {
    for (const file of ['ca.key', 'ca.crt', 'apiserver.key', 'store', 'admin.kubeconfig']) {
      it(`leaves what the next start completes: as soon as there is ${file}`, async () => {
        const there = appearance(dataDir, file);
        const victim = startProgram(['up', `--data-dir=${dataDir}`, '--secure-port=0']);
        await there;
        victim.kill('SIGKILL');
        await victim.exited;
        assert.equal((await connect(await start()).get(CONFIG_MAPS)).status, 200);
      });
    }
  });
});

/** Resolves when something called `name` is put into the directory `dir`. */
function appearance(dir: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = watch(dir, (_, changed) => {
      if (changed !== name) return;
      watcher.close();
      resolve();
    });
    watcher.once('error', reject);
  });
}

describe('apiserver', function () {
  this.timeout(90_000);

  it('serves by itself with the credentials it is given, and prints its address', async () => {
    const dir = scratchDirectory();
    const up = await startPlatform({ dataDir: dir });
    await up.stop();
    const server = await startApiServer([`--data-dir=${dir}`, ...credentialFlags(dir)]);
    const { ca, cert = '', key = '' } = credentialsOf(join(dir, 'admin.kubeconfig'));
    const asking = clientFor(server.url, { ca, cert, key });
    try {
      assert.equal(server.stdout(), `ready ${server.url}\n`);
      assert.equal((await asking.get('/api/v1/namespaces')).status, 200);
      const anonymous = clientFor(server.url, { ca });
      assert.ok(REFUSED.includes((await anonymous.get('/api/v1/namespaces')).status));
      anonymous.close();
    } finally {
      asking.close();
      assert.deepEqual(await stopped(server), { code: 0, signal: null });
      removeDirectory(dir);
    }
  });

  it('needs a serving certificate', async () => {
    const { code, stderr } = await runProgram(['apiserver']);
    assert.equal(code, 2);
    assert.match(stderr, /^\S+ apiserver: --tls-cert-file or --cert-dir is needed\n$/);
  });
});

describe('the program', () => {
  it('tells its commands, their flags and its version', async () => {
    assert.match((await runProgram(['--help'])).stdout, /up .*\n.*apiserver /);
    const { code, stdout } = await runProgram(['up', '--help']);
    assert.deepEqual([code, /--data-dir DIR\n/.test(stdout), /--etcd-servers/.test(stdout)], [0, true, true]);
    assert.match((await runProgram(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
  });

  it('refuses an unknown command in one line, and none at all', async () => {
    for (const args of [['no-such-command'], ['toString'], []]) {
      const { code, stdout, stderr } = await runProgram(args);
      assert.deepEqual([code, stdout, stderr.split('\n').length], [2, '', 2]);
    }
  });
});
