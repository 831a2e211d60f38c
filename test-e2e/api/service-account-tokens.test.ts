import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactSign, createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { credentialFlags, startApiServer, stopped } from '../support/platform.js';
import { startProgram } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import { Client, type Reply } from './tools/client.js';
import { created, eventually, newNamespace, ok, pod, refused } from './tools/objects.js';
import { onBothStores, TestServer } from './tools/server.js';

const ISSUER = 'https://platform.default.svc.cluster.local';
const LEGACY = 'platform.io/serviceaccount';

/** What a request as somebody else comes to: who the server takes him for, whatever he may do. */
async function whoIs(client: Client, token: string): Promise<Reply & { readonly user: string | undefined }> {
  const reply = await client.request('GET', '/api/v1/nodes/nobody', {
    headers: { authorization: `Bearer ${token}` },
  });
  return { ...reply, user: /^nodes "nobody" is forbidden: User "([^"]+)"/.exec(reply.body.message)?.[1] };
}

async function knows(client: Client, token: string, user: string): Promise<void> {
  const reply = await whoIs(client, token);
  assert.equal(reply.user, user, reply.text);
}

async function refuses(client: Client, token: string): Promise<void> {
  const reply = await whoIs(client, token);
  refused(reply, 401, 'Unauthorized', /^Unauthorized$/);
  assert.match(reply.headers['www-authenticate'] ?? '', /^Bearer/);
}

interface Account {
  readonly path: string;
  readonly namespace: string;
  readonly user: string;
  readonly uid: string;
}

const makeAccount = async (client: Client, namespace: string): Promise<string> =>
  created(
    await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'a' },
    }),
  ).metadata.uid;

async function newAccount(client: Client): Promise<Account> {
  const namespace = await newNamespace(client);
  const uid = await makeAccount(client, namespace);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/a`;
  return { path, namespace, user: `system:serviceaccount:${namespace}:a`, uid };
}

async function tokenOf(client: Client, { path }: Account, spec: object = {}): Promise<string> {
  const body = { apiVersion: 'authentication.platform.io/v1', kind: 'TokenRequest', spec };
  return (created(await client.post(`${path}/token`, body))['status'] as { token: string }).token;
}

const signed = (server: TestServer, claims: object): Promise<string> => {
  const key = createPrivateKey(readFileSync(join(server.directory, 'service-account.key')));
  const alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg }).sign(key);
};

/** A Secret with a token in it, as the controller of tokens makes them. */
async function heldToken(server: TestServer, { namespace, uid, user }: Account): Promise<string> {
  const token = await signed(server, {
    iss: LEGACY.replace('.io', ''),
    sub: user,
    [`${LEGACY}/namespace`]: namespace,
    [`${LEGACY}/secret.name`]: 'a-token',
    [`${LEGACY}/service-account.name`]: 'a',
    [`${LEGACY}/service-account.uid`]: uid,
  });
  const annotations = { 'platform.io/service-account.name': 'a', 'platform.io/service-account.uid': uid };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a-token', annotations },
    type: 'platform.io/service-account-token',
    data: { token: Buffer.from(token).toString('base64') },
  };
  created(await server.client.post(`/api/v1/namespaces/${namespace}/secrets`, secret));
  return token;
}

onBothStores('tokens of service accounts as credentials', ['--enable-bootstrap-token-auth'], (server) => {
  let client: Client;
  before(() => ({ client } = server()));

  it('are those of the account until it is deleted, and not of another one of the same name', async () => {
    const account = await newAccount(client);
    const token = await tokenOf(client, account);
    await knows(client, token, account.user);
    ok(await client.delete(account.path));
    await refuses(client, token);
    await makeAccount(client, account.namespace);
    await refuses(client, token);
    await knows(client, await tokenOf(client, account), account.user);
  });

  for (const [kind, resource] of [
    ['Pod', 'pods'],
    ['Secret', 'secrets'],
  ] as const) {
    it(`that are bound to a ${kind} are good until it is deleted`, async () => {
      const account = await newAccount(client);
      const collection = `/api/v1/namespaces/${account.namespace}/${resource}`;
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } };
      created(await client.post(collection, kind === 'Pod' ? pod('x', { serviceAccountName: 'a' }) : secret));
      const token = await tokenOf(client, account, { boundObjectRef: { kind, apiVersion: 'v1', name: 'x' } });
      await knows(client, token, account.user);
      const gone = await client.delete(`${collection}/x?gracePeriodSeconds=0`);
      assert.equal(gone.code, 200, gone.text);
      await refuses(client, token);
    });
  }

  it('for others are refused', async () => {
    const account = await newAccount(client);
    await refuses(client, await tokenOf(client, account, { audiences: ['https://other.example'] }));
    const both = await tokenOf(client, account, { audiences: ['https://other.example', ISSUER] });
    await knows(client, both, account.user);
  });

  it('that were changed, have expired or come from elsewhere are refused', async () => {
    const account = await newAccount(client);
    const token = await tokenOf(client, account);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    await knows(client, await signed(server(), claims), account.user);
    await refuses(client, await signed(server(), { ...claims, exp: Math.floor(Date.now() / 1000) - 1 }));
    await refuses(client, await signed(server(), { ...claims, nbf: Math.floor(Date.now() / 1000) + 120 }));
    await refuses(client, await signed(server(), { ...claims, iss: 'https://elsewhere.example' }));
    await refuses(client, `${header}.${part({ ...claims, jti: 'x' })}.${signature}`);
    await refuses(client, `${part({ alg: 'none' })}.${payload}.`);
    await refuses(client, `${header}.${payload}`);
  });

  it('that lie in Secrets are good until those are changed or deleted', async () => {
    const account = await newAccount(client);
    const token = await heldToken(server(), account);
    const secret = `/api/v1/namespaces/${account.namespace}/secrets/a-token`;
    await knows(client, token, account.user);
    ok(await client.patch(secret, { data: { token: Buffer.from('another').toString('base64') } }));
    await refuses(client, token);
    ok(await client.patch(secret, { data: { token: Buffer.from(token).toString('base64') } }));
    await knows(client, token, account.user);
    ok(await client.delete(secret));
    await refuses(client, token);
  });

  it('can be checked by others with what the issuer tells', async () => {
    const configuration = ok(await client.get('/.well-known/openid-configuration')) as unknown as Record<
      string,
      string
    >;
    assert.equal(configuration['issuer'], ISSUER);
    const { code, headers, text } = await client.get(new URL(configuration['jwks_uri'] ?? '').pathname);
    const { 'content-type': type, 'cache-control': kept } = headers;
    assert.deepEqual([code, type, kept], [200, 'application/jwk-set+json', 'public, max-age=3600']);
    const account = await newAccount(client);
    const keys = createRemoteJWKSet(new URL(configuration['jwks_uri'] ?? ''), {
      [customFetch]: () => Promise.resolve(new Response(text)),
    });
    const { payload } = await jwtVerify(await tokenOf(client, account), keys, { issuer: ISSUER, audience: ISSUER });
    assert.equal(payload.sub, account.user);
  });

  it('have bootstrap tokens beside them, which are good as long as their Secret says so', async () => {
    const data = {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': 'system:bootstrappers:test',
    };
    const secrets = '/api/v1/namespaces/platform-system/secrets';
    const metadata = { name: 'bootstrap-token-abcdef' };
    await refuses(client, 'abcdef.0123456789abcdef');
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'bootstrap.platform.io/token',
      metadata,
      stringData: data,
    };
    created(await client.post(secrets, secret));
    await knows(client, 'abcdef.0123456789abcdef', 'system:bootstrap:abcdef');
    await refuses(client, 'abcdef.0123456789abcdee');
    ok(await client.patch(`${secrets}/${metadata.name}`, { stringData: { expiration: '2020-01-01T00:00:00Z' } }));
    await refuses(client, 'abcdef.0123456789abcdef');
  });
});

describe('tokens of service accounts elsewhere', function () {
  this.timeout(90_000);

  it('are good at every server that has the public key, and offered by those that can sign', async () => {
    const owner = await TestServer.start({ store: 'etcd' });
    const file = (name: string): string => join(owner.directory, name);
    const other = await startApiServer([
      `--etcd-servers=${owner.etcd!.url}`,
      ...credentialFlags(owner.directory),
      `--token-auth-file=${file('tokens.csv')}`,
      `--service-account-issuer=https://new.example,${ISSUER}`,
      `--service-account-key-file=${file('apiserver.crt')},${file('service-account.pub')}`,
      '--service-account-jwks-uri=https://new.example/keys',
    ]);
    const client = new Client(other.url, owner.client.token);
    try {
      const account = await newAccount(owner.client);
      const token = await tokenOf(owner.client, account);
      await knows(client, token, account.user);
      ok(await owner.client.delete(account.path));
      await refuses(owner.client, token);
      await eventually(async () => ((await whoIs(client, token)).code === 401 ? true : undefined));
      const resources = async (c: Client): Promise<string> => (await c.get('/api/v1')).text;
      assert.match(await resources(owner.client), /"serviceaccounts\/token"/);
      assert.doesNotMatch(await resources(client), /"serviceaccounts\/token"/);
      const told = (await client.get('/.well-known/openid-configuration')).body as unknown as Record<string, string>;
      assert.deepEqual([told['issuer'], told['jwks_uri']], ['https://new.example', 'https://new.example/keys']);
      const { keys } = (await client.get('/openid/v1/jwks')).body as unknown as { keys: readonly { x: string }[] };
      const own = createPublicKey(readFileSync(file('service-account.pub'))).export({ format: 'jwk' });
      assert.equal(keys.length, 2);
      assert.ok(keys.some((key) => key.x === own.x));
    } finally {
      client.close();
      await stopped(other);
      await owner.close();
    }
  });

  for (const [flag, message] of [
    ['--service-account-key-file=/nonexistent', /Cannot use \/nonexistent to verify tokens/],
    ['--service-account-jwks-uri=http://example.com', /Cannot parse --service-account-jwks-uri: .* is no https URL/],
    ['--service-account-jwks-uri=/keys', /Cannot parse --service-account-jwks-uri: .* is no https URL/],
  ] as const) {
    it(`do not let a server start with ${flag}`, async () => {
      const directory = scratchDirectory();
      try {
        const program = startProgram(['up', '--secure-port=0', '--bind-address=127.0.0.1', `--data-dir=${directory}`, flag]); // prettier-ignore
        assert.notEqual((await program.exited).code, 0);
        assert.match(program.stderr(), message);
      } finally {
        removeDirectory(directory);
      }
    });
  }
});
