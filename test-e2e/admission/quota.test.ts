import assert from 'node:assert/strict';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import type { Client } from '../api/tools/client.js';
import { configMap, configMapsIn, created, newNamespace, ok } from '../api/tools/objects.js';
import { STORES, TestServer } from '../api/tools/server.js';

const LIMIT = 50;
const MANY = 200;
const ROUNDS = 20;

const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': String(LIMIT) } } }; // prettier-ignore

interface Outcome {
  readonly code: number | undefined;
  readonly name: string;
}

/** Asks all of them at once, by turns. A request without an answer has no code. */
function createMany(clients: readonly Client[], namespace: string): Promise<Outcome>[] {
  return Array.from({ length: MANY }, async (_, i) => {
    const name = `c-${i}`;
    const client = clients[i % clients.length] ?? assert.fail();
    const reply = await client.post(configMapsIn(namespace), configMap(name)).catch(() => undefined);
    return { code: reply?.code, name };
  });
}

const namesIn = async (client: Client, namespace: string): Promise<string[]> =>
  ok(await client.get(configMapsIn(namespace))).items.map(({ metadata }) => metadata.name);

const usedIn = async (client: Client, namespace: string): Promise<string> => {
  const { status } = ok(await client.get(`/api/v1/namespaces/${namespace}/resourcequotas/q`));
  return (status as { used: Record<string, string> }).used['count/configmaps'] ?? '';
};

/** @returns The namespace, when every server knows of its quota. */
async function withQuota(servers: readonly TestServer[]): Promise<string> {
  const [{ client }] = servers as [TestServer];
  const namespace = await newNamespace(client);
  created(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, quota));
  // A consistent read of the cache: it is at least as new as the quota.
  for (const server of servers) ok(await server.client.get(`/api/v1/namespaces/${namespace}/resourcequotas/q`));
  return namespace;
}

describe('quotas with two servers on one etcd', function () {
  this.timeout(180_000);
  let etcd: EtcdServer;
  let servers: TestServer[];
  beforeEach(async () => {
    etcd = await startEtcd();
    const start = (): Promise<TestServer> => TestServer.start({ store: 'etcd', etcdUrl: etcd.url });
    servers = await Promise.all([start(), start()]);
  });
  afterEach(async () => {
    for (const server of servers) await server.close();
    await etcd.stop();
  });

  it(`let exactly ${LIMIT} of ${MANY} pass, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const namespace = await withQuota(servers);
      const outcomes = await Promise.all(createMany(servers.map((server) => server.client), namespace)); // prettier-ignore
      const passed = outcomes.filter(({ code }) => code === 201);
      assert.equal(passed.length, LIMIT, `round ${round}`);
      assert.ok(outcomes.every(({ code }) => code === 201 || code === 403));
      for (const { client } of servers) {
        assert.deepEqual((await namesIn(client, namespace)).sort(), passed.map(({ name }) => name).sort());
        assert.equal(await usedIn(client, namespace), String(LIMIT));
      }
    }
  });

  it('leave no place lost or given twice when one of them is killed', async () => {
    const [one, two] = servers as [TestServer, TestServer];
    for (let round = 0; round < 5; round++) {
      const namespace = await withQuota(servers);
      const all = createMany([one.client, two.client], namespace);
      await Promise.race(all.slice(0, 20)); // some are written, most are under way
      process.kill(two.pid, 'SIGKILL');
      const outcomes = await Promise.all(all);
      const names = new Set(await namesIn(one.client, namespace));
      const lost = outcomes.filter(({ code, name }) => code === 201 && !names.has(name));
      assert.deepEqual(lost, []);
      assert.ok(names.size <= LIMIT, `${names.size} objects`);
      assert.equal(await usedIn(one.client, namespace), String(names.size));
      // What the killed one has not taken is still there for others.
      const more = await Promise.all(Array.from({ length: LIMIT }, (_, i) => one.client.post(configMapsIn(namespace), configMap(`m-${i}`)))); // prettier-ignore
      assert.equal(more.filter(({ code }) => code === 201).length, LIMIT - names.size);
      await two.restart();
    }
  });
});

for (const store of STORES) {
  describe(`quotas on ${store}`, function () {
    this.timeout(90_000);
    let server: TestServer;
    before(async () => {
      server = await TestServer.start({ store });
    });
    after(() => server.close());

    it('hold after the server was killed', async () => {
      const namespace = await withQuota([server]);
      const { client } = server;
      for (let i = 0; i < 3; i++) created(await client.post(configMapsIn(namespace), configMap(`c-${i}`)));
      process.kill(server.pid, 'SIGKILL');
      await server.restart();
      assert.equal(await usedIn(client, namespace), '3');
      ok(await client.delete(`${configMapsIn(namespace)}/c-1`));
      assert.equal(await usedIn(client, namespace), '2');
    });
  });
}
