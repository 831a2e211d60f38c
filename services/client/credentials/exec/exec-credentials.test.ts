import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPair } from '../../testing/certificates.js';
import { TestAuthority } from '../../testing/certificates.js';
import { TestPlugin, execCredential } from '../../testing/plugin.js';
import { CredentialError } from '../credential.js';
import type { ExecPlugin } from './exec-credentials.js';
import { ExecCredentials } from './exec-credentials.js';

const SECRET = 's3cret-token';

describe('ExecCredentials', () => {
  let authority: TestAuthority;
  let pair: KeyPair;
  let other: KeyPair;
  let plugin: TestPlugin;
  let signal: AbortSignal;
  before(() => {
    authority = new TestAuthority('here');
    pair = authority.issue('me');
    other = authority.issue('other');
  });
  after(() => authority.remove());
  beforeEach(() => {
    plugin = new TestPlugin('exit 9');
    signal = AbortSignal.timeout(20_000);
  });
  afterEach(() => plugin.remove());

  const open = (o: Partial<ExecPlugin> = {}): ExecCredentials =>
    new ExecCredentials({
      command: './plugin',
      directory: plugin.directory,
      args: ['get', 'token'],
      env: {},
      apiVersion: 'client.authentication.platform.io/v1',
      info: { variable: 'PLATFORM_EXEC_INFO', value: '{}' },
      isInteractive: false,
      installHint: '',
      ...o,
    });

  async function failure(credentials: ExecCredentials): Promise<string> {
    const err: unknown = await credentials.current(signal).then(
      () => assert.fail('gave a credential'),
      (e: unknown) => e,
    );
    assert.ok(err instanceof CredentialError, String(err));
    assert.ok(!`${err.stack ?? ''} ${String(err.cause)}`.includes(SECRET), err.stack);
    assert.ok(!err.message.includes('\n'));
    return err.message.replace(/^credential plugin ".*?": /, '');
  }

  const token = (more: object = {}): object => execCredential({ token: SECRET, ...more });
  const REFUSED: readonly (readonly [string, () => unknown, string])[] = [
    ['nothing', () => '', 'printed no JSON'],
    ['garbage', () => SECRET, 'printed no JSON'],
    ['half of it', () => JSON.stringify(token()).slice(0, -1), 'printed no JSON'],
    ['JSON that nests deep', () => '['.repeat(9999), 'printed no JSON'],
    ['a list', () => [token()], 'printed no ExecCredential'],
    ['another kind', () => ({ ...token(), kind: SECRET }), 'printed no ExecCredential'],
    [
      'another version',
      () => ({ ...token(), apiVersion: 'client.authentication.platform.io/v1beta1' }),
      'printed another apiVersion than client.authentication.platform.io/v1',
    ],
    ['no status', () => execCredential({}, { status: undefined }), 'printed an ExecCredential without status'],
    ['neither token nor certificate', () => execCredential({}), 'printed neither a token nor a certificate'],
    [
      'an inherited token',
      () => JSON.stringify(execCredential({})).replace('{}', '{"__proto__":{"token":"a"}}'),
      'printed neither a token nor a certificate',
    ],
    [
      'a certificate without key',
      () => execCredential({ token: SECRET, clientCertificateData: pair.cert }),
      'printed a certificate without key',
    ],
    [
      'a key without certificate',
      () => execCredential({ clientKeyData: pair.key }),
      'printed a key without certificate',
    ],
    [
      'a key of another certificate',
      () => execCredential({ clientCertificateData: pair.cert, clientKeyData: other.key }),
      "printed a certificate that cannot be used: the private key is not the certificate's",
    ],
    [
      'a broken key',
      () => execCredential({ clientCertificateData: pair.cert, clientKeyData: SECRET }),
      'printed a certificate that cannot be used: the private key cannot be read',
    ],
    [
      'a broken certificate',
      () => execCredential({ clientCertificateData: SECRET, clientKeyData: pair.key }),
      'printed a certificate that cannot be used: holds no certificate in PEM',
    ],
    ['a token that is no string', () => execCredential({ token: 1 }), 'printed status.token that is no string'],
    [
      'a token of two lines',
      () => execCredential({ token: `${SECRET}\nx: y` }),
      'printed a token that no header can hold',
    ],
    [
      'an expiry that is no time',
      () => token({ expirationTimestamp: 'tomorrow' }),
      'printed status.expirationTimestamp that is no time',
    ],
  ];
  for (const [what, output, message] of REFUSED) {
    it(`fails when the plugin prints ${what}`, async () => {
      plugin.prints(output());
      assert.equal(await failure(open()), message);
    });
  }

  const FAILURES: readonly (readonly [string, string, string, Partial<ExecPlugin>?])[] = [
    ['fails', `echo '${SECRET}'; echo "no\nnetwork" >&2; exit 3`, 'exited with 3: no network'],
    ['fails in silence', 'exit 1', 'exited with 1'],
    ['ends itself', 'kill -TERM $$', 'was ended by SIGTERM'],
    [
      'complains of its secrets',
      'echo "$PASSWORD $(printf %050d 7)" >&2; exit 1',
      'exited with 1: *** ***',
      { env: { PASSWORD: SECRET } },
    ],
    [
      'complains at length',
      'yes complaint | head -c 9999999 >&2; exit 1',
      `exited with 1: ${`${'complaint '.repeat(103)}complaint`.slice(-1024)}`,
    ],
    ['prints too much', 'yes | head -c 9999999', 'printed more than 1048576 bytes'],
    ['prints without end', 'yes', 'printed more than 1048576 bytes'],
    ['hangs', 'sleep 60', 'did not end within 150 ms', { timeoutMs: 150 }],
    [
      'leaves somebody behind who holds its output',
      'sleep 60 & exit 0',
      'did not end within 150 ms',
      { timeoutMs: 150 },
    ],
    [
      'is not there',
      '',
      'there is no such program that can be run: brew install it',
      { command: './none', installHint: ' brew\n install it\n' },
    ],
    [
      'is not there, and nobody says where it is',
      '',
      'there is no such program that can be run',
      { command: 'no-such-plugin-here' },
    ],
    ['is a directory', '', 'there is no such program that can be run', { command: '/' }],
    ['cannot be given its variables', '', 'cannot be run (ERR_INVALID_ARG_VALUE)', { env: { A: `${SECRET}\0` } }],
  ];
  for (const [what, script, message, o] of FAILURES) {
    it(`fails when the plugin ${what}`, async () => {
      plugin.becomes(script);
      assert.equal(await failure(open(o)), message);
    });
  }

  it('fails when the plugin is no program, or has no interpreter', async () => {
    plugin.becomes('');
    execFileSync('chmod', ['a-x', plugin.path]);
    if (process.getuid?.() !== 0) assert.equal(await failure(open()), 'there is no such program that can be run');
    execFileSync('sh', ['-c', `echo '#!/no/such' > ${plugin.path}; chmod +x ${plugin.path}`]);
    assert.equal(await failure(open()), 'cannot be run (ENOENT)');
  });

  it('gives a token, with the arguments and variables of the configuration', async () => {
    plugin.prints(token());
    plugin.becomes('echo "$PLATFORM_EXEC_INFO $ADDED $HOME" >"$DIR/env"; cat "$DIR/output"');
    const credential = await open({ env: { ADDED: 'value' } }).current(signal);
    assert.deepEqual(credential, { headers: { authorization: `Bearer ${SECRET}` }, certificateVersion: 0 });
    assert.deepEqual(plugin.runs, ['get token']);
    assert.equal(plugin.read('env'), `{} value ${process.env['HOME'] ?? ''}\n`);
  });

  it('gives a certificate with its intermediates, and a token beside it', async () => {
    const chain = `${pair.cert}${authority.cert}`;
    plugin.prints(execCredential({ token: SECRET, clientCertificateData: chain, clientKeyData: pair.key }));
    const { cert, key, headers } = await open().current(signal);
    assert.deepEqual([cert, key, headers['authorization']], [chain, pair.key, `Bearer ${SECRET}`]);
  });

  it('finds a bare name in PATH, in its absolute directories only', async () => {
    plugin.prints(token());
    const previous = process.env['PATH'] ?? '';
    const here = process.cwd();
    try {
      process.env['PATH'] = `${plugin.directory}:${previous}`;
      await open({ command: basename(plugin.path) }).current(signal);
      process.chdir(plugin.directory);
      process.env['PATH'] = `.::${previous}`;
      const failed = await failure(open({ command: basename(plugin.path), directory: plugin.directory }));
      assert.equal(failed, 'there is no such program that can be run');
    } finally {
      process.chdir(here);
      process.env['PATH'] = previous;
    }
  });

  it('runs once for all who ask, and keeps what does not expire', async () => {
    plugin.prints(token());
    const credentials = open();
    await Promise.all([1, 2, 3].map(() => credentials.current(signal)));
    await credentials.current(signal);
    assert.equal(plugin.runs.length, 1);
  });

  it('runs again after the expiry, and not before', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z');
    const credentials = open({ now: () => now });
    plugin.prints(token({ expirationTimestamp: '2030-01-01T01:00:10+01:00' }));
    await credentials.current(signal);
    now += 9_999;
    await credentials.current(signal);
    assert.equal(plugin.runs.length, 1);
    now += 1;
    await credentials.current(signal);
    assert.equal(plugin.runs.length, 2);
  });

  it('runs each time when what it gives has expired already', async () => {
    const credentials = open();
    plugin.prints(token({ expirationTimestamp: '2001-01-01T00:00:00Z' }));
    await credentials.current(signal);
    await credentials.current(signal);
    assert.equal(plugin.runs.length, 2);
  });

  it('runs again when a server does not know what it gave, and once for several such answers', async () => {
    const credentials = open();
    plugin.prints(token());
    const first = await credentials.current(signal);
    assert.equal(credentials.refused(first), true);
    const second = await credentials.current(signal);
    assert.equal(credentials.refused(first), true);
    assert.equal(await credentials.current(signal), second);
    assert.equal(plugin.runs.length, 2);
  });

  it('runs again after a failure', async () => {
    const credentials = open();
    assert.equal(await failure(credentials), 'exited with 9');
    plugin.prints(token());
    await credentials.current(signal);
    assert.equal(plugin.runs.length, 2);
  });

  it('tells a changed certificate from the same one', async () => {
    const credentials = open();
    const versions: number[] = [];
    for (const { cert, key } of [pair, pair, other]) {
      plugin.prints(execCredential({ clientCertificateData: cert, clientKeyData: key }));
      const credential = await credentials.current(signal);
      credentials.refused(credential);
      versions.push(credential.certificateVersion);
    }
    assert.equal(versions[0], versions[1]);
    assert.ok(versions[2]! > versions[1]!);
  });

  describe('when who asks leaves', () => {
    const reason = new Error('enough');
    const begun = async (): Promise<void> => {
      while (plugin.runs.length === 0) await pause(5); // the run itself is what is waited for
    };
    /** What has ended may stay in the table until its parent asks for it. */
    const alive = (pid: string): boolean => {
      const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' });
      return !['', 'Z'].includes(stdout.trim().slice(0, 1));
    };

    it('kills the plugin with all that it has started', async () => {
      plugin.becomes('sleep 60 & echo $! >"$DIR/new"; mv "$DIR/new" "$DIR/child"; wait');
      const controller = new AbortController();
      const asked = open().current(controller.signal);
      asked.catch(() => undefined);
      while (!existsSync(`${plugin.directory}/child`)) await pause(5); // the test's own time is the bound
      const child = plugin.read('child').trim();
      assert.equal(alive(child), true);
      controller.abort(reason);
      await assert.rejects(asked, reason);
      while (alive(child)) await pause(5);
    });

    it('goes on for those who stay', async () => {
      execFileSync('mkfifo', [`${plugin.directory}/gate`]);
      plugin.prints(token());
      plugin.becomes('read line <"$DIR/gate"; cat "$DIR/output"');
      const controller = new AbortController();
      const credentials = open();
      const [leaves, stays] = [credentials.current(controller.signal), credentials.current(signal)];
      controller.abort(reason);
      await assert.rejects(leaves, reason);
      await writeFile(`${plugin.directory}/gate`, 'go\n'); // waits for the plugin to read it
      assert.equal((await stays).headers['authorization'], `Bearer ${SECRET}`);
      assert.equal(plugin.runs.length, 1);
    });

    it('starts nothing for who has left already', async () => {
      await assert.rejects(open().current(AbortSignal.abort(reason)), reason);
      assert.deepEqual(plugin.runs, []);
    });

    it('ends with the connection', async () => {
      plugin.becomes('sleep 60');
      const credentials = open();
      const failed = failure(credentials);
      await begun();
      credentials.close();
      assert.equal(await failed, 'The connection is closed');
    });
  });
});
