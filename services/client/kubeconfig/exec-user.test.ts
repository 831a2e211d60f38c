import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { TestAuthority } from '../testing/certificates.js';
import { TestPlugin, execCredential } from '../testing/plugin.js';
import { clientConfig } from './config.js';
import type { Connection } from './connection.js';
import { connectionOf } from './connection.js';

const V1 = 'client.authentication.platform.io/v1';
const V1BETA1 = 'client.authentication.platform.io/v1beta1';

describe('connectionOf() with a credential plugin', () => {
  let plugin: TestPlugin;
  beforeEach(() => {
    plugin = new TestPlugin('exit 9');
    plugin.prints(execCredential({ token: 'tok' }));
    plugin.becomes('echo "$PLATFORM_EXEC_INFO$KUBERNETES_EXEC_INFO" >"$DIR/info"; cat "$DIR/output"');
  });
  afterEach(() => plugin.remove());

  interface Given {
    readonly cluster?: object;
    readonly user?: object;
    readonly words?: VocabularyName;
    readonly interactive?: boolean;
  }
  const connect = (
    exec: object,
    { cluster, user, words = 'platform', interactive = false }: Given = {},
  ): Connection => {
    const config = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://there:6443', ...cluster } }],
      users: [{ name: 'u', user: { exec: { command: './plugin', ...exec }, ...user } }],
    };
    const o = { vocabulary: vocabulary(words), interactive, warn: () => undefined };
    return connectionOf(clientConfig(config, join(plugin.directory, 'file')), o);
  };
  async function info(connection: Connection): Promise<unknown> {
    await connection.credentials.current(AbortSignal.timeout(10_000));
    return JSON.parse(plugin.read('info'));
  }

  const REFUSED: readonly (readonly [string, object, string, Given?])[] = [
    [
      'of an unknown version',
      { apiVersion: 'client.authentication.platform.io/v1alpha1' },
      `exec.apiVersion: must be ${V1} or ${V1BETA1}`,
    ],
    [
      'of another vocabulary',
      { apiVersion: 'client.authentication.k8s.io/v1' },
      `exec.apiVersion: must be ${V1} or ${V1BETA1}`,
    ],
    [
      'that does not say whether it asks',
      { apiVersion: V1 },
      'exec.interactiveMode: must be one of Never, IfAvailable, Always',
    ],
    [
      'that asks in an unknown way',
      { apiVersion: V1BETA1, interactiveMode: 'never' },
      'exec.interactiveMode: must be one of Never, IfAvailable, Always',
    ],
    [
      'that has to ask where nobody is',
      { apiVersion: V1, interactiveMode: 'Always' },
      'exec.interactiveMode: is Always, and there is nobody here to ask',
    ],
    ['beside a token', { apiVersion: V1BETA1 }, 'has both token and exec', { user: { token: 's3cret' } }],
  ];
  for (const [what, exec, message, given] of REFUSED) {
    it(`refuses one ${what}`, () => {
      const place = `${plugin.directory}/file: users[0].user`;
      const separator = message.startsWith('exec.') ? '.' : ': ';
      assert.throws(() => connect(exec, given), {
        name: 'ClientConfigError',
        message: `${place}${separator}${message}`,
      });
    });
  }

  it('refuses to show what it gives to anybody', () => {
    assert.throws(() => connect({ apiVersion: V1BETA1 }, { cluster: { server: 'http://there' } }), /must be https/);
  });

  it('tells it what is wanted, without the cluster', async () => {
    const connection = connect({ apiVersion: V1, interactiveMode: 'IfAvailable' });
    assert.deepEqual(await info(connection), { kind: 'ExecCredential', apiVersion: V1, spec: { interactive: false } });
  });

  it('tells it of the cluster when it wants to know', async () => {
    const authority = new TestAuthority('here');
    authority.remove();
    const data = Buffer.from(authority.cert).toString('base64');
    const cluster = {
      'certificate-authority-data': data,
      'tls-server-name': 'name',
      'disable-compression': true,
      extensions: [
        { name: 'client.authentication.platform.io/exec', extension: { audience: 'a' } },
        { name: 'other', extension: 1 },
      ],
    };
    const connection = connect({ apiVersion: V1, interactiveMode: 'Never', provideClusterInfo: true }, { cluster });
    assert.deepEqual(await info(connection), {
      kind: 'ExecCredential',
      apiVersion: V1,
      spec: {
        cluster: {
          server: 'https://there:6443',
          'tls-server-name': 'name',
          'certificate-authority-data': data,
          'disable-compression': true,
          config: { audience: 'a' },
        },
        interactive: false,
      },
    });
  });

  it('speaks the words of its vocabulary', async () => {
    const apiVersion = 'client.authentication.k8s.io/v1beta1';
    plugin.prints({ ...execCredential({ token: 'tok' }), apiVersion });
    plugin.becomes('echo "$KUBERNETES_EXEC_INFO" >"$DIR/info"; cat "$DIR/output"');
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: [1] }];
    const connection = connect(
      { apiVersion, provideClusterInfo: true },
      { words: 'kubernetes', cluster: { extensions } },
    );
    const spec = { cluster: { server: 'https://there:6443', config: [1] }, interactive: false };
    assert.deepEqual(await info(connection), { kind: 'ExecCredential', apiVersion, spec });
  });

  it('lets it ask where somebody is, unless it never does', async () => {
    const spec = async (exec: object): Promise<unknown> =>
      ((await info(connect({ apiVersion: V1, ...exec }, { interactive: true }))) as { spec: unknown }).spec;
    assert.deepEqual(await spec({ interactiveMode: 'Always' }), { interactive: true });
    assert.deepEqual(await spec({ interactiveMode: 'IfAvailable' }), { interactive: true });
    assert.deepEqual(await spec({ interactiveMode: 'Never' }), { interactive: false });
  });
});
