import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientConfig, readClientConfig } from './config.js';
import { ClientConfigError } from './member.js';

describe('readClientConfig()', () => {
  let directory: string;
  let file: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'client-config-'));
    file = join(directory, 'config');
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const refusal = (text: string | Buffer): string => {
    writeFileSync(file, text);
    try {
      readClientConfig(file);
    } catch (err) {
      assert.ok(err instanceof ClientConfigError, String(err));
      assert.ok(err.message.startsWith(`${file}: `), err.message);
      assert.ok(!err.message.includes('\n'), err.message);
      assert.ok(!/s3cret/.test(`${err.stack ?? ''} ${String(err.cause)}`), err.message);
      return err.message.slice(file.length + 2);
    }
    return assert.fail('was read');
  };

  const aliases = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`);
  const REFUSED: readonly (readonly [string, string | Buffer, string])[] = [
    ['that is empty', '', 'is empty'],
    ['that is a text', 's3cret', 'must be an object'],
    ['that is a list', '[s3cret]', 'must be an object'],
    ['of another kind', 'kind: Pod', 'kind: must be Config'],
    ['of another version', 'apiVersion: v2', 'apiVersion: must be v1'],
    ['that is no YAML', 'users:\n- user: {token: s3cret', 'line 2 is no YAML (BAD_INDENT)'],
    ['that is no JSON', '{"users": [{"token": s3cret"}', 'line 1 is no YAML (BAD_INDENT)'],
    [
      'with an unknown alias',
      'users: *s3cret',
      'holds aliases, keys, values or a depth that a configuration file cannot have',
    ],
    [
      'that stands for more than it says',
      `a0: &a0 [1,1,1]\n${aliases.join('\n')}`,
      'holds aliases, keys, values or a depth that a configuration file cannot have',
    ],
    [
      'that nests too deep',
      '['.repeat(200) + ']'.repeat(200),
      'holds aliases, keys, values or a depth that a configuration file cannot have',
    ],
    ['with tags', 'a: !!js/function s3cret', 'line 1 is no YAML (TAG_RESOLVE_FAILED)'],
    ['with a member that is there twice', 'users: []\nusers: []', 'users: is there twice'],
    ['that is no text', Buffer.from([0x61, 0xff]), 'is no text in UTF-8'],
    ['that is too long', `# ${'x'.repeat(1024 * 1024)}`, 'is longer than 1048576 bytes'],
    ['whose users are no list', 'users: s3cret', 'users: must be a list'],
    ['with a user without a name', 'users: [{user: {token: s3cret}}]', 'users[0].name: is required'],
    ['with two users of one name', 'users: [{name: a}, {name: a}]', 'users[1].name: is the name of another one too'],
    [
      'with two clusters of one name',
      'clusters: [{name: a}, {name: a}]',
      'clusters[1].name: is the name of another one too',
    ],
    ['with a token that is a number', 'users: [{name: a, user: {token: 12}}]', 'users[0].user.token: must be a string'],
    [
      'with groups that are no list',
      'users: [{name: a, user: {as-groups: s3cret}}]',
      'users[0].user.as-groups: must be a list',
    ],
    [
      'with a group that is null',
      'users: [{name: a, user: {as-groups: [null]}}]',
      'users[0].user.as-groups[0]: must be a string',
    ],
    [
      'with a plugin without command',
      'users: [{name: a, user: {exec: {apiVersion: x}}}]',
      'users[0].user.exec.command: is required',
    ],
    [
      'with a plugin without version',
      'users: [{name: a, user: {exec: {command: x}}}]',
      'users[0].user.exec.apiVersion: is required',
    ],
    [
      'with a switch that is a text',
      'clusters: [{name: a, cluster: {insecure-skip-tls-verify: "true"}}]',
      'clusters[0].cluster.insecure-skip-tls-verify: must be true or false',
    ],
  ];
  for (const [what, text, message] of REFUSED) it(`refuses a file ${what}`, () => assert.equal(refusal(text), message));

  it('refuses a file that is not there', () => {
    assert.throws(
      () => readClientConfig(join(directory, 'none')),
      new ClientConfigError(`${directory}/none: does not exist`),
    );
    assert.throws(() => readClientConfig(directory), new ClientConfigError(`${directory}: is a directory`));
  });

  it('takes paths as relative to the file', () => {
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: 'https://a', 'certificate-authority': 'pki/ca.crt' } }],
        users: [
          { name: 'u', user: { 'client-certificate': './u.crt', 'client-key': '/abs/u.key', tokenFile: '../t' } },
        ],
      }),
    );
    const { clusters, users } = readClientConfig(file);
    assert.equal(clusters.get('c')?.authority.file, join(directory, 'pki/ca.crt'));
    assert.equal(users.get('u')?.certificate.file, join(directory, 'u.crt'));
    assert.equal(users.get('u')?.key.file, '/abs/u.key');
    assert.equal(users.get('u')?.tokenFile, join(tmpdir(), 't'));
  });

  it('takes a member of any name for what it is', () => {
    const text =
      '{"users": [{"name": "__proto__", "user": {"__proto__": {"token": "x"}, "as-user-extra": {"__proto__": ["y"]}}}]}';
    const user = clientConfig(JSON.parse(text), 'f').users.get('__proto__');
    assert.equal(user?.token, '');
    assert.deepEqual([...user.asExtra], [['__proto__', ['y']]]);
  });

  it('reads what a user and a cluster can have', () => {
    const config = clientConfig(
      {
        'current-context': 'x',
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
        clusters: [
          { name: 'c', cluster: { 'tls-server-name': 's', extensions: [{ name: 'e', extension: { a: 1 } }] } },
        ],
        users: [
          {
            name: 'u',
            user: {
              'auth-provider': { name: 'oidc', config: { 'client-id': 'i' } },
              exec: {
                command: 'c',
                apiVersion: 'v',
                args: ['-a'],
                env: [{ name: 'N', value: 'V' }],
                provideClusterInfo: true,
              },
            },
          },
        ],
      },
      'f',
    );
    assert.equal(config.currentContext, 'x');
    assert.equal(config.contexts.get('x')?.namespace, 'n');
    assert.deepEqual(config.clusters.get('c')?.extensions.get('e'), { a: 1 });
    const user = config.users.get('u');
    assert.deepEqual([...(user?.authProvider?.config ?? [])], [['client-id', 'i']]);
    assert.deepEqual(user?.exec?.env, [{ name: 'N', value: 'V' }]);
    assert.equal(user.exec.provideClusterInfo, true);
  });
});
