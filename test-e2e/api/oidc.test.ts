import assert from 'node:assert/strict';
import { join } from 'node:path';
import { refreshTokens } from '../../services/client/credentials/oidc/refresh.js';
import { agentFor } from '../../services/client/remote/agents.js';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { CLIENT, startOpenIdProvider, type OpenIdProvider } from '../../services/client/testing/openid-provider.js';
import { freePorts } from '../../services/machinery/testing/free-port.js';
import { startProgram } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import type { Reply } from './tools/client.js';
import { created, eventually, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';

/** Puts groups into ID tokens. */
const WITH_GROUPS = {
  conformIdTokenClaims: false,
  claims: { openid: ['sub', 'groups'] },
  findAccount: (_: unknown, accountId: string) => ({
    accountId,
    claims: () => ({ sub: accountId, groups: ['developers', 'testers'] }),
  }),
};

describe('an OpenID provider', function () {
  this.timeout(90_000);
  let authority: TestAuthority;
  let provider: OpenIdProvider;
  let server: TestServer;
  before(async () => {
    authority = new TestAuthority('here');
    provider = await startOpenIdProvider(authority.issue('provider'), WITH_GROUPS);
    server = await TestServer.start({ store: 'embedded', flags: flagsFor(provider.issuer) });
  });
  after(async () => {
    await server.close();
    await provider.close();
    authority.remove();
  });

  const flagsFor = (issuer: string): string[] => [
    `--oidc-issuer-url=${issuer}`,
    `--oidc-client-id=${CLIENT.id}`,
    `--oidc-ca-file=${join(authority.directory, 'ca.crt')}`,
    '--oidc-groups-claim=groups',
    '--oidc-groups-prefix=oidc:',
  ];

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

  const whoAmI = (at: TestServer, token: string): Promise<Reply> =>
    at.client.request('POST', '/apis/authentication.platform.io/v1/selfsubjectreviews', {
      body: { apiVersion: 'authentication.platform.io/v1', kind: 'SelfSubjectReview' },
      headers: { authorization: `Bearer ${token}` },
    });
  const userIn = (reply: Reply): { username: string; groups: string[] } =>
    (created(reply)['status'] as { userInfo: { username: string; groups: string[] } }).userInfo;

  it('tells who somebody is', async () => {
    const token = await idToken('jane');
    const known = async (): Promise<Reply | undefined> => {
      const reply = await whoAmI(server, token);
      return reply.code === 401 ? undefined : reply;
    };
    const { username, groups } = userIn(await eventually(known)); // the keys come after the start
    assert.equal(username, `${provider.issuer}#jane`);
    assert.deepEqual(groups, ['oidc:developers', 'oidc:testers', 'system:authenticated']);
  });

  it('tells it in reviews of tokens, too', async () => {
    const review = async (spec: object): Promise<unknown> =>
      created(
        await server.client.post('/apis/authentication.platform.io/v1/tokenreviews', {
          apiVersion: 'authentication.platform.io/v1',
          kind: 'TokenReview',
          spec,
        }),
      )['status'];
    const token = await idToken('joe');
    const known = (await review({ token })) as { authenticated: boolean; user: { username: string } };
    assert.deepEqual([known.authenticated, known.user.username], [true, `${provider.issuer}#joe`]);
    const other = (await review({ token, audiences: [CLIENT.id] })) as { authenticated?: boolean };
    assert.notEqual(other.authenticated, true);
  });

  it('gives nobody rights by itself', async () => {
    const headers = { authorization: `Bearer ${await idToken('jane')}` };
    const reply = await server.client.request('GET', '/api/v1/secrets', { headers });
    refused(reply, 403, 'Forbidden', new RegExp(`User "${provider.issuer}#jane" cannot list resource "secrets"`));
  });

  it('has signed no token that was changed', async () => {
    const [header = '', claims = '', signature = ''] = (await idToken('jane')).split('.');
    const changed = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as object;
    const root = Buffer.from(JSON.stringify({ ...changed, sub: 'root', groups: ['system:masters'] }));
    for (const token of [
      `${header}.${root.toString('base64url')}.${signature}`,
      `${header}.${claims}.${'A'.repeat(signature.length)}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
    ]) {
      refused(await whoAmI(server, token), 401, 'Unauthorized');
      assert.ok(!server.log.includes(token.split('.')[1]!), 'a token is in the log');
    }
  });

  it('need not be there when the server starts', async () => {
    const away = await unusedIssuer();
    const started = await TestServer.start({ store: 'embedded', flags: flagsFor(away) });
    try {
      const mine = Buffer.from(JSON.stringify({ iss: away })).toString('base64url');
      refused(await whoAmI(started, `e30.${mine}.AA`), 401, 'Unauthorized');
      assert.equal(userIn(await whoAmI(started, started.client.token)).username, 'tester');
      const told = /Keys of the OpenID provider cannot be read/;
      await eventually(() => Promise.resolve(told.exec(started.log) ?? undefined));
    } finally {
      await started.close();
    }
  });

  for (const [flags, message] of [
    [['--oidc-issuer-url=https://issuer.example'], /--oidc-issuer-url and --oidc-client-id go together/],
    [['--oidc-issuer-url=http://issuer.example', '--oidc-client-id=us'], /is no https URL/],
    [['--oidc-issuer-url=https://issuer.example', '--oidc-client-id=us', '--oidc-signing-algs=HS256'], /"HS256" choose one of RS256/], // prettier-ignore
    [['--oidc-issuer-url=https://issuer.example', '--oidc-client-id=us', '--oidc-ca-file=/nonexistent'], /Cannot use \/nonexistent for the OpenID provider/], // prettier-ignore
    [['--oidc-groups-claim=groups'], /--oidc-groups-claim needs --oidc-issuer-url/],
  ] as const) {
    it(`refuses to start with ${flags.join(' ')}`, async () => {
      const directory = scratchDirectory();
      try {
        const where = ['--secure-port=0', '--bind-address=127.0.0.1', `--data-dir=${directory}`];
        const program = startProgram(['up', ...where, ...flags]);
        assert.notEqual((await program.exited).code, 0);
        assert.match(program.stderr(), message);
      } finally {
        removeDirectory(directory);
      }
    });
  }
});

/** Of a provider that nobody runs. */
async function unusedIssuer(): Promise<string> {
  const [port = 0] = await freePorts(1);
  return `https://127.0.0.1:${port}`;
}
