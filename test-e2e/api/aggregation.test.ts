import assert from 'node:assert/strict';
import { Access, tokenFile } from './tools/access.js';
import { seenBy, WEBSOCKET } from './tools/connecting.js';
import type { Document } from './tools/document.js';
import { ExtensionServer, FLUNDERS, GROUP } from './tools/extension-server.js';
import { created, eventually, ok, refused } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { TestServer } from './tools/server.js';
import { deadPort } from './tools/targets.js';

const API_SERVICES = '/apis/apiregistration.platform.io/v1/apiservices';
const NAME = `v1.${GROUP}`;
const TOKEN = 'a-token-for-tests';
/** A name in UTF-8, each byte as a character: how headers are written. */
const UTF8 = Buffer.from('j\u00e4ne').toString('latin1');

describe('APIServices', function () {
  this.timeout(90_000);
  const far = new ExtensionServer();
  let server: TestServer;
  let access: Access;

  before(async () => {
    await far.start();
    const flags = [...far.flags(), `--token-auth-file=${tokenFile(TOKEN)}`, '--proxy-answer-timeout=20s'];
    server = await TestServer.start({ store: 'embedded', flags });
    access = new Access(() => server, 'platform');
    await far.serve(server.client);
    created(await server.client.post(API_SERVICES, far.apiService()));
    await condition('Passed');
  });
  after(async () => {
    await server.close();
    await far.close();
  });

  interface Condition {
    readonly type?: string;
    readonly status?: string;
    readonly reason?: string;
    readonly message?: string;
  }
  const conditionOf = ({ status }: Document): Condition =>
    (status as { conditions?: Condition[] } | undefined)?.conditions?.find(({ type }) => type === 'Available') ?? {};
  const condition = (reason: string, name = NAME): Promise<Condition> =>
    eventually(async () => {
      const found = conditionOf(ok(await server.client.get(`${API_SERVICES}/${name}`)));
      return found.reason === reason ? found : undefined;
    }, 40_000);

  describe('proxy', () => {
    it('shows the certificate of the proxy and tells who asks, with groups and attributes', async () => {
      const { client } = server;
      const seen = seenBy(await client.request('POST', `${FLUNDERS}?dryRun=All&x=%2F`, { body: { a: 1 }, headers: { accept: 'application/x-own, */*' } })); // prettier-ignore
      assert.equal(seen.subject, 'front-proxy-client');
      assert.deepEqual([seen.method, seen.url, seen.body], ['POST', `${FLUNDERS}?dryRun=All&x=%2F`, '{"a":1}']);
      const { headers } = seen;
      assert.equal(headers['x-remote-user'], 'tester');
      assert.equal(headers['x-remote-group'], 'system:masters, system:authenticated');
      assert.equal(headers['accept'], 'application/x-own, */*');
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(headers.authorization, undefined);
    });

    it('tells of the one who is acted as, whose attributes are escaped, and passes no header on that tells of another', async () => {
      const seen = seenBy(
        await server.client.request('PUT', `${FLUNDERS}/x`, {
          body: {},
          headers: {
            'Impersonate-User': UTF8,
            'Impersonate-Group': 'system:masters',
            'Impersonate-Extra-Example.com%2FScope': 'a b',
            'X-REMOTE-USER': 'root',
            x_remote_user: 'root',
            'X-Remote_Group': 'system:masters',
            'X-Remote-Extra-Scopes': 'all',
            'X-Remote-Uid': '0',
            Impersonate_User: 'root',
          },
        }),
      );
      const told = Object.entries(seen.headers).filter(([name]) => /remote|impersonate|authorization/.test(name));
      assert.deepEqual(Object.fromEntries(told), {
        'x-remote-user': UTF8,
        'x-remote-group': 'system:masters, system:authenticated',
        'x-remote-extra-example.com%2fscope': 'a b',
      });
    });

    it('asks authorization first', async () => {
      const { client, name } = await access.newUser();
      const before = far.target.seen.length;
      refused(await client.get(FLUNDERS), 403, 'Forbidden', /cannot list resource "flunders" in API group "far.example.com"/); // prettier-ignore
      refused(await client.get(`${FLUNDERS}/a/console/deep/below`), 403, 'Forbidden', /flunders\/console/);
      const own = far.target.seen.slice(before).filter(({ headers }) => headers['x-remote-user'] === name);
      assert.deepEqual(own, []);
      await access.grant(name, 'default', { apiGroups: [GROUP], resources: ['flunders'], verbs: ['list'] });
      const reply = await eventually(async () => {
        const it = await client.get(FLUNDERS);
        return it.code === 200 ? it : undefined;
      });
      assert.equal(reply.body.items.length, 2);
      refused(await client.get(`${FLUNDERS}/a`), 403, 'Forbidden');
    });

    it('passes nothing on that its reader could take for another path', async () => {
      const { client } = server;
      for (const path of [
        `/apis/${GROUP}/v1/namespaces/default/flunders%2Fa`,
        `${FLUNDERS}/%2e%2e/secrets`,
        `/apis/${GROUP}/v1//flunders`,
      ]) {
        // prettier-ignore
        const before = far.target.seen.length;
        const { code } = await client.get(path);
        assert.ok([400, 404].includes(code), `${path}: ${code}`);
        assert.deepEqual(far.target.seen.slice(before).filter(({ headers }) => headers['x-remote-user'] === 'tester'), []); // prettier-ignore
      }
      assert.equal(
        seenBy(await client.get(`${FLUNDERS}/a/proxy/b%2Fc//d?e=f`)).url,
        `${FLUNDERS}/a/proxy/b%2Fc//d?e=f`,
      );
    });

    it('streams a watch, which ends when either side leaves', async () => {
      const watch = await server.client.watch(`${FLUNDERS}?watch=true`);
      await eventually(() => Promise.resolve(far.watches.size === 1 ? true : undefined));
      far.tell('ADDED', 'a');
      assert.equal((await watch.next()).object.metadata.name, 'a');
      for (const res of far.watches) res.end();
      assert.equal(await watch.ended, 'end');
      const other = await server.client.watch(`${FLUNDERS}?watch=true`);
      await eventually(() => Promise.resolve(far.watches.size === 1 ? true : undefined));
      other.close();
      await eventually(() => Promise.resolve(far.watches.size === 0 ? true : undefined));
    });

    it('joins connections that go on in another protocol', async () => {
      const raw = await RawConnection.open(server.client);
      raw.send(`${requestHead(server.client, 'GET', `${FLUNDERS}/a/console?a=b`, WEBSOCKET)}early;`);
      await raw.until(/101 Switching Protocols\r\n(?:.*\r\n)*\r\nhello;early;$/);
      const seen = far.target.seen.findLast(({ url }) => url.includes('/console'));
      assert.deepEqual([seen?.headers['x-remote-user'], seen?.headers.authorization, seen?.subject], ['tester', undefined, 'front-proxy-client']); // prettier-ignore
      raw.destroy();
    });

    it('follows no redirect, and passes none on', async () => {
      far.answers.set(`${FLUNDERS}/moved`, (_req, res) => void res.writeHead(302, { location: 'https://169.254.169.254/' }).end()); // prettier-ignore
      refused(await server.client.get(`${FLUNDERS}/moved`), 502, 'InternalError', /redirect/);
    });
  });

  describe('discovery', () => {
    const V2 = 'application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList';
    interface Group {
      readonly metadata: { readonly name: string };
      readonly versions: readonly { readonly version: string; readonly freshness: string; readonly resources: readonly { readonly resource: string }[] }[]; // prettier-ignore
    }
    const groups = async (): Promise<Group[]> =>
      (ok(await server.client.get('/apis', { accept: V2 })) as unknown as { items: Group[] }).items;
    const told = async (): Promise<Group | undefined> =>
      (await groups()).find(
        ({ metadata, versions }) => metadata.name === GROUP && versions[0]?.freshness === 'Current',
      );

    it('tells of them in their place, in all forms', async () => {
      const group = await eventually(told, 20_000);
      assert.deepEqual(group.versions.map(({ version }) => version), ['v1']); // prettier-ignore
      assert.deepEqual(group.versions[0]?.resources, [
        {
          resource: 'flunders',
          responseKind: { group: GROUP, version: 'v1', kind: 'Flunder' },
          scope: 'Namespaced',
          singularResource: 'flunder',
          verbs: ['create', 'delete', 'get', 'list', 'watch'],
          shortNames: ['fl'],
          subresources: [{ subresource: 'console', responseKind: { group: '', version: '', kind: 'Flunder' }, verbs: ['get'] }],
        },
      ]); // prettier-ignore
      const names = (await groups()).map(({ metadata }) => metadata.name);
      assert.equal(names.at(-1), GROUP);
      assert.equal(names.filter((name) => name === 'apps').length, 1);
      const plain = ok(await server.client.get('/apis')) as unknown as {
        groups: { name: string; preferredVersion: object }[];
      };
      assert.deepEqual(plain.groups.map(({ name }) => name), names); // prettier-ignore
      assert.deepEqual(plain.groups.at(-1)?.preferredVersion, { groupVersion: `${GROUP}/v1`, version: 'v1' });
      assert.equal(ok(await server.client.get(`/apis/${GROUP}`)).kind, 'APIGroup');
      assert.equal(ok(await server.client.get(`/apis/${GROUP}/v1`))['groupVersion'], `${GROUP}/v1`);
    });

    it('is told of as it was while they are away, and read in the form of old where there is no other', async () => {
      const { client } = server;
      const path = `${API_SERVICES}/v2.${GROUP}`;
      far.answers.set(`/apis/${GROUP}/v2`, (_req, res) => void res.end(JSON.stringify({ kind: 'APIResourceList', resources: [{ name: 'sharks', kind: 'Shark', namespaced: false, verbs: ['get'] }] }))); // prettier-ignore
      created(await client.post(API_SERVICES, far.apiService(GROUP, 'v2', { versionPriority: 20 })));
      const versions = (): Promise<string> =>
        groups().then((all) => (all.find(({ metadata }) => metadata.name === GROUP)?.versions ?? []).map((it) => `${it.version} ${it.freshness} ${it.resources.map(({ resource }) => resource).join()}`).join('; ')); // prettier-ignore
      const shows = (text: string): Promise<true> =>
        eventually(async () => ((await versions()) === text ? true : undefined), 20_000);
      await shows('v2 Current sharks; v1 Current flunders');
      ok(await client.patch(path, { spec: { service: { namespace: 'default', name: 'gone' } } }));
      await shows('v2 Stale ; v1 Current flunders');
      ok(await client.delete(path));
      await shows('v1 Current flunders');
      far.answers.delete(`/apis/${GROUP}/v2`);
    });

    it('tells of their schemas, in both versions', async () => {
      const { client } = server;
      const path = `apis/${GROUP}/v1`;
      const index = await eventually(async () => {
        const { paths } = ok(await client.get('/openapi/v3')) as unknown as { paths: Record<string, { serverRelativeURL: string }> }; // prettier-ignore
        return paths[path]?.serverRelativeURL;
      }, 20_000);
      assert.equal(index, `/openapi/v3/${path}?hash=15`);
      assert.match((await client.get(index)).text, /A kind of fish/);
      const two = await client.get('/openapi/v2');
      const { paths, definitions } = two.body as unknown as { paths: object; definitions: Record<string, unknown> };
      assert.ok(`/${path}/namespaces/{namespace}/flunders/{name}` in paths);
      assert.ok('com.example.far.v1.Flunder' in definitions && 'shared.Spec' in definitions);
      assert.notDeepEqual(Object.keys((paths as Record<string, object>)['/apis/apps/v1/deployments'] ?? {}), ['get']);
      const protobuf = await client.get('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' }); // prettier-ignore
      assert.match(protobuf.text, /com\.example\.far\.v1\.Flunder/);
    });
  });

  it('never stand before what is served here', async () => {
    const { client } = server;
    for (const [group, version] of [
      ['rbac.authorization.platform.io', 'v1'],
      ['apps', 'v1'],
    ] as const) {
      const path = `${API_SERVICES}/${version}.${group}`;
      ok(await client.patch(path, far.apiService(group, version)));
      assert.equal(ok(await client.get(`/apis/${group}/${version}`)).kind, 'APIResourceList');
      await condition('Passed', `${version}.${group}`);
      const before = far.target.seen.length;
      const kind = group === 'apps' ? 'deployments' : 'clusterroles';
      assert.match(ok(await client.get(`/apis/${group}/${version}/${kind}`)).kind, /List$/);
      const asked = far.target.seen.slice(before).filter(({ headers }) => headers['x-remote-user'] === 'tester');
      assert.deepEqual(asked, []);
      ok(await client.delete(path));
    }
  });

  it('are away when nobody answers, and come back', async () => {
    const { client } = server;
    const endpoints = '/api/v1/namespaces/default/endpoints/far';
    const to = (port: number): object => ({ subsets: [{ addresses: ok0(endpointsNow).subsets[0]?.addresses, ports: [{ port, name: 'https' }] }] }); // prettier-ignore
    const endpointsNow = await client.get(endpoints);
    ok(await client.patch(endpoints, to(await deadPort())));
    const away = refused(await client.get(FLUNDERS), 503, 'ServiceUnavailable');
    assert.equal(away.message, 'service unavailable');
    const { status, message = '' } = await condition('FailedDiscoveryCheck');
    assert.equal(status, 'False');
    assert.match(message, /^failing or missing response from https:\/\/far\.default\.svc:443\/apis\/far\.example\.com\/v1: connect: connection refused$/); // prettier-ignore
    assert.equal(refused(await client.get(FLUNDERS), 503, 'ServiceUnavailable').message, 'service unavailable');
    ok(await client.patch(endpoints, { subsets: [] }));
    await condition('MissingEndpoints');
    const metrics = (await client.get('/metrics')).text;
    assert.match(metrics, /aggregator_unavailable_apiservice\{name="v1\.far\.example\.com"\} 1/);
    assert.match(metrics, /aggregator_unavailable_apiservice_total\{name="v1\.far\.example\.com",reason="FailedDiscoveryCheck"\} [1-9]/); // prettier-ignore
    ok(await client.patch(endpoints, to(far.target.port)));
    await condition('Passed');
    assert.equal(ok(await client.get(FLUNDERS)).kind, 'FlunderList');
  });

  it('are asked nothing while they do not answer what every server has to', async () => {
    const { client } = server;
    far.answers.set(`/apis/${GROUP}/v1`, (_req, res) => void res.writeHead(500).end());
    const look = async (): Promise<void> =>
      void ok(await client.patch('/api/v1/namespaces/default/endpoints/far', { metadata: { annotations: { look: `${Date.now()}` } } })); // prettier-ignore
    await look();
    const { message = '' } = await condition('FailedDiscoveryCheck');
    assert.match(message, /: bad status: 500$/);
    refused(await client.get(FLUNDERS), 503, 'ServiceUnavailable', /^service unavailable$/);
    far.answers.delete(`/apis/${GROUP}/v1`);
    await look();
    await condition('Passed');
    assert.equal(ok(await client.get(FLUNDERS)).kind, 'FlunderList');
  });

  it('are not believed with another certificate', async () => {
    const { client } = server;
    ok(await client.patch(`${API_SERVICES}/${NAME}`, { spec: { caBundle: Buffer.from(far.proxies.cert).toString('base64') } })); // prettier-ignore
    await condition('FailedDiscoveryCheck');
    refused(await client.get(FLUNDERS), 503, 'ServiceUnavailable');
    ok(await client.patch(`${API_SERVICES}/${NAME}`, { spec: { caBundle: null, insecureSkipTLSVerify: true } }));
    await condition('Passed');
    ok(
      await client.patch(`${API_SERVICES}/${NAME}`, { spec: { caBundle: far.caBundle, insecureSkipTLSVerify: false } }),
    );
    await condition('Passed');
  });

  it('have no service, or one that does not listen there', async () => {
    const { client } = server;
    const spec = { service: { namespace: 'default', name: 'nobody' } };
    created(await client.post(API_SERVICES, far.apiService('nobody.example.com', 'v1', spec)));
    const { message } = await condition('ServiceNotFound', 'v1.nobody.example.com');
    assert.equal(message, 'service/nobody in "default" is not present');
    ok(await client.patch(`${API_SERVICES}/v1.nobody.example.com`, { spec: { service: { name: 'far', port: 444 } } }));
    await condition('ServicePortError', 'v1.nobody.example.com');
    ok(await client.delete(`${API_SERVICES}/v1.nobody.example.com`));
    refused(await client.get('/apis/nobody.example.com/v1/x'), 404, 'NotFound');
  });
});

const ok0 = (reply: { readonly text: string }): { readonly subsets: { readonly addresses: object[] }[] } =>
  JSON.parse(reply.text) as { readonly subsets: { readonly addresses: object[] }[] };
