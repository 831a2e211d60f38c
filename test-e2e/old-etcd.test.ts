import assert from 'node:assert/strict';
import { startEtcd, type EtcdServer } from '../services/storage/testing/start-etcd.js';
import { client, type Client } from './support/client.js';
import { startPlatform, type Running } from './support/platform.js';

interface List {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** etcd 3.4 does not tell reliably how far its watches are: the newest state is read from etcd itself. */
describe('an etcd of version 3.4', function () {
  this.timeout(90_000);
  let etcd: EtcdServer;
  let server: Running;
  let api: Client;
  const list = async (query: string): Promise<List> =>
    (await api.get(`${CONFIG_MAPS}?${query}`)).json() as unknown as List;
  const create = (name: string): ReturnType<Client['post']> =>
    api.post(CONFIG_MAPS, { metadata: { name, labels: { odd: String(Number(name.slice(2)) % 2) } } });

  before(async () => {
    etcd = await startEtcd({ version: '3.4' });
    server = await startPlatform({ store: 'etcd', etcdServers: [etcd.url] });
    api = client(server);
  });
  after(async () => {
    api.close();
    await server.stop();
    await etcd.stop();
  });

  it('is named in the log', () => {
    assert.match(server.stderr(), /etcd 3\.4/);
  });

  it('shows each write to the next read', async () => {
    for (let i = 0; i < 20; i++) {
      assert.equal((await create(`w-${i}`)).status, 201);
      assert.equal((await api.get(`${CONFIG_MAPS}/w-${i}`)).status, 200);
      assert.equal((await list('')).items.length, i + 1);
    }
    assert.equal((await api.get(`${CONFIG_MAPS}/none`)).status, 404);
  });

  it('pages through one snapshot', async () => {
    const first = await list('limit=8');
    assert.equal(first.metadata.remainingItemCount, 12);
    await api.delete(`${CONFIG_MAPS}/w-9`);
    const names = first.items.map((i) => i.metadata.name);
    for (let token = first.metadata.continue; token !== undefined;) {
      const page = await list(`limit=8&continue=${token}`);
      assert.equal(page.metadata.resourceVersion, first.metadata.resourceVersion);
      names.push(...page.items.map((i) => i.metadata.name));
      token = page.metadata.continue;
    }
    assert.deepEqual(names, Array.from({ length: 20 }, (_, i) => `w-${i}`).sort());
  });

  it('selects, in pages too', async () => {
    const page = await list('labelSelector=odd%3D1&limit=3');
    assert.equal(page.items.length, 3);
    assert.equal(page.metadata.remainingItemCount, undefined);
    const rest = await list(`labelSelector=odd%3D1&limit=100&continue=${page.metadata.continue ?? ''}`);
    assert.equal(page.items.length + rest.items.length, 9);
  });
});
