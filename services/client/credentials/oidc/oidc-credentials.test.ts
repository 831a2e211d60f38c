import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyPair } from '../../testing/certificates.js';
import { TestAuthority } from '../../testing/certificates.js';
import type { OpenIdProvider } from '../../testing/openid-provider.js';
import { CLIENT, startOpenIdProvider } from '../../testing/openid-provider.js';
import { CredentialError } from '../credential.js';
import { idTokenClaims } from './id-token.js';
import type { OidcOptions, OidcTokens } from './oidc-credentials.js';
import { OidcCredentials } from './oidc-credentials.js';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('OidcCredentials', () => {
  let authority: TestAuthority;
  let server: KeyPair;
  let provider: OpenIdProvider;
  let signal: AbortSignal;
  /** What is stored; undefined: nothing can be read. */
  let stored: OidcTokens | undefined;
  let warnings: string[] = [];
  before(async () => {
    authority = new TestAuthority('here');
    server = authority.issue('server');
    provider = await startOpenIdProvider(server);
  });
  after(async () => {
    await provider.close();
    authority.remove();
  });
  beforeEach(() => {
    signal = AbortSignal.timeout(10_000);
    provider.asked.length = 0;
    provider.instead = undefined;
    provider.onAsked = undefined;
    stored = undefined;
    warnings = [];
  });

  /** A token as it could have been given before. */
  const idToken = (inSeconds: number, claims: object = {}): string => {
    const exp = Math.floor(Date.now() / 1000) + inSeconds;
    return `${encoded({ alg: 'RS256' })}.${encoded({ iss: provider.issuer, sub: 'jane', exp, ...claims })}.${randomUUID()}`;
  };
  const open = (tokens: Partial<OidcTokens>, o: Partial<OidcOptions> = {}): OidcCredentials =>
    new OidcCredentials({
      client: { issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
      trust: { authorities: authority.cert, serverName: undefined, insecure: false },
      tokens: { idToken: '', refreshToken: '', ...tokens },
      store: { load: () => stored, save: (now) => Promise.resolve(void (stored = now)) },
      warn: (message) => void warnings.push(message),
      ...o,
    });
  const shown = async (credentials: OidcCredentials): Promise<string> => {
    const { headers } = await credentials.current(signal);
    assert.match(headers['authorization'] ?? '', /^Bearer /);
    return headers['authorization']!.slice(7);
  };
  async function failure(credentials: OidcCredentials, ...secrets: string[]): Promise<string> {
    const err: unknown = await credentials.current(signal).then(
      () => assert.fail('gave a credential'),
      (e: unknown) => e,
    );
    assert.ok(err instanceof CredentialError, String(err));
    for (const secret of [CLIENT.secret, encodeURIComponent(CLIENT.secret), ...secrets]) {
      assert.ok(!`${err.stack ?? ''} ${String(err.cause)}`.includes(secret), err.stack);
    }
    return err.message.replaceAll(provider.issuer, 'ISSUER');
  }

  it('fails when the ID token has expired and nothing is there to refresh it', async () => {
    for (const token of ['', 'no.token.', 'a.b', idToken(-1), idToken(5), `${encoded({})}.${encoded({ sub: 'a' })}.`]) {
      const why = await failure(open({ idToken: token }));
      assert.equal(why, 'ISSUER: the id-token is no longer good, and there is no refresh-token');
    }
    assert.deepEqual(provider.asked, []);
  });

  it('fails when the provider does not know the refresh token', async () => {
    const why = await failure(open({ refreshToken: 'unknown-token' }), 'unknown-token');
    assert.equal(why, 'POST ISSUER/token: answered with the status 400 (invalid_grant)');
  });

  it('fails when the provider does not know the client', async () => {
    const client = { issuer: provider.issuer, clientId: CLIENT.id, clientSecret: 'wrong-secret' };
    const why = await failure(open({ refreshToken: await provider.refreshToken() }, { client }), 'wrong-secret');
    assert.equal(why, 'POST ISSUER/token: answered with the status 401 (invalid_client)');
  });

  it('fails when the provider gives no id_token at a refresh', async () => {
    const refreshToken = await provider.refreshToken({ scope: 'offline_access' });
    assert.equal(
      await failure(open({ refreshToken }), refreshToken),
      'POST ISSUER/token: answered without id_token: the login lacked the scope openid, or the provider gives none at a refresh',
    );
  });

  it('fails when the token that comes is of somebody else', async () => {
    const refreshToken = await provider.refreshToken({ account: 'joe' });
    assert.equal(
      await failure(open({ refreshToken, idToken: idToken(-1) })),
      'ISSUER: gave an id_token of somebody else',
    );
  });

  it('fails when an authority signed the provider that is not trusted', async () => {
    const stranger = new TestAuthority('stranger');
    stranger.remove();
    const trust = { authorities: stranger.cert, serverName: undefined, insecure: false };
    const why = await failure(open({ refreshToken: await provider.refreshToken() }, { trust }));
    assert.match(why, /^GET ISSUER\/\.well-known\/openid-configuration: its certificate is signed by no authority/);
  });

  const WELL_KNOWN = '/.well-known/openid-configuration';
  const json =
    (body: unknown, status = 200) =>
    (_: IncomingMessage, res: ServerResponse) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const ANSWERS: readonly (readonly [string, () => OpenIdProvider['instead'], string])[] = [
    ['that cannot be discovered', () => json({}, 404), `GET ISSUER${WELL_KNOWN}: answered with the status 404`],
    [
      'that is elsewhere',
      () => (_, res) => void res.writeHead(302, { location: 'https://other/' }).end(),
      `GET ISSUER${WELL_KNOWN}: answered with the status 302`,
    ],
    ['that is none', () => json('text'), `GET ISSUER${WELL_KNOWN}: the answer is no JSON object`],
    [
      'that says another name',
      () => json({ issuer: 'https://other' }),
      `GET ISSUER${WELL_KNOWN}: is of another issuer than the configuration says`,
    ],
    [
      'without token endpoint',
      () => json({ issuer: provider.issuer }),
      `GET ISSUER${WELL_KNOWN}: names no token endpoint in https`,
    ],
    [
      'that wants tokens in the clear',
      () => json({ issuer: provider.issuer, token_endpoint: 'http://localhost/token' }),
      `GET ISSUER${WELL_KNOWN}: names no token endpoint in https`,
    ],
    [
      'that says too much',
      () => (_, res) => void res.end('x'.repeat(2 * 1024 * 1024)),
      `GET ISSUER${WELL_KNOWN}: the answer is longer than 1048576 bytes`,
    ],
  ];
  for (const [what, instead, message] of ANSWERS) {
    it(`fails at a provider ${what}`, async () => {
      const credentials = open({ refreshToken: 'refresh-token-1' });
      provider.instead = instead();
      assert.equal(await failure(credentials, 'refresh-token-1'), message);
      assert.deepEqual(provider.asked, [`GET ${WELL_KNOWN}`]);
    });
  }

  for (const [what, token, message] of [
    ['that cannot be read', () => 'secret.id.token', 'ISSUER: gave an id_token that cannot be read'],
    ['of another issuer', () => idToken(60, { iss: 'https://other' }), 'ISSUER: gave an id_token of another issuer'],
  ] as const) {
    it(`fails at an ID token ${what}`, async () => {
      const given = token();
      provider.instead = (req, res) =>
        json(
          req.method === 'GET'
            ? { issuer: provider.issuer, token_endpoint: `${provider.issuer}/t` }
            : { id_token: given },
        )(req, res);
      assert.equal(await failure(open({ refreshToken: 'r' }), given), message);
    });
  }

  it('shows an ID token as long as it is good for ten seconds', async () => {
    const token = idToken(12);
    assert.equal(await shown(open({ idToken: token })), token);
    assert.deepEqual(provider.asked, []);
  });

  it('refreshes one that is about to expire, once for all who ask, and stores what came', async () => {
    const refreshToken = await provider.refreshToken();
    const credentials = open({ idToken: idToken(5), refreshToken });
    const [first, second] = await Promise.all([shown(credentials), shown(credentials)]);
    assert.equal(first, second);
    assert.equal(idTokenClaims(first)?.subject, 'jane');
    assert.ok(idTokenClaims(first)!.expiresAtMs > Date.now() + 3_500_000);
    assert.equal(await shown(credentials), first);
    assert.deepEqual(provider.asked, [`GET ${WELL_KNOWN}`, 'POST /token']);
    assert.equal(stored?.idToken, first);
    assert.notEqual(stored.refreshToken, refreshToken); // it is good for one use
  });

  it('goes on with the refresh token that came with the last one', async () => {
    let now = Date.now();
    const credentials = open({ refreshToken: await provider.refreshToken() }, { now: () => now });
    const given = new Set<string>();
    for (let i = 0; i < 3; i++) {
      await shown(credentials);
      given.add(stored?.refreshToken ?? '');
      now += 3600_000;
    }
    assert.equal(given.size, 3);
    assert.equal(provider.asked.length, 6);
  });

  it('goes on with the old refresh token where none comes', async () => {
    const steady = await startOpenIdProvider(server, { rotateRefreshToken: false });
    try {
      const refreshToken = await steady.refreshToken();
      const client = { issuer: steady.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret };
      await shown(open({ refreshToken }, { client }));
      assert.equal(stored?.refreshToken, refreshToken);
    } finally {
      await steady.close();
    }
  });

  for (const method of ['client_secret_basic', 'client_secret_post', 'none'] as const) {
    it(`says who it is in the way that the provider takes: ${method}`, async () => {
      const secret = method === 'none' ? {} : { client_secret: CLIENT.secret };
      const other = await startOpenIdProvider(server, {
        clientAuthMethods: [method],
        clients: [
          {
            client_id: CLIENT.id,
            ...secret,
            token_endpoint_auth_method: method,
            grant_types: ['authorization_code', 'refresh_token'],
            redirect_uris: ['http://localhost:8000'],
          },
        ],
      });
      try {
        const clientSecret = method === 'none' ? '' : CLIENT.secret;
        const client = { issuer: other.issuer, clientId: CLIENT.id, clientSecret };
        assert.ok(await shown(open({ refreshToken: await other.refreshToken() }, { client })));
      } finally {
        await other.close();
      }
    });
  }

  it('takes what another process has stored meanwhile', async () => {
    stored = { idToken: idToken(60), refreshToken: 'newer' };
    assert.equal(await shown(open({ idToken: idToken(-1), refreshToken: 'used' })), stored.idToken);
    assert.deepEqual(provider.asked, []);
    stored = { idToken: idToken(1), refreshToken: await provider.refreshToken() };
    await shown(open({ idToken: idToken(-1), refreshToken: 'used' }));
    assert.deepEqual(provider.asked, [`GET ${WELL_KNOWN}`, 'POST /token']);
  });

  it('goes on when what came cannot be stored, and says so', async () => {
    const store = { load: () => undefined, save: () => Promise.reject(new Error('disk full')) };
    await shown(open({ refreshToken: await provider.refreshToken() }, { store }));
    assert.deepEqual(warnings, ['Refreshed credentials cannot be stored, the next process may have to log in anew']);
  });

  it('refreshes a token that a server does not know, unless it is new', async () => {
    let now = Date.now();
    const token = idToken(3600);
    const credentials = open({ idToken: token, refreshToken: await provider.refreshToken() }, { now: () => now });
    assert.equal(credentials.refused(await credentials.current(signal)), true);
    const second = await credentials.current(signal);
    assert.notEqual(second.headers['authorization'], `Bearer ${token}`);
    assert.equal(credentials.refused(second), false);
    assert.equal(await credentials.current(signal), second);
    now += 61_000;
    assert.equal(credentials.refused(second), true);
  });

  it('knows nothing better than a refused token without a refresh token', async () => {
    const credentials = open({ idToken: idToken(3600) });
    assert.equal(credentials.refused(await credentials.current(signal)), false);
  });

  it('lets a refresh go on when who asked has left: the refresh token is used up', async () => {
    const credentials = open({ refreshToken: await provider.refreshToken() });
    const controller = new AbortController();
    const reason = new Error('enough');
    provider.onAsked = (line) => {
      if (line === 'POST /token') controller.abort(reason);
    };
    await assert.rejects(credentials.current(controller.signal), reason);
    await shown(credentials);
    assert.deepEqual(provider.asked, [`GET ${WELL_KNOWN}`, 'POST /token']);
  });
});
