import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { answerJson, startTlsService, type TlsService } from '../../services/client/testing/tls-service.js';
import { runProgram } from '../support/program.js';
import { scratchDirectory } from '../support/scratch.js';
import { Access, on, tokenFile } from './tools/access.js';
import { Client, type Reply } from './tools/client.js';
import { configMapsIn, created, newNamespace, ok, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';

const OWN = 'a-token-for-tests';

interface Question {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: {
    readonly token?: string;
    readonly audiences?: readonly string[];
    readonly user?: string;
    readonly group?: readonly string[];
    readonly groups?: readonly string[];
    readonly resourceAttributes?: Readonly<Record<string, unknown>>;
    readonly nonResourceAttributes?: Readonly<Record<string, string>>;
  };
}

/** `hooked-NAME` is a token of NAME. */
function identify({ spec: { token = '' } }: Question): object {
  if (token === 'hooked-broken') return { error: `cannot look up ${token}` };
  const [, name] = /^hooked-(.*)$/.exec(token) ?? [];
  if (name === undefined) return { authenticated: false };
  return { authenticated: true, user: { username: name, uid: `uid-${name}`, groups: ['hooked'], extra: { From: ['hook'] } } };
} // prettier-ignore

/** Every user may what has his name, and nothing that is called `never`. */
function decide({ spec: { user, resourceAttributes: { name } = {} } }: Question): object {
  if (name === 'never') return { allowed: false, denied: true, reason: 'nobody may' };
  if (name === user) return { allowed: true, reason: 'is his' };
  return { allowed: false, reason: 'not for the hook' };
}

for (const [words, version] of [
  ['platform', 'v1beta1'],
  ['kubernetes', 'v1'],
] as const) {
  describe(`services that know users and decide (${version}, words of ${words})`, function () {
    this.timeout(90_000);
    const authority = new TestAuthority('hooks');
    let hook: TlsService;
    let server: TestServer;
    const access = new Access(() => server, words);
    const { authentication, authorization } = access.words.groups;
    const clients: Client[] = [];
    let users = 0;

    before(async () => {
      hook = await startTlsService(authority.issue('hook'), ({ path, body }, res) => {
        const question = JSON.parse(body) as Question;
        const status = path === '/identify' ? identify(question) : decide(question);
        answerJson(res, { kind: question.kind, apiVersion: question.apiVersion, status });
      });
      server = await TestServer.start({
        store: 'embedded',
        flags: [
          `--token-auth-file=${tokenFile(OWN)}`,
          `--vocabulary=${words}`,
          `--authentication-token-webhook-config-file=${configFile('/identify')}`,
          `--authentication-token-webhook-version=${version}`,
          '--authorization-mode=Webhook,RBAC',
          `--authorization-webhook-config-file=${configFile('/decide')}`,
          `--authorization-webhook-version=${version}`,
        ],
      });
    });
    after(async () => {
      for (const client of clients) client.close();
      await server.close();
      await hook.close();
      authority.remove();
    });

    function configFile(path: string): string {
      const dir = scratchDirectory();
      const { cert, key } = authority.issue('the-server');
      for (const [name, text] of Object.entries({ 'ca.crt': authority.cert, 'tls.crt': cert, 'tls.key': key })) {
        writeFileSync(join(dir, name), text);
      }
      const config = {
        clusters: [{ name: 'c', cluster: { server: `${hook.url}${path}`, 'certificate-authority': 'ca.crt' } }],
        users: [{ name: 'u', user: { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      };
      writeFileSync(join(dir, 'config'), JSON.stringify(config));
      return join(dir, 'config');
    }

    const as = (token: string): Client => {
      const client = new Client(server.client.url.href, token);
      clients.push(client);
      return client;
    };
    const newName = (): string => `user-of-hook-${++users}`;
    const asked = (path: string): Question[] =>
      hook.received.filter((it) => it.path === path).map(({ body }) => JSON.parse(body) as Question);
    const whoAmI = (client: Client): Promise<Reply> =>
      client.post(`/apis/${authentication}/v1/selfsubjectreviews`, {
        apiVersion: `${authentication}/v1`,
        kind: 'SelfSubjectReview',
      });
    const statusOf = (reply: Reply): Record<string, unknown> => created(reply)['status'] as Record<string, unknown>;
    const tokenReview = async (spec: object): Promise<Record<string, unknown>> =>
      statusOf(
        await server.client.post(`/apis/${authentication}/v1/tokenreviews`, {
          apiVersion: `${authentication}/v1`,
          kind: 'TokenReview',
          spec,
        }),
      );
    const accessReview = async (client: Client, kind: string, spec: object): Promise<Record<string, unknown>> =>
      statusOf(
        await client.post(`/apis/${authorization}/v1/${kind.toLowerCase()}s`, {
          apiVersion: `${authorization}/v1`,
          kind,
          spec,
        }),
      );

    it('refuses tokens that the service does not know, and those that it cannot look up', async () => {
      const before = asked('/identify').length;
      refused(await whoAmI(as('nobody')), 401, 'Unauthorized');
      refused(await whoAmI(as('nobody')), 401, 'Unauthorized'); // which is remembered
      refused(await whoAmI(as('hooked-broken')), 401, 'Unauthorized');
      refused(await whoAmI(as('hooked-broken')), 401, 'Unauthorized'); // which is not
      assert.equal(asked('/identify').length - before, 3);
    });

    it('knows whom the service knows', async () => {
      const name = newName();
      const client = as(`hooked-${name}`);
      for (let i = 0; i < 3; i++) {
        const groups = ['hooked', 'system:authenticated'];
        const userInfo = { username: name, uid: `uid-${name}`, groups, extra: { From: ['hook'] } };
        assert.deepEqual(statusOf(await whoAmI(client)), { userInfo });
      }
      const mine = asked('/identify').filter(({ spec }) => spec.token === `hooked-${name}`);
      const [{ audiences } = assert.fail()] = mine.map(({ spec }) => spec);
      const apiVersion = `${authentication}/${version}`;
      assert.deepEqual(mine, [{ kind: 'TokenReview', apiVersion, spec: { token: `hooked-${name}`, audiences } }]);
      assert.ok(audiences !== undefined && audiences.length > 0);
      assert.deepEqual([...new Set(hook.received.map((it) => it.client))], ['the-server']);
    });

    it('asks it for reviews of tokens as well', async () => {
      const name = newName();
      const known = await tokenReview({ token: `hooked-${name}` });
      assert.deepEqual([known['authenticated'], (known['user'] as { username: string }).username], [true, name]);
      const before = asked('/identify').length;
      statusOf(await whoAmI(as(`hooked-${name}`)));
      assert.equal(asked('/identify').length, before);
      assert.ok(!((await tokenReview({ token: 'nobody' }))['authenticated'] ?? false));
      const others = await tokenReview({ token: `hooked-${name}`, audiences: ['https://other.example'] });
      assert.ok(!(others['authenticated'] ?? false)); // the service knows no audiences: it is meant for this server
      const broken = await tokenReview({ token: 'hooked-broken' });
      assert.equal(broken['error'], 'invalid bearer token, The authentication webhook: cannot look up [token]');
    });

    it('allows what the service allows, and asks once', async () => {
      const name = newName();
      const path = `${configMapsIn(await newNamespace(server.client))}/${name}`;
      const client = as(`hooked-${name}`);
      const before = asked('/decide').length;
      for (let i = 0; i < 3; i++) refused(await client.get(path), 404, 'NotFound');
      const member = version === 'v1' ? 'groups' : 'group';
      assert.deepEqual(asked('/decide').slice(before), [
        {
          kind: 'SubjectAccessReview',
          apiVersion: `${authorization}/${version}`,
          spec: {
            resourceAttributes: { namespace: path.split('/')[4], verb: 'get', version: 'v1', resource: 'configmaps', name },
            user: name,
            [member]: ['hooked', 'system:authenticated'],
            uid: `uid-${name}`,
            extra: { From: ['hook'] },
          },
        },
      ]); // prettier-ignore
    });

    it('tells it by what a list, a watch and a review select', async () => {
      const name = newName();
      const client = as(`hooked-${name}`);
      const path = configMapsIn('default');
      for (const query of ['', '&watch=true']) {
        refused(await client.get(`${path}?labelSelector=a%3Db%2C!c&fieldSelector=metadata.name!%3Dx${query}`), 403, 'Forbidden'); // prettier-ignore
      }
      const resourceAttributes = { verb: 'list', resource: 'secrets', name, labelSelector: { rawSelector: 'd in (e,f)' }, fieldSelector: { rawSelector: 'x' } }; // prettier-ignore
      const { status } = created(
        await server.client.post(`/apis/${authorization}/v1/subjectaccessreviews`, {
          spec: { user: name, resourceAttributes },
        }),
      );
      const left = 'spec.resourceAttributes.fieldSelector ignored due to parse error';
      assert.deepEqual(status, { allowed: true, reason: 'is his', evaluationError: left });
      const fieldSelector = { requirements: [{ key: 'metadata.name', operator: 'NotIn', values: ['x'] }] };
      const labelSelector = {
        requirements: [
          { key: 'a', operator: 'In', values: ['b'] },
          { key: 'c', operator: 'DoesNotExist' },
        ],
      };
      const about = { namespace: 'default', version: 'v1', resource: 'configmaps', fieldSelector, labelSelector };
      const given = { requirements: [{ key: 'd', operator: 'In', values: ['e', 'f'] }] };
      assert.deepEqual(
        asked('/decide').filter(({ spec }) => spec.user === name).map(({ spec }) => spec.resourceAttributes),
        [{ ...about, verb: 'list' }, { ...about, verb: 'watch' }, { verb: 'list', resource: 'secrets', name, labelSelector: given }],
      ); // prettier-ignore
    });

    it('refuses what the service denies, whatever roles say, and leaves the rest to them', async () => {
      const { client, name, namespace } = await access.newUser();
      const path = configMapsIn(namespace);
      refused(await client.get(`${path}/a`), 403, 'Forbidden', /cannot get resource .* not for the hook/);
      refused(await client.get(`${path}/never`), 403, 'Forbidden', /: nobody may/);
      await access.grant(name, namespace, on('get', 'configmaps'));
      refused(await client.get(`${path}/b`), 404, 'NotFound');
      refused(await client.get(`${path}/never`), 403, 'Forbidden', /: nobody may/);
    });

    it('shows in reviews what the service says', async () => {
      const { client, name } = await access.newUser();
      const about = (of: string): object => ({ resourceAttributes: { verb: 'get', resource: 'nodes', name: of } });
      const self = (of: string): Promise<object> => accessReview(client, 'SelfSubjectAccessReview', about(of));
      assert.deepEqual(await self(name), { allowed: true, reason: 'is his' });
      assert.deepEqual(await self('never'), { allowed: false, denied: true, reason: 'nobody may' });
      assert.deepEqual(await self('other'), { allowed: false, reason: 'not for the hook' });
      const rules = await accessReview(client, 'SelfSubjectRulesReview', { namespace: 'default' });
      assert.equal(rules['incomplete'], true);
      assert.match(String(rules['evaluationError']), /does not support user rule resolution/);
    });

    it('asks it nothing about the first administrators', async () => {
      const before = asked('/decide').length;
      ok(await server.client.get('/api/v1/nodes'));
      refused(await server.client.get('/api/v1/nodes/never'), 404, 'NotFound');
      assert.equal(asked('/decide').length, before);
    });

    it('counts what it asks', async () => {
      assert.ok((await server.metric('apiserver_delegated_authn_request_total', { code: '200' })) > 0);
      assert.ok((await server.metric('apiserver_delegated_authz_request_duration_seconds_count', { code: '200' })) > 0);
      assert.ok((await server.metric('authentication_token_cache_request_total', { status: 'hit' })) > 0);
      assert.equal(await server.metric('apiserver_breaker_state', { name: 'authorization webhook', state: 'open' }), 0);
    });

    describe('when the service is gone', () => {
      before(() => hook.close());

      it('lets nobody in whom it does not remember, and says so soon', async () => {
        const known = as('hooked-user-of-hook-1');
        const strangers = Array.from({ length: 12 }, (_, i) => as(`hooked-stranger-${i}`));
        for (const reply of await Promise.all(strangers.map(whoAmI))) refused(reply, 401, 'Unauthorized');
        const questions = (): Promise<number> => server.metric('apiserver_delegated_authn_request_total');
        const before = await questions();
        refused(await whoAmI(as('hooked-last')), 401, 'Unauthorized');
        assert.equal(await questions(), before); // a service that is down is not asked
        statusOf(await whoAmI(known));
        assert.equal(
          await server.metric('apiserver_breaker_state', { name: 'authentication webhook', state: 'open' }),
          1,
        );
      });

      it('lets roles decide', async () => {
        const { client, name, namespace } = await access.newUser();
        await access.grant(name, namespace, on('get', 'configmaps'));
        const paths = Array.from({ length: 12 }, (_, i) => `${configMapsIn(namespace)}/c-${i}`);
        for (const reply of await Promise.all(paths.map((path) => client.get(path)))) refused(reply, 404, 'NotFound');
        refused(await client.get(`${configMapsIn(namespace)}/never`), 404, 'NotFound'); // nobody denies it now
        const secret = `/api/v1/namespaces/${namespace}/secrets/${name}`; // the service would have allowed it
        refused(await client.get(secret), 403, 'Forbidden');
        const about = { resourceAttributes: { verb: 'get', resource: 'secrets', name, namespace } };
        const { allowed, evaluationError } = await accessReview(client, 'SelfSubjectAccessReview', about);
        assert.equal(allowed, false);
        assert.match(String(evaluationError), /authorization webhook: is not asked for a while|nobody listens there/);
      });

      it('tells the operator, and no token to anybody', async () => {
        assert.match(server.log, /"service":"authentication webhook".*gives no answers/);
        assert.doesNotMatch(server.log, /hooked-/);
        assert.doesNotMatch((await server.client.get('/metrics')).text, /hooked-/);
      });
    });
  });
}

describe('a service that knows users or decides', function () {
  this.timeout(90_000);
  for (const [what, content, message] of [
    ['there is none', undefined, /^platform up: Cannot start: .*config: does not exist/],
    ['it is no configuration', '[]', /^platform up: Cannot start: .*config: /],
    [
      'it leads nowhere safe',
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: 'http://localhost' } }],
        contexts: [{ name: 'x', context: { cluster: 'c' } }],
        'current-context': 'x',
      }),
      /^platform up: Cannot start: .*config: .*https/,
    ],
  ] as const) {
    for (const flags of [
      ['--authentication-token-webhook-config-file'],
      ['--authorization-mode=Webhook', '--authorization-webhook-config-file'],
    ]) {
      it(`is not asked by the file of ${flags.at(-1)} when ${what}`, async () => {
        const dir = scratchDirectory();
        const config = join(dir, 'config');
        if (content !== undefined) writeFileSync(config, content);
        const args = ['up', `--data-dir=${join(dir, 'data')}`, '--secure-port=0', '--log-level=error'];
        const { code, stderr } = await runProgram([...args, ...flags.slice(0, -1), `${flags.at(-1)}=${config}`]);
        assert.equal(code, 1);
        assert.match(stderr, message);
        assert.equal(stderr.trim().split('\n').length, 1);
      });
    }
  }
});
