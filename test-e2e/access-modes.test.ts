import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority, type Pair } from '../services/apiserver/authentication/testing/authority.js';
import { client, clientFor, credentialsOf, type Client } from './support/client.js';
import { startPlatform, type Running } from './support/platform.js';
import { runProgram } from './support/program.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SELF = '/apis/authentication.platform.io/v1/selfsubjectreviews';
const SELF_BODY = { apiVersion: 'authentication.platform.io/v1', kind: 'SelfSubjectReview' };

describe('who asks and who may, by flags', function () {
  this.timeout(90_000);
  const dir = scratchDirectory();
  const running: Running[] = [];
  const clients: Client[] = [];
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };

  before(() => {
    file('tokens.csv', 'ann-token,ann,1,"dev"\nbob-token,bob,2\nadmin-token,root,3,"system:masters"\n');
  });
  afterEach(async () => {
    for (const one of clients.splice(0)) one.close();
    await Promise.all(running.splice(0).map((server) => server.stop()));
  });
  after(() => removeDirectory(dir));

  async function start(...args: string[]): Promise<{ server: Running; as: (token?: string) => Client; ca: string }> {
    const server = await startPlatform({ args: [`--token-auth-file=${join(dir, 'tokens.csv')}`, ...args] });
    running.push(server);
    const { ca } = credentialsOf(server.kubeconfig);
    const as = (token?: string): Client => {
      const made = clientFor(server.url, { ca, ...(token === undefined ? {} : { token }) });
      clients.push(made);
      return made;
    };
    return { server, as, ca };
  }
  const statuses = (asking: Client, ...paths: string[]): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await asking.get(path)).status));

  it('lets nobody in without a name when nobody may be anonymous', async () => {
    const { as } = await start('--anonymous-auth=false');
    assert.deepEqual(await statuses(as(), '/livez', '/version', CONFIG_MAPS), [401, 401, 401]);
    assert.deepEqual(await statuses(as('bob-token'), '/livez', CONFIG_MAPS), [200, 403]);
  });

  it('AlwaysAllow lets everybody with a name do everything, and nobody else anything', async () => {
    const { as } = await start('--authorization-mode=AlwaysAllow');
    assert.deepEqual(await statuses(as('bob-token'), CONFIG_MAPS, '/metrics'), [200, 200]);
    assert.deepEqual(await statuses(as(), CONFIG_MAPS, '/livez'), [401, 401]);
  });

  it('AlwaysAllow lets everybody do everything where anonymous requests are asked for', async () => {
    const { as } = await start('--authorization-mode=AlwaysAllow', '--anonymous-auth');
    assert.deepEqual(await statuses(as(), CONFIG_MAPS, '/livez'), [200, 200]);
  });

  it('AlwaysDeny lets only the first administrators do anything', async () => {
    const { as } = await start('--authorization-mode=AlwaysDeny');
    assert.deepEqual(await statuses(as('bob-token'), CONFIG_MAPS, '/apis'), [403, 403]);
    assert.deepEqual(await statuses(as('admin-token'), CONFIG_MAPS, '/apis'), [200, 200]);
  });

  it('ABAC decides by the lines of its file', async () => {
    const line = (spec: object): string =>
      JSON.stringify({ apiVersion: 'abac.authorization.platform.io/v1beta1', kind: 'Policy', spec });
    const policies = [
      line({ user: 'ann', namespace: 'default', resource: 'configmaps', readonly: true }),
      line({ group: 'system:authenticated', nonResourcePath: '/api*', readonly: true }),
    ];
    const { as } = await start('--authorization-mode=ABAC', `--authorization-policy-file=${file('policy.jsonl', policies.join('\n'))}`); // prettier-ignore
    const ann = as('ann-token');
    assert.deepEqual(await statuses(ann, CONFIG_MAPS, '/apis', '/api/v1/namespaces/default/secrets'), [200, 200, 403]);
    assert.equal((await ann.post(CONFIG_MAPS, { metadata: { name: 'a' } })).status, 403);
    const refused = await as('bob-token').get(CONFIG_MAPS);
    assert.match(refused.text, /User \\"bob\\" cannot list resource \\"configmaps\\".*No policy matched\./);
  });

  const wrong: readonly (readonly [flags: () => string[], code: number, message: RegExp])[] = [
    [() => ['--authorization-mode=ABAC'], 2, /--authorization-mode=ABAC needs --authorization-policy-file/],
    [() => ['--authorization-mode=Webhook'], 2, /=Webhook needs --authorization-webhook-config-file/],
    [() => ['--authorization-mode=RBAC,RBAC'], 2, /names a mode twice/],
    [() => ['--authorization-mode=rbac'], 2, /choose one of Node, ABAC, RBAC/],
    [() => ['--authorization-policy-file=x'], 2, /--authorization-policy-file needs --authorization-mode=ABAC/],
    [() => ['--requestheader-client-ca-file=x'], 2, /needs --requestheader-username-headers/],
    [() => ['--requestheader-username-headers=X-User'], 2, /needs --requestheader-client-ca-file/],
    [() => ['--authorization-mode=ABAC', `--authorization-policy-file=${file('bad.jsonl', '\n{"kind":')}`], 1, /bad\.jsonl:2: is no JSON/], // prettier-ignore
    [() => ['--requestheader-client-ca-file', file('none.crt', 'no certificate'), '--requestheader-username-headers=X-User'], 1, /none\.crt.*holds no certificate/], // prettier-ignore
  ];
  for (const [flags, code, message] of wrong) {
    it(`does not start where ${message.source}`, async () => {
      const dataDir = scratchDirectory();
      const ended = await runProgram([
        'up',
        `--data-dir=${dataDir}`,
        '--secure-port=0',
        '--log-level=error',
        ...flags(),
      ]);
      removeDirectory(dataDir);
      assert.deepEqual([ended.code, ended.stdout], [code, '']);
      assert.match(ended.stderr, message);
    });
  }

  it('Node lets the agent of a node at what its pods need', async () => {
    const { server } = await start();
    const admin = client(server);
    clients.push(admin);
    const as = (name: string, group = 'system:nodes'): Readonly<Record<string, string>> => ({
      'impersonate-user': name,
      'impersonate-group': group,
    });
    const get = async (path: string, headers: Readonly<Record<string, string>>): Promise<number> =>
      (await admin.request('GET', path, { headers })).status;
    const secret = (name: string): string => `/api/v1/namespaces/default/secrets/${name}`;
    for (const name of ['needed', 'other']) {
      assert.equal((await admin.post('/api/v1/namespaces/default/secrets', { metadata: { name } })).status, 201);
    }
    const agent = as('system:node:n1');
    assert.equal(await get(secret('needed'), agent), 403);
    const volumes = [{ name: 'v', secret: { secretName: 'needed' } }];
    const spec = { nodeName: 'n1', volumes, containers: [{ name: 'c', image: 'i' }] };
    const pods = '/api/v1/namespaces/default/pods';
    assert.equal((await admin.post(pods, { metadata: { name: 'p' }, spec })).status, 201);
    assert.equal(await get(secret('needed'), agent), 200);
    assert.equal(await get(secret('other'), agent), 403);
    assert.equal(await get('/api/v1/namespaces/default/secrets', agent), 403);
    assert.equal(await get('/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dneeded', agent), 200);
    assert.equal(await get('/api/v1/pods', agent), 200);
    assert.equal(await get(secret('needed'), as('system:node:n2')), 403);
    const greedy = { metadata: { name: 'greedy' }, spec: { ...spec, volumes: [{ name: 'v', secret: { secretName: 'other' } }] } }; // prettier-ignore
    const tried = await admin.request('POST', pods, { body: greedy, headers: agent });
    assert.equal(tried.status, 403, 'an agent that made pods could reach every secret');
    assert.equal((await admin.request('DELETE', `${pods}/p`, { headers: as('system:node:n2') })).status, 403);
    assert.equal(await get(secret('needed'), as('system:node:n1', 'others')), 403);
    assert.equal((await admin.delete(`${pods}/p?gracePeriodSeconds=0`)).status, 200);
    assert.equal(await get(secret('needed'), agent), 403);
  });

  describe('with authorities of clients and of proxies', () => {
    const clientsCa = TestAuthority.root('/CN=clients');
    const laterCa = TestAuthority.root('/CN=clients of later');
    const proxiesCa = TestAuthority.root('/CN=proxies');
    after(() => [clientsCa, laterCa, proxiesCa].forEach((authority) => authority.remove()));

    /** On a connection that is kept for all requests of one agent. */
    const ask = async (server: Running, agent: Agent, headers: object = {}): Promise<[number, string]> => {
      const body = JSON.stringify(SELF_BODY);
      const res = await new Promise<IncomingMessage>((resolve, reject) => {
        const type = { 'content-type': 'application/json', 'content-length': body.length };
        const req = request(new URL(SELF, server.url), { method: 'POST', agent, timeout: 10_000, headers: { ...type, ...headers } }, resolve); // prettier-ignore
        req.once('error', reject);
        req.end(body);
      });
      const answer = await text(res);
      const { status } = JSON.parse(answer) as { status?: { userInfo?: { username: string } } };
      return [res.statusCode ?? 0, status?.userInfo?.username ?? ''];
    };

    it('knows clients and proxies, and follows the file of authorities on open connections too', async () => {
      const bundle = file('clients.crt', clientsCa.cert);
      const { server, ca } = await start(
        `--client-ca-file=${bundle}`,
        `--requestheader-client-ca-file=${file('proxies.crt', proxiesCa.cert)}`,
        '--requestheader-username-headers=X-Remote-User',
        '--requestheader-group-headers=X-Remote-Group',
        '--requestheader-allowed-names=front',
      );
      const agentOf = (pair?: Pair): Agent => new Agent({ ca, keepAlive: true, maxSockets: 1, ...pair });
      const alice = agentOf(clientsCa.issue('/CN=alice'));
      const later = agentOf(laterCa.issue('/CN=later'));
      const front = agentOf(proxiesCa.issue('/CN=front'));
      const back = agentOf(proxiesCa.issue('/CN=back'));
      try {
        const forged = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' };
        assert.deepEqual(await ask(server, alice, forged), [201, 'alice']);
        assert.deepEqual(await ask(server, later), [401, '']);
        assert.deepEqual(await ask(server, front, { 'x-remote-user': 'carol' }), [201, 'carol']);
        assert.deepEqual(await ask(server, front), [401, ''], 'the proxy itself is nobody');
        assert.deepEqual(await ask(server, back, forged), [401, '']);

        const admin = client(server);
        clients.push(admin);
        const published = '/api/v1/namespaces/platform-system/configmaps/extension-apiserver-authentication';
        const asRoot = { headers: { authorization: 'Bearer admin-token' } };
        const { data } = (await admin.request('GET', published, asRoot)).json() as unknown as { data: Record<string, string> }; // prettier-ignore
        assert.equal(data['client-ca-file']?.trim(), clientsCa.cert.trim());
        assert.equal(data['requestheader-client-ca-file']?.trim(), proxiesCa.cert.trim());
        assert.equal(data['requestheader-username-headers'], '["X-Remote-User"]');

        writeFileSync(bundle, laterCa.cert);
        const deadline = Date.now() + 20_000;
        while ((await ask(server, alice))[0] !== 401 && Date.now() < deadline) await new Promise((r) => setTimeout(r, 200)); // prettier-ignore
        assert.deepEqual(await ask(server, alice), [401, '']);
        const anew = agentOf(laterCa.issue('/CN=later'));
        assert.deepEqual(await ask(server, anew), [201, 'later']);
        anew.destroy();
        assert.match(readFileSync(bundle, 'utf8'), /BEGIN CERTIFICATE/);
      } finally {
        for (const agent of [alice, later, front, back]) agent.destroy();
      }
    });
  });
});
