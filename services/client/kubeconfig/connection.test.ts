import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Credential } from '../credentials/credential.js';
import type { KeyPair } from '../testing/certificates.js';
import { TestAuthority } from '../testing/certificates.js';
import { clientConfig } from './config.js';
import type { Connection } from './connection.js';
import { connectionOf } from './connection.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('connectionOf()', () => {
  let authority: TestAuthority;
  let pair: KeyPair;
  let other: KeyPair;
  before(() => {
    authority = new TestAuthority('here');
    pair = authority.issue('me');
    other = authority.issue('other');
    writeFileSync(join(authority.directory, 'empty'), '\n');
    writeFileSync(join(authority.directory, 'token'), 'from-file\n');
    writeFileSync(join(authority.directory, 'me.crt'), pair.cert);
    writeFileSync(join(authority.directory, 'me.key'), pair.key);
  });
  after(() => authority.remove());

  const connect = (cluster: object, user: object | undefined, more: object = {}): Connection =>
    connectionOf(
      clientConfig(
        {
          'current-context': 'x',
          contexts: [
            { name: 'x', context: { cluster: 'c', ...(user === undefined ? {} : { user: 'u' }), namespace: 'n' } },
          ],
          clusters: [{ name: 'c', cluster: { server: 'https://there:6443', ...cluster } }],
          users: [{ name: 'u', user }],
          ...more,
        },
        join(authority.directory, 'file'),
      ),
      { vocabulary: vocabulary('platform'), interactive: false, warn: () => undefined },
    );
  const credential = ({ credentials }: Connection): Promise<Credential> =>
    credentials.current(AbortSignal.timeout(5000));

  const SECRET = 's3cret';
  const REFUSED: readonly (readonly [string, () => [object, object | undefined, object?], string])[] = [
    ['without a context', () => [{}, {}, { 'current-context': '' }], 'file: current-context: is required'],
    ['of an unknown context', () => [{}, {}, { 'current-context': 'y' }], 'file: contexts: has none of the name "y"'],
    [
      'to an unknown cluster',
      () => [{}, {}, { clusters: [] }],
      'file: contexts[0].context.cluster: names no cluster of this file',
    ],
    ['of an unknown user', () => [{}, {}, { users: [] }], 'file: contexts[0].context.user: names no user of this file'],
    ['to nowhere', () => [{ server: '' }, {}], 'file: clusters[0].cluster.server: is required'],
    ['to what is no URL', () => [{ server: 'there:x' }, {}], 'file: clusters[0].cluster.server: must be an https URL'],
    ['to what is no URL at all', () => [{ server: '//s3cret' }, {}], 'file: clusters[0].cluster.server: must be a URL'],
    [
      'of another protocol',
      () => [{ server: 'ftp://a' }, {}],
      'file: clusters[0].cluster.server: must be an https URL',
    ],
    [
      'with a password in the URL',
      () => [{ server: `https://a:${SECRET}@b` }, {}],
      'file: clusters[0].cluster.server: must not hold a user name or a password',
    ],
    [
      'with a name in the URL',
      () => [{ server: 'https://a@b' }, {}],
      'file: clusters[0].cluster.server: must not hold a user name or a password',
    ],
    [
      'that shows a token to anybody',
      () => [{ server: 'http://a' }, { token: SECRET }],
      'file: clusters[0].cluster.server: must be https, for the user has credentials',
    ],
    [
      'through a proxy',
      () => [{ 'proxy-url': `http://a:${SECRET}@b` }, {}],
      'file: clusters[0].cluster.proxy-url: is not supported',
    ],
    [
      'with authorities that are no Base64',
      () => [{ 'certificate-authority-data': '-' }, {}],
      'file: clusters[0].cluster.certificate-authority-data: must be Base64',
    ],
    [
      'with no authority',
      () => [{ 'certificate-authority-data': base64('x') }, {}],
      'file: holds no certificate in PEM',
    ],
    [
      'with a broken authority',
      () => [{ 'certificate-authority-data': base64(`${authority.cert}${authority.cert.replace(/M/g, 'N')}`) }, {}],
      'file: certificate 2 cannot be read',
    ],
    ['with a missing authority', () => [{ 'certificate-authority': 'none' }, {}], 'none: does not exist'],
    [
      'that trusts some, and everybody',
      () => [{ 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(authority.cert) }, {}],
      'file: clusters[0].cluster.insecure-skip-tls-verify: cannot be true where authorities are given',
    ],
    [
      'of two kinds of credentials',
      () => [{}, { token: SECRET, username: 'a' }],
      'file: users[0].user: has both token and username',
    ],
    [
      'with a token that no header holds',
      () => [{}, { token: `${SECRET}\n` }],
      'file: users[0].user.token: is no usable token',
    ],
    ['with a token file that is missing', () => [{}, { tokenFile: 'none' }], 'none: does not exist'],
    ['with a token file that is empty', () => [{}, { tokenFile: 'empty' }], 'empty: holds no usable token'],
    [
      'with a password of nobody',
      () => [{}, { password: SECRET }],
      'file: users[0].user.username: is required where password is set',
    ],
    [
      'with a name that the header would cut',
      () => [{}, { username: 'a:b' }],
      'file: users[0].user.username: must not hold a colon',
    ],
    [
      'with a certificate without key',
      () => [{}, { 'client-certificate-data': base64(pair.cert) }],
      'file: users[0].user.client-key: is required beside client-certificate',
    ],
    [
      'with a key without certificate',
      () => [{}, { 'client-key-data': base64(pair.key) }],
      'file: users[0].user.client-certificate: is required beside client-key',
    ],
    [
      "with somebody else's key",
      () => [{}, { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(other.key) }],
      "file: the private key is not the certificate's",
    ],
    [
      'with a broken key',
      () => [{}, { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(SECRET) }],
      'file: the private key cannot be read',
    ],
    [
      'in the name of groups of nobody',
      () => [{}, { 'as-groups': ['a'] }],
      'file: users[0].user.as: is required where as-uid, as-groups or as-user-extra is set',
    ],
  ];
  for (const [what, make, message] of REFUSED) {
    it(`refuses a connection ${what}`, () => {
      const [cluster, user, more] = make();
      assert.throws(
        () => connect(cluster, user, more),
        (err: Error) => {
          assert.equal(err.message, `${authority.directory}/${message}`);
          assert.ok(!`${err.stack ?? ''} ${String(err.cause)}`.includes(SECRET));
          return true;
        },
      );
    });
  }

  it('leads to the server of the context, and trusts the authorities of the file only', () => {
    const c = connect({ 'certificate-authority-data': base64(authority.cert), 'tls-server-name': 'name' }, undefined);
    assert.equal(c.server.href, 'https://there:6443/');
    assert.deepEqual(c.tls, { authorities: authority.cert, serverName: 'name', insecure: false });
    assert.equal(c.namespace, 'n');
  });

  it('trusts the authorities of the machine where the file has none', () => {
    const previous = process.env['SSL_CERT_FILE'];
    process.env['SSL_CERT_FILE'] = join(authority.directory, 'ca.crt');
    try {
      assert.equal(connect({}, undefined).tls.authorities, authority.cert);
    } finally {
      if (previous === undefined) delete process.env['SSL_CERT_FILE'];
      else process.env['SSL_CERT_FILE'] = previous;
    }
  });

  it('prefers what is in the file itself', () => {
    const both = { 'certificate-authority-data': base64(authority.cert), 'certificate-authority': 'none' };
    assert.equal(connect(both, undefined).tls.authorities, authority.cert);
  });

  it('shows nothing where the context has no user', async () => {
    assert.deepEqual(await credential(connect({}, undefined)), { headers: {}, certificateVersion: 0 });
  });

  it('shows a token, that of the file first', async () => {
    assert.deepEqual((await credential(connect({}, { token: 'tok' }))).headers, { authorization: 'Bearer tok' });
    const both = { token: 'tok', tokenFile: 'token' };
    assert.deepEqual((await credential(connect({}, both))).headers, { authorization: 'Bearer from-file' });
  });

  it('shows a name and a password', async () => {
    const { headers } = await credential(connect({}, { username: 'ä', password: 'b:c' }));
    assert.deepEqual(headers, { authorization: `Basic ${base64('ä:b:c')}` });
  });

  for (const [what, user] of [
    ['of files', () => ({ 'client-certificate': 'me.crt', 'client-key': 'me.key', token: 'tok' })],
    [
      'in the file',
      () => ({ 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(pair.key), token: 'tok' }),
    ],
    ['of both kinds', () => ({ 'client-certificate-data': base64(pair.cert), 'client-key': 'me.key', token: 'tok' })],
  ] as const) {
    it(`shows a certificate ${what} beside a token`, async () => {
      const { cert, key, headers } = await credential(connect({}, user()));
      assert.deepEqual({ cert, key, headers }, { ...pair, headers: { authorization: 'Bearer tok' } });
    });
  }

  it('follows certificate files, in pairs only', async () => {
    const [certFile, keyFile] = ['r.crt', 'r.key'].map((name) => join(authority.directory, name)) as [string, string];
    writeFileSync(certFile, pair.cert);
    writeFileSync(keyFile, pair.key);
    const c = connect({}, { 'client-certificate': certFile, 'client-key': keyFile });
    const first = await credential(c);
    writeFileSync(certFile, other.cert);
    assert.equal(c.credentials.refused(first), true); // looks at once
    assert.equal((await credential(c)).cert, pair.cert);
    writeFileSync(keyFile, other.key);
    c.credentials.refused(first);
    const second = await credential(c);
    assert.deepEqual([second.cert, second.key], [other.cert, other.key]);
    assert.notEqual(second.certificateVersion, first.certificateVersion);
  });

  it('acts as somebody else with headers', () => {
    const user = { as: 'jane', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'x.y/Z%': ['1', '2'] } };
    assert.deepEqual(connect({}, user).impersonation, {
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-x.y%2FZ%25': ['1', '2'],
    });
  });

  for (const user of [
    { as: ' jane' },
    { as: 'jane\n' },
    { as: 'ja\0ne' },
    { as: 'jane', 'as-uid': '7 ' },
    { as: 'jane', 'as-groups': ['a', '\tb'] },
    { as: 'jane', 'as-user-extra': { x: ['\x7f'] } },
  ]) {
    it(`refuses ${JSON.stringify(user)}, which would arrive as something else`, () => {
      assert.throws(() => connect({}, user), /holds what no header can/);
    });
  }

  it('names others in UTF-8', () => {
    const user = { as: 'Kārlis', 'as-groups': ['王'] };
    assert.deepEqual(connect({}, user).impersonation, {
      'impersonate-user': Buffer.from('Kārlis').toString('latin1'),
      'impersonate-group': [Buffer.from('王').toString('latin1')],
    });
  });
});
