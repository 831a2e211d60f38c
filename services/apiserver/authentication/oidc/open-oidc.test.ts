import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { refreshTokens } from '../../../client/credentials/oidc/refresh.js';
import { agentFor } from '../../../client/remote/agents.js';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { CLIENT, startOpenIdProvider, type OpenIdProvider } from '../../../client/testing/openid-provider.js';
import { parseFlags } from '../../../machinery/flags/flags.js';
import { AUTHENTICATION_FLAGS } from '../../options/authentication.js';
import { TestKey } from '../service-accounts/testing/tokens.js';
import { TokenRefused } from '../token-reviewer.js';
import type { Identity, TokenAuthenticator } from '../authenticator.js';
import { openOidc } from './open-oidc.js';
import { jwkOf, TestProvider } from './testing/provider.js';

/** Puts everything that is known of somebody into ID tokens. */
const GENEROUS = {
  conformIdTokenClaims: false,
  claims: { openid: ['sub', 'groups', 'email', 'email_verified'] },
  findAccount: (_: unknown, accountId: string) => ({
    accountId,
    claims: () => ({
      sub: accountId,
      groups: ['developers', 'testers'],
      email: `${accountId}@mail.example`,
      email_verified: accountId !== 'mallory',
    }),
  }),
};

describe('openOidc()', () => {
  let authority: TestAuthority;
  let provider: OpenIdProvider;
  let stop: AbortController;
  before(() => (authority = new TestAuthority('here')));
  after(() => authority.remove());
  beforeEach(async () => {
    stop = new AbortController();
    provider = await startOpenIdProvider(authority.issue('provider'), GENEROUS);
  });
  afterEach(async () => {
    stop.abort();
    await provider.close();
  });

  /** Resolves when the keys are there. */
  async function open(...flags: string[]): Promise<TokenAuthenticator> {
    const argv = [
      `--oidc-issuer-url=${provider.issuer}`,
      `--oidc-client-id=${CLIENT.id}`,
      `--oidc-ca-file=${join(authority.directory, 'ca.crt')}`,
      ...flags,
    ];
    const told = new EventTarget();
    const read = once(told, 'read', { signal: AbortSignal.timeout(10_000) });
    const log = { info: () => told.dispatchEvent(new Event('read')), warn: () => undefined };
    const { options } = parseFlags(AUTHENTICATION_FLAGS, argv);
    const tokens = openOidc(options, { log, signal: stop.signal, vocabulary: { serverName: 'test' } });
    await read;
    return tokens;
  }

  /** What the provider gives to whoever has logged in. */
  async function idToken(account: string): Promise<string> {
    const client = { issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret };
    const agent = agentFor({ authorities: authority.cert, serverName: undefined, insecure: false }, {});
    try {
      const token = await provider.refreshToken({ account });
      return (await refreshTokens(client, token, agent, AbortSignal.timeout(10_000))).idToken;
    } finally {
      agent.destroy();
    }
  }

  const ask = async (tokens: TokenAuthenticator, token: string): Promise<Identity | undefined> =>
    tokens.authenticateToken(token, ['here']);

  it('refuses a file that holds no authorities, and one that is not there', () => {
    const { options } = parseFlags(AUTHENTICATION_FLAGS, ['--oidc-issuer-url=https://issuer.example']);
    const parts = {
      log: { info: () => undefined, warn: () => undefined },
      signal: stop.signal,
      vocabulary: { serverName: 'test' },
    };
    for (const [file, message] of [
      [join(authority.directory, 'ca.key'), /Cannot use .*ca.key for the OpenID provider: holds no certificate$/],
      ['/nonexistent', /Cannot use \/nonexistent for the OpenID provider: ENOENT/],
    ] as const) {
      assert.throws(() => openOidc({ ...options, oidcCaFile: file }, parts), message);
    }
  });

  it('asks a provider that is not there yet until it is', async () => {
    const late = await TestProvider.start(authority.issue('provider'));
    await late.leave();
    const key = TestKey.rsa();
    late.keys = [jwkOf(key)];
    const told = new EventTarget();
    const [failed, read] = ['failed', 'read'].map((event) =>
      once(told, event, { signal: AbortSignal.timeout(10_000) }),
    );
    const log = {
      info: () => told.dispatchEvent(new Event('read')),
      warn: () => told.dispatchEvent(new Event('failed')),
    };
    const argv = [`--oidc-issuer-url=${late.issuer}`, '--oidc-client-id=us', `--oidc-ca-file=${join(authority.directory, 'ca.crt')}`]; // prettier-ignore
    const { options } = parseFlags(AUTHENTICATION_FLAGS, argv);
    const tokens = openOidc(options, { log, signal: stop.signal, vocabulary: { serverName: 'test' } });
    const token = await key.sign({ iss: late.issuer, aud: 'us', sub: 'jane', exp: Math.floor(Date.now() / 1000) + 60 });
    await failed;
    await assert.rejects(ask(tokens, token), /not initialised/);
    await late.comeBack();
    try {
      await read;
      assert.equal((await ask(tokens, token))?.user.name, `${late.issuer}#jane`);
    } finally {
      await late.leave();
    }
  });

  it('refuses a token for another client, changed, and of somebody whose email is not verified', async () => {
    const tokens = await open('--oidc-username-claim=email');
    const token = await idToken('jane');
    await assert.rejects(ask(tokens, await idToken('mallory')), /email is not verified/);
    await assert.rejects(ask(tokens, `${token.slice(0, -8)}AAAAAAAA`), /No key of the OpenID provider/);
    await assert.rejects(ask(await open('--oidc-client-id=others'), token), TokenRefused);
    await assert.rejects(ask(await open('--oidc-signing-algs=ES256'), token), /not allowed/);
    await assert.rejects(ask(await open('--oidc-required-claim=acr=gold'), token), /acr is not what it has to be/);
  });

  it('knows whoever has logged in', async () => {
    const token = await idToken('jane');
    const users = await Promise.all(
      [
        [],
        ['--oidc-username-claim=email', '--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:'],
        ['--oidc-username-prefix=-', '--oidc-required-claim=email=jane@mail.example'],
      ].map(async (flags) => (await ask(await open(...flags), token))?.user),
    );
    assert.deepEqual(users, [
      { name: `${provider.issuer}#jane`, uid: '', groups: [], extra: {} },
      { name: 'jane@mail.example', uid: '', groups: ['oidc:developers', 'oidc:testers'], extra: {} },
      { name: 'jane', uid: '', groups: [], extra: {} },
    ]);
  });

  it('asks the provider for its keys only', async () => {
    const tokens = await open();
    const [one, two] = [await idToken('jane'), await idToken('joe')];
    provider.asked.length = 0;
    for (const token of [one, two, one]) assert.ok(await ask(tokens, token));
    assert.deepEqual(provider.asked, []);
  });
});
