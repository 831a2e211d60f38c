import assert from 'node:assert/strict';
import { createHash, createPublicKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgram } from '../support/program.js';
import { removeDirectory, scratchDirectory } from '../support/scratch.js';
import { credentialFlags, startApiServer, stopped } from '../support/platform.js';
import { Client, type Reply } from './tools/client.js';
import type { Document } from './tools/document.js';
import { created, newNamespace, pod, refused } from './tools/objects.js';
import { onBothStores, TestServer } from './tools/server.js';

const AUTHENTICATION = 'authentication.platform.io/v1';
const ISSUER = 'https://platform.default.svc.cluster.local';

const tokenRequest = (spec: object = {}, metadata?: object): object => ({
  apiVersion: AUTHENTICATION,
  kind: 'TokenRequest',
  ...(metadata === undefined ? {} : { metadata }),
  spec,
});

/** An account `a` in a namespace of its own. @returns Its path, and itself. */
async function newAccount(client: Client): Promise<{ path: string; namespace: string; account: Document }> {
  const namespace = await newNamespace(client);
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const account = created(await client.post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })); // prettier-ignore
  return { path: `${accounts}/a/token`, namespace, account };
}

interface Status {
  readonly token: string;
  readonly expirationTimestamp: string;
}
interface Spec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}
const statusOf = (reply: Reply): Status => created(reply)['status'] as Status;
const specOf = (reply: Reply): Spec => created(reply)['spec'] as unknown as Spec;

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly 'platform.io': Readonly<Record<string, unknown>>;
}

const parsed = (part = ''): unknown => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

/** The claims of a token that the key has signed. */
function claimsOf(token: string, key: KeyObject): Claims {
  const [header, claims, signature = ''] = token.split('.');
  const kid = createHash('sha256').update(key.export({ type: 'spki', format: 'der' })).digest('base64url'); // prettier-ignore
  const rsa = key.asymmetricKeyType === 'rsa';
  assert.deepEqual(parsed(header), { alg: rsa ? 'RS256' : 'ES256', kid });
  const signed = Buffer.from(`${header}.${claims}`);
  const isSigned = verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  assert.ok(isSigned, 'the signature does not hold');
  return parsed(claims) as Claims;
}

onBothStores('tokens of service accounts', [], (server) => {
  const key = (): KeyObject => createPublicKey(readFileSync(join(server().directory, 'service-account.pub')));

  it('are signed by the key in the data directory and say whose they are', async () => {
    const { client } = server();
    const { path, namespace, account } = await newAccount(client);
    const before = Math.floor(Date.now() / 1000);
    const reply = await client.post(path, tokenRequest());
    const { token, expirationTimestamp } = statusOf(reply);
    assert.deepEqual(specOf(reply), { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null });
    assert.deepEqual([reply.body.kind, reply.body.metadata.name, reply.body.metadata.namespace], ['TokenRequest', 'a', namespace]); // prettier-ignore
    const { iat, exp, nbf, ...claims } = claimsOf(token, key());
    assert.deepEqual(claims, {
      iss: ISSUER,
      sub: `system:serviceaccount:${namespace}:a`,
      aud: [ISSUER],
      'platform.io': { namespace, serviceaccount: { name: 'a', uid: account.metadata.uid } },
    });
    assert.ok(iat >= before && iat <= Date.now() / 1000);
    assert.deepEqual([exp - iat, nbf], [3600, iat]);
    assert.equal(Date.parse(expirationTimestamp), exp * 1000);
    assert.equal(Date.parse(String(reply.body.metadata['creationTimestamp'])), iat * 1000);
  });

  it('are for whom and as long as is asked', async () => {
    const { client } = server();
    const { path } = await newAccount(client);
    const { token } = statusOf(
      await client.post(path, tokenRequest({ audiences: ['x', 'y'], expirationSeconds: 600 })),
    );
    const { aud, exp, iat } = claimsOf(token, key());
    assert.deepEqual([aud, exp - iat], [['x', 'y'], 600]);
    const longest = statusOf(await client.post(path, tokenRequest({ expirationSeconds: 2 ** 32 })));
    assert.equal(claimsOf(longest.token, key()).exp - claimsOf(longest.token, key()).iat, 2 ** 32);
  });

  it('are asked for in YAML and Protobuf, too, and by a body that says little', async () => {
    const { client } = server();
    const { path } = await newAccount(client);
    statusOf(await client.post(path, {}));
    statusOf(await client.request('POST', path, { body: 'spec: {expirationSeconds: 700}', type: 'application/yaml' }));
    const accept = 'application/vnd.platform.protobuf';
    const reply = await client.request('POST', path, { body: tokenRequest(), headers: { accept } });
    assert.deepEqual([reply.code, reply.headers['content-type']], [201, accept]);
    assert.match(reply.text, /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{80}/);
  });

  it('are not for shorter or longer than is good', async () => {
    const { client } = server();
    const { path } = await newAccount(client);
    const least = await client.post(path, tokenRequest({ expirationSeconds: 599 }));
    refused(least, 422, 'Invalid', /spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes/); // prettier-ignore
    const most = await client.post(path, tokenRequest({ expirationSeconds: 2 ** 32 + 1 }));
    refused(most, 422, 'Invalid', /may not specify a duration larger than 2\^32 seconds/);
  });

  it('are bound to pods of the account, and to secrets', async () => {
    const { client } = server();
    const { path, namespace } = await newAccount(client);
    const core = `/api/v1/namespaces/${namespace}`;
    const p = created(await client.post(`${core}/pods`, pod('p', { serviceAccountName: 'a' })));
    created(await client.post(`${core}/pods`, pod('q', { serviceAccountName: 'b' })));
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
    const s = created(await client.post(`${core}/secrets`, secret));
    const ask = (boundObjectRef: object): Promise<Reply> => client.post(path, tokenRequest({ boundObjectRef }));
    const inPod = statusOf(await ask({ kind: 'Pod', apiVersion: 'v1', name: 'p', uid: p.metadata.uid }));
    assert.deepEqual(claimsOf(inPod.token, key())['platform.io']['pod'], { name: 'p', uid: p.metadata.uid });
    const withSecret = statusOf(await ask({ kind: 'Secret', name: 's' }));
    assert.deepEqual(claimsOf(withSecret.token, key())['platform.io']['secret'], { name: 's', uid: s.metadata.uid });
    refused(await ask({ kind: 'Pod', name: 'p', uid: 'another' }), 409, 'Conflict', /the UID in the bound object reference \(another\) does not match/); // prettier-ignore
    refused(await ask({ kind: 'Pod', name: 'q' }), 400, 'BadRequest', /pod running with different serviceaccount name/);
    refused(await ask({ kind: 'Pod', name: 'nobody' }), 404, 'NotFound', /pods "nobody" not found/);
    refused(await ask({ kind: 'ConfigMap', apiVersion: 'v1', name: 'p' }), 400, 'BadRequest', /cannot bind token to object of type v1, Kind=ConfigMap/); // prettier-ignore
    refused(await ask({ kind: '__proto__', name: 'p' }), 400, 'BadRequest');
    refused(await ask({ kind: 'Pod', apiVersion: 'apps/v1', name: 'p' }), 400, 'BadRequest');
  });

  it('of pods live on after the hour, and tell when it is over', async () => {
    const { client } = server();
    const { path, namespace } = await newAccount(client);
    created(await client.post(`/api/v1/namespaces/${namespace}/pods`, pod('p', { serviceAccountName: 'a' })));
    const ask = async (spec: object): Promise<Claims> =>
      claimsOf(statusOf(await client.post(path, tokenRequest({ expirationSeconds: 3607, ...spec }))).token, key());
    const boundObjectRef = { kind: 'Pod', name: 'p' };
    const extended = await ask({ boundObjectRef });
    assert.equal(extended.exp - extended.iat, 365 * 24 * 3600);
    assert.equal(extended['platform.io']['warnafter'], extended.iat + 3607);
    for (const spec of [{}, { boundObjectRef, audiences: ['x'] }, { boundObjectRef, expirationSeconds: 3600 }]) {
      const { exp, iat, 'platform.io': own } = await ask(spec);
      assert.ok(exp - iat <= 3607);
      assert.equal(own['warnafter'], undefined);
    }
  });

  it('are refused to who names another account, and of accounts that are not there', async () => {
    const { client } = server();
    const { path } = await newAccount(client);
    refused(await client.post(path, tokenRequest({}, { name: 'b' })), 422, 'Invalid', /metadata.name/);
    refused(await client.post(path, tokenRequest({}, { namespace: 'b' })), 422, 'Invalid', /metadata.namespace/);
    refused(await client.post(path.replace('/a/', '/b/'), tokenRequest()), 404, 'NotFound', /serviceaccounts "b" not found/); // prettier-ignore
    refused(await client.post(path, { kind: 'Pod', apiVersion: 'v1' }), 400, 'BadRequest');
    refused(await client.get(path), 405, 'MethodNotAllowed');
    refused(await client.request('POST', path, { body: tokenRequest(), headers: { authorization: '' } }), 403, 'Forbidden'); // prettier-ignore
  });

  it('are not issued in a dry run', async () => {
    const { client } = server();
    const { path } = await newAccount(client);
    const { token, expirationTimestamp } = statusOf(await client.post(`${path}?dryRun=All`, tokenRequest()));
    assert.equal(token, '');
    assert.ok(Date.parse(expirationTimestamp) > Date.now());
    refused(await client.post(`${path}?dryRun=Some`, tokenRequest()), 400, 'BadRequest');
  });

  it('are in no log', async () => {
    const { client } = server();
    const { path } = await newAccount(client);
    const { token } = statusOf(await client.post(path, tokenRequest()));
    await client.get(`${path}?token=${token}`);
    assert.ok(!server().log.includes(token.split('.')[2]!));
  });
});

describe('tokens of service accounts, by flags', function () {
  this.timeout(90_000);
  let directory: string;
  before(() => {
    directory = scratchDirectory();
  });
  after(() => removeDirectory(directory));

  it('are signed by the key, and carry the issuer and the audiences, that flags name', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const file = join(directory, 'own.key');
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const flags = [
      `--service-account-signing-key-file=${file}`,
      '--service-account-issuer=https://example.com',
      '--service-account-issuer=https://former.example.com',
      '--api-audiences=one,two',
      '--service-account-max-token-expiration=2h',
      '--service-account-extend-token-expiration=false',
    ];
    const server = await TestServer.start({ store: 'embedded', flags });
    try {
      const { client } = server;
      const { path, namespace } = await newAccount(client);
      const reply = await client.post(path, tokenRequest({ expirationSeconds: 7201 }));
      const { iss, aud, exp, iat } = claimsOf(statusOf(reply).token, publicKey);
      assert.deepEqual([iss, aud, exp - iat], ['https://example.com', ['one', 'two'], 7200]);
      assert.equal(specOf(reply).expirationSeconds, 7200);
      assert.match(reply.headers['warning'] ?? '', /requested expiration of 7201 seconds shortened to 7200 seconds/);
      created(await client.post(`/api/v1/namespaces/${namespace}/pods`, pod('p', { serviceAccountName: 'a' })));
      const boundObjectRef = { kind: 'Pod', name: 'p' };
      const inPod = await client.post(path, tokenRequest({ boundObjectRef, expirationSeconds: 3607 }));
      const claims = claimsOf(statusOf(inPod).token, publicKey);
      assert.equal(claims.exp - claims.iat, 3607);
    } finally {
      await server.close();
    }
  });

  it('speak the words of the vocabulary', async () => {
    const server = await TestServer.start({ store: 'embedded', flags: ['--vocabulary=kubernetes'] });
    try {
      const { path, namespace, account } = await newAccount(server.client);
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      const { token } = statusOf(await server.client.post(path, body));
      const claims = claimsOf(token, createPublicKey(readFileSync(join(server.directory, 'service-account.pub'))));
      assert.equal(claims.iss, 'https://kubernetes.default.svc.cluster.local');
      const own = (claims as unknown as Record<string, unknown>)['kubernetes.io'];
      assert.deepEqual(own, { namespace, serviceaccount: { name: 'a', uid: account.metadata.uid } });
    } finally {
      await server.close();
    }
  });

  it('are nowhere to be had from a server without a key', async () => {
    const owner = await TestServer.start({ store: 'etcd' });
    const tokens = `--token-auth-file=${join(owner.directory, 'tokens.csv')}`;
    const flags = [`--etcd-servers=${owner.etcd!.url}`, ...credentialFlags(owner.directory), tokens];
    const keyless = await startApiServer(flags);
    const client = new Client(keyless.url, owner.client.token);
    try {
      const { path } = await newAccount(client);
      refused(await client.post(path, tokenRequest()), 404, 'NotFound', /could not find the requested resource/);
    } finally {
      client.close();
      await stopped(keyless);
      await owner.close();
    }
  });

  for (const [flags, message] of [
    [['--service-account-issuer=https:// nowhere'], /has a colon and is no URL/],
    [['--service-account-max-token-expiration=59m'], /between 1h and 2\^32 seconds/],
    [['--service-account-signing-key-file=/nonexistent'], /Cannot use \/nonexistent to sign tokens/],
    [['--nodeagent-client-key=/nonexistent'], /--nodeagent-client-certificate and --nodeagent-client-key go together/],
    [['--nodeagent-certificate-authority=/nonexistent'], /\/nonexistent/],
  ] as const) {
    it(`refuses to start with ${flags.join(' ')}`, async () => {
      const data = join(directory, 'refused');
      const program = startProgram(['up', '--secure-port=0', '--bind-address=127.0.0.1', `--data-dir=${data}`, ...flags]); // prettier-ignore
      const { code } = await program.exited;
      assert.notEqual(code, 0);
      assert.match(program.stderr(), message);
    });
  }
});
