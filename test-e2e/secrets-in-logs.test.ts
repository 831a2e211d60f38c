import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority } from '../services/client/testing/certificates.js';
import { execCredential, TestPlugin } from '../services/client/testing/plugin.js';
import { startTlsService, type TlsService } from '../services/client/testing/tls-service.js';
import { vocabulary } from '../services/machinery/vocabulary/vocabulary.js';
import { Client, type RequestOptions } from './api/tools/client.js';
import { created, eventually } from './api/tools/objects.js';
import { TestServer } from './api/tools/server.js';
import { KeyService } from './support/key-service.js';
import { removeDirectory, scratchDirectory } from './support/scratch.js';

const { groups, protocols } = vocabulary('platform');
const SECRETS = '/api/v1/namespaces/default/secrets';
const LOGGED_WITHIN_MS = 60_000;

/** Every secret that is made for this test, by what it is for. None has a form that gives it away. */
class Made {
  readonly all = new Map<string, string>();

  new(what: string): string {
    const secret = `hidden${randomBytes(12).toString('hex')}`;
    this.all.set(what, secret);
    return secret;
  }

  /** What of it is in a text, also as base64. */
  in(text: string): string[] {
    const forms = (secret: string): string[] => [secret, Buffer.from(secret).toString('base64').slice(2, 22)];
    return [...this.all]
      .filter(([, secret]) => forms(secret).some((form) => text.includes(form)))
      .map(([what]) => what);
  }
}

describe('secrets', function () {
  this.timeout(90_000);
  const made = new Made();
  const authority = new TestAuthority('gossips');
  const directory = scratchDirectory();
  const plugin = new TestPlugin('exit 1');
  const keys = new KeyService();
  const file = (name: string): string => join(directory, name);
  let service: TlsService;
  let server: TestServer;

  /** The configuration that leads to a service, whose answers repeat all that they were asked with. */
  const configured = (name: string, user: object): string => {
    writeFileSync(file('ca.crt'), authority.cert);
    const cluster = { server: `${service.url}/${name}`, 'certificate-authority': file('ca.crt') };
    const context = { cluster: 'c', user: 'u' };
    const config = {
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context }],
      'current-context': 'x',
    };
    writeFileSync(file(name), JSON.stringify(config));
    return file(name);
  };
  const encryption = (...providers: object[]): void =>
    writeFileSync(
      file('encryption'),
      JSON.stringify({
        kind: 'EncryptionConfiguration',
        apiVersion: `${groups.apiserverConfig}/v1`,
        resources: [{ resources: ['secrets'], providers }],
      }),
    );
  const kms = { kms: { apiVersion: 'v2', name: 'keys', endpoint: keys.endpoint, timeout: '1s' } };
  const told = (pattern: RegExp): Promise<true> =>
    eventually(() => Promise.resolve(pattern.test(server.log) ? true : undefined), LOGGED_WITHIN_MS);

  before(async () => {
    service = await startTlsService(authority.issue('gossip'), ({ headers, body }, res) => {
      const text = `I was told ${JSON.stringify(headers)} and ${body}`;
      res.writeHead(500, { 'content-type': 'text/plain' }).end(text);
    });
    await keys.start();
    encryption(kms, { aescbc: { keys: [{ name: 'k', secret: randomBytes(32).toString('base64') }] } });
    const exec = {
      apiVersion: `${groups.clientAuthentication}/v1`,
      command: plugin.path,
      interactiveMode: 'Never',
      env: [{ name: 'PASSWORD', value: made.new('variable of a plugin') }],
    };
    plugin.prints(execCredential({ token: made.new('token of a plugin') }));
    server = await TestServer.start({
      store: 'embedded',
      flags: [
        '--v=10',
        `--encryption-provider-config=${file('encryption')}`,
        '--encryption-provider-config-automatic-reload',
        '--authorization-mode=RBAC,Webhook',
        `--authentication-token-webhook-config-file=${configured('identify', { exec })}`,
        `--authorization-webhook-config-file=${configured('decide', { token: made.new('token for a webhook') })}`,
      ],
    });
    made.all.set('token of a client', server.client.token);
  });
  after(async () => {
    await server.close();
    await service.close();
    keys.stop();
    plugin.remove();
    authority.remove();
    removeDirectory(directory);
  });
  afterEach(async () => {
    assert.deepEqual(made.in(server.log), []);
    for (const path of ['/metrics', '/debug/flags', '/debug/status']) {
      const { code, text } = await server.client.get(path);
      assert.deepEqual([code, made.in(text)], [200, []], path);
    }
  });

  const ask = async (token: string, method: string, path: string, o: RequestOptions = {}): Promise<number> => {
    const client = new Client(server.client.url.href, token);
    try {
      return (await client.request(method, path, o)).code;
    } finally {
      client.close();
    }
  };

  it('of clients are not logged, wherever they put them', async () => {
    const own = server.client.token;
    const query = made.new('query');
    assert.equal(await ask(made.new('unknown token'), 'GET', '/api/v1/pods'), 401);
    await ask(own, 'GET', `/api/v1/pods?access_token=${query}&token=${query}&x=${query}&limit=7`);
    await ask(own, 'POST', `/api/v1/namespaces/default/pods/p/exec?command=login&command=${made.new('command')}`);
    await ask(own, 'GET', `/api/v1/namespaces/default/services/s/proxy/a?key=${made.new('query through a proxy')}`);
    const headers = {
      authorization: `Basic ${Buffer.from(`me:${made.new('basic password')}`).toString('base64')}`,
      cookie: `session=${made.new('cookie')}`,
      'proxy-authorization': `Basic ${made.new('proxy password')}`,
      'user-agent': 'gossip',
    };
    await ask('', 'GET', '/api', { headers });
    const bearer = `${protocols.bearerPrefix}${Buffer.from(made.new('token of a web socket')).toString('base64url')}`;
    const socket = https.get(new URL('/api/v1/pods?watch=1', server.client.url), {
      rejectUnauthorized: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-protocol': bearer,
      },
    });
    const [answer] = (await once(socket, 'response')) as [{ statusCode: number; resume(): void }];
    answer.resume();
    assert.equal(answer.statusCode, 401);
    await told(/limit=7[^\n]*"msg":"HTTP"/);
    await told(/"userAgent":"gossip"/);
    await told(/A service gives no answers that can be used/);
    await told(/Credentials refused/);
  });

  it('in objects are not logged, whatever is wrong with them', async () => {
    const own = server.client.token;
    const stringData = { password: made.new('secret') };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, stringData };
    created(await server.client.post(SECRETS, secret));
    const broken = `{"kind":"Secret","stringData":{"password":"${made.new('broken body')}"`;
    assert.equal(await ask(own, 'POST', SECRETS, { body: broken }), 400);
    const invalid = { ...secret, metadata: { name: 'No Name' }, stringData: { 'no key': made.new('invalid object') } };
    assert.equal(await ask(own, 'POST', SECRETS, { body: invalid }), 422);
    const patch = { data: { password: made.new('patch that is no base64') } };
    const type = 'application/merge-patch+json';
    assert.ok((await ask(own, 'PATCH', `${SECRETS}/one`, { body: patch, type })) >= 400);
    const account = '/api/v1/namespaces/default/serviceaccounts';
    created(await server.client.post(account, { metadata: { name: 'robot' } }));
    const { body } = await server.client.post(`${account}/robot/token`, { spec: {} });
    const { token } = body['status'] as { token: string };
    made.all.set('token of a service account', token);
    assert.equal(await ask(token, 'GET', SECRETS), 403);
    const review = { spec: { token: made.new('token to review') } };
    created(await server.client.post(`/apis/${groups.authentication}/v1/tokenreviews`, review));
    await told(/"verb":"POST","URI":"\/api\/v1\/namespaces\/default\/serviceaccounts\/robot\/token"/);
  });

  it('of plugins and services are not logged when these fail', async () => {
    plugin.becomes(`echo "no login for $PASSWORD" >&2; echo '${made.new('output of a plugin')}'; exit 3`);
    configured('identify', {
      exec: {
        apiVersion: `${groups.clientAuthentication}/v1`,
        command: plugin.path,
        interactiveMode: 'Never',
        env: [{ name: 'PASSWORD', value: made.new('another variable of a plugin') }],
      },
    });
    await eventually(async () => {
      assert.equal(await ask(made.new('another unknown token'), 'GET', '/api'), 401);
      return /exited with 3/.test(server.log) || plugin.runs.length > 1 ? true : undefined;
    }, LOGGED_WITHIN_MS);
    keys.complaint = `Authorization: Bearer ${made.new('what a key service says')}`;
    keys.fails.add('Decrypt');
    assert.deepEqual(made.in(server.log), []);
    await server.restart();
    await told(/A key of the store could not be decrypted/);
  });

  it('in files are not logged when these cannot be used', async () => {
    encryption({ aescbc: { keys: [{ name: 'k', secret: made.new('key that is none') }] } });
    await told(/The changed configuration of encryption cannot be used/);
    writeFileSync(join(server.directory, 'tokens.csv'), `${made.new('token in a broken line')},"unclosed\n`);
    writeFileSync(file('decide'), `{"users":[{"user":{"token":"${made.new('token in broken configuration')}"`);
    await told(/Changed files cannot be used yet/);
    assert.equal(await ask(made.new('one more token'), 'GET', '/api'), 401);
  });
});
