import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { idTokenClaims } from '../credentials/oidc/id-token.js';
import { TestAuthority } from '../testing/certificates.js';
import type { OpenIdProvider } from '../testing/openid-provider.js';
import { CLIENT, startOpenIdProvider } from '../testing/openid-provider.js';
import { readClientConfig } from './config.js';
import type { Connection } from './connection.js';
import { connectionOf } from './connection.js';

describe('connectionOf() with an OpenID provider', () => {
  let authority: TestAuthority;
  let provider: OpenIdProvider;
  let file: string;
  let warnings: object[] = [];
  before(async () => {
    authority = new TestAuthority('here');
    file = join(authority.directory, 'config');
    provider = await startOpenIdProvider(authority.issue('server'));
  });
  after(async () => {
    await provider.close();
    authority.remove();
  });
  beforeEach(() => (warnings = []));

  const text = (settings: object, name = 'oidc'): string => `# keep this
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://there"}}]
users:
- name: u
  user:
    auth-provider:
      name: ${name}
      config: ${JSON.stringify(settings)}
`;
  const settings = (more: object = {}): object => ({
    'idp-issuer-url': provider.issuer,
    'client-id': CLIENT.id,
    'client-secret': CLIENT.secret,
    'idp-certificate-authority': 'ca.crt',
    ...more,
  });
  const connect = (path = file): Connection =>
    connectionOf(readClientConfig(path), {
      vocabulary: vocabulary('platform'),
      interactive: false,
      warn: (message, keys) => void warnings.push({ message, ...keys }),
    });
  async function idToken({ credentials }: Connection): Promise<string> {
    const { headers } = await credentials.current(AbortSignal.timeout(10_000));
    return headers['authorization']?.replace('Bearer ', '') ?? '';
  }
  const storedSettings = (): ReadonlyMap<string, string> =>
    readClientConfig(file).users.get('u')?.authProvider?.config ?? new Map<string, string>();

  const REFUSED: readonly (readonly [string, () => object, string, string?])[] = [
    ['of another kind', () => settings(), 'name: must be oidc: no other auth provider is known', 'gcp'],
    ['without issuer', () => settings({ 'idp-issuer-url': null }), 'config.idp-issuer-url: is required'],
    ['without client', () => settings({ 'client-id': '' }), 'config.client-id: is required'],
    ['that is no URL', () => settings({ 'idp-issuer-url': 'a' }), 'config.idp-issuer-url: must be a URL'],
    ['in the clear', () => settings({ 'idp-issuer-url': 'http://a' }), 'config.idp-issuer-url: must be an https URL'],
    [
      'with a password',
      () => settings({ 'idp-issuer-url': 'https://a:b@c' }),
      'config.idp-issuer-url: must not hold a user name or a password',
    ],
    [
      'with a query',
      () => settings({ 'idp-issuer-url': 'https://a?b' }),
      'config.idp-issuer-url: must not hold a query or a fragment',
    ],
    ['with settings that are no text', () => settings({ 'id-token': 1 }), 'config.id-token: must be a string'],
    [
      'with a broken authority',
      () => settings({ 'idp-certificate-authority-data': '*' }),
      'config.idp-certificate-authority-data: must be Base64',
    ],
  ];
  for (const [what, given, message, name] of REFUSED) {
    it(`refuses a provider ${what}`, () => {
      writeFileSync(file, text(given(), name));
      assert.throws(() => connect(), {
        name: 'ClientConfigError',
        message: `${file}: users[0].user.auth-provider.${message}`,
      });
    });
  }
  it('refuses a provider whose authority is missing', () => {
    writeFileSync(file, text(settings({ 'idp-certificate-authority': 'none.crt' })));
    assert.throws(() => connect(), { message: `${authority.directory}/none.crt: does not exist` });
  });

  it('refreshes the ID token and stores what came in the file, for its owner only', async () => {
    const refreshToken = await provider.refreshToken();
    const before = text(settings({ 'refresh-token': refreshToken }));
    writeFileSync(file, before);
    await chmod(file, 0o644);
    const token = await idToken(connect());
    assert.equal(idTokenClaims(token)?.subject, 'jane');
    assert.equal(storedSettings().get('id-token'), token);
    const now = readFileSync(file, 'utf8');
    const rest = now
      .replace(`"id-token": "${token}", `, '')
      .replace(storedSettings().get('refresh-token') ?? '', refreshToken);
    assert.equal(rest, before);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(
      readdirSync(authority.directory).filter((name) => /lock|^\./.test(name)),
      [],
    );
    assert.deepEqual(warnings, []);
  });

  it('needs no provider in the next process, and goes on from there', async () => {
    writeFileSync(file, text(settings({ 'refresh-token': await provider.refreshToken() })));
    const first = connect();
    const second = connect();
    const token = await idToken(first);
    provider.asked.length = 0;
    assert.equal(await idToken(connect()), token);
    assert.equal(await idToken(second), token); // it has the used refresh token, and reads the file again
    assert.deepEqual(provider.asked, []);
  });

  it('takes no tokens of another client from the file', async () => {
    writeFileSync(file, text(settings({ 'refresh-token': await provider.refreshToken() })));
    const connection = connect();
    const others = 'e30.eyJpc3MiOiJhIiwic3ViIjoiYSIsImV4cCI6OTk5OTk5OTk5OX0.x';
    writeFileSync(file, text(settings({ 'client-id': 'other', 'id-token': others, 'refresh-token': 'others' })));
    assert.equal(idTokenClaims(await idToken(connection))?.issuer, provider.issuer);
  });

  it('follows a link to the file, and leaves the link', async () => {
    const link = join(authority.directory, 'link');
    symlinkSync(file, link);
    writeFileSync(file, text(settings({ 'refresh-token': await provider.refreshToken() })));
    const token = await idToken(connect(link));
    assert.equal(storedSettings().get('id-token'), token);
    assert.equal(readFileSync(link, 'utf8'), readFileSync(file, 'utf8'));
  });

  it('waits for a lock, and leaves it to who has it', async () => {
    const lock = `${file}.lock`;
    const before = text(settings({ 'refresh-token': await provider.refreshToken() }));
    writeFileSync(file, before);
    writeFileSync(lock, '');
    assert.ok(await idToken(connect()));
    assert.equal(readFileSync(file, 'utf8'), before);
    assert.equal(existsSync(lock), true);
    const [{ message, err } = assert.fail()] = warnings as { message: string; err: Error }[];
    assert.match(message, /^Refreshed credentials cannot be stored/);
    assert.equal(err.message, `${file}: is locked by ${lock}`);
    await rm(lock);
  }).timeout(5000);
});
