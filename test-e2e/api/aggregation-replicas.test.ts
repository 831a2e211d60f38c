import assert from 'node:assert/strict';
import { seenBy } from './tools/connecting.js';
import type { Document } from './tools/document.js';
import { ExtensionServer, FLUNDERS, GROUP } from './tools/extension-server.js';
import { created, eventually, ok, refused } from './tools/objects.js';
import { TestServer } from './tools/server.js';
import { deadPort, ownAddress } from './tools/targets.js';

const API_SERVICES = '/apis/apiregistration.platform.io/v1/apiservices';

interface Condition {
  readonly status?: string;
  readonly reason?: string;
}

describe('APIServices behind several servers of one store', function () {
  this.timeout(120_000);
  const far = new ExtensionServer();
  let servers: TestServer[] = [];

  before(async () => {
    await far.start();
    const one = await TestServer.start({ store: 'etcd', flags: far.flags() });
    servers = [one];
    servers.push(await TestServer.start({ store: 'etcd', etcdUrl: one.etcd?.url ?? '', flags: far.flags() }));
    await far.serve(one.client);
    created(await one.client.post(API_SERVICES, far.apiService()));
  });
  after(async () => {
    for (const it of servers.toReversed()) await it.close();
    await far.close();
  });

  const last = (): TestServer => servers.at(-1) ?? assert.fail();
  const conditionOf = ({ status }: Document): Condition =>
    (status as { conditions?: Condition[] } | undefined)?.conditions?.[0] ?? {};
  const all = async (reason: string, of = servers): Promise<void> => {
    for (const { client } of of) {
      await eventually(async () => {
        const found = conditionOf(ok(await client.get(`${API_SERVICES}/v1.${GROUP}`)));
        return found.reason === reason ? true : undefined;
      }, 60_000);
    }
  };
  const leadTo = async (port: number): Promise<void> => {
    const subsets = [{ addresses: [{ ip: ownAddress() }], ports: [{ port, name: 'https' }] }];
    ok(await last().client.patch('/api/v1/namespaces/default/endpoints/far', { subsets })); // prettier-ignore
  };
  const version = async (): Promise<string> => {
    const { metadata } = ok(await last().client.get(`${API_SERVICES}/v1.${GROUP}`)); // prettier-ignore
    return metadata.resourceVersion;
  };

  it('are handed on by each of them, with one condition', async () => {
    await all('Passed');
    for (const { client } of servers) {
      await eventually(async () => ((await client.get(FLUNDERS)).code === 200 ? true : undefined));
      assert.equal(seenBy(await client.post(FLUNDERS, {})).headers['x-remote-user'], 'tester');
    }
    const before = await version();
    for (const { client } of servers) {
      ok(await client.patch('/api/v1/namespaces/default/endpoints/far', { metadata: { annotations: { look: client.url.port } } })); // prettier-ignore
      ok(await client.get(FLUNDERS));
    }
    assert.equal(await version(), before);
  });

  it('are away, and back, for all of them', async () => {
    await leadTo(await deadPort());
    await all('FailedDiscoveryCheck');
    for (const { client } of servers) {
      assert.equal(refused(await client.get(FLUNDERS), 503, 'ServiceUnavailable').message, 'service unavailable');
      await eventually(async () => {
        const { text } = await client.get('/metrics');
        return text.includes(`aggregator_unavailable_apiservice{name="v1.${GROUP}"} 1`) ? true : undefined;
      });
    }
    await leadTo(far.target.port);
    await all('Passed');
    for (const { client } of servers) {
      await eventually(async () => ((await client.get(FLUNDERS)).code === 200 ? true : undefined));
    }
  });

  it('are looked after by those that are left', async () => {
    const left = servers.slice(1);
    await servers[0]?.end();
    await leadTo(await deadPort());
    await all('FailedDiscoveryCheck', left);
    await leadTo(far.target.port);
    await all('Passed', left);
    for (const { client } of left) assert.equal(ok(await client.get(FLUNDERS)).kind, 'FlunderList');
  });
});
