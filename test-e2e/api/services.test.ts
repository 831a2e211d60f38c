import assert from 'node:assert/strict';
import { freePorts } from '../../services/machinery/testing/free-port.js';
import { openEtcdStore } from '../../services/storage/etcd/store.js';
import type { KeyValueStore } from '../../services/storage/store.js';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import type { Client } from './tools/client.js';
import type { Document } from './tools/document.js';
import { created, eventually, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, TestServer } from './tools/server.js';

interface Spec {
  readonly clusterIP: string;
  readonly clusterIPs: readonly string[];
  readonly ipFamilies: readonly string[];
  readonly ports: readonly { readonly nodePort?: number; readonly targetPort?: number }[];
}
const specOf = ({ spec }: Document): Spec => spec as unknown as Spec;
const nodePortOf = (service: Document): number => specOf(service).ports[0]?.nodePort ?? 0;

const servicesIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`;
const service = (name: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});
const onNodes = (nodePort?: number): object => ({
  type: 'NodePort',
  ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }],
});

const FLAGS = ['--service-cluster-ip-range=10.96.0.0/24,fd00:10::/112', '--service-node-port-range=31000-31099'];
/** The server chooses the first sixteen of that range last: nobody else here has it. */
const ASKED_FOR = 31007;

onBothStores('services', FLAGS, (server) => {
  let client: Client;
  let path: string;
  beforeEach(async () => {
    ({ client } = server());
    path = servicesIn(await newNamespace(client));
  });
  const make = async (name: string, spec?: object): Promise<Document> =>
    created(await client.post(path, service(name, spec)));

  it('get an address, keep it through writes, and give it back with their end', async () => {
    const first = await make('a');
    const { clusterIP } = specOf(first);
    assert.match(clusterIP, /^10\.96\.0\.\d+$/);
    assert.equal(
      specOf(ok(await client.put(`${path}/a`, service('a', { selector: { a: 'b' } })))).clusterIP,
      clusterIP,
    );
    assert.equal(
      specOf(ok(await client.patch(`${path}/a`, { metadata: { labels: { c: 'd' } } }))).clusterIP,
      clusterIP,
    );
    refused(await client.post(path, service('b', { clusterIP })), 422, 'Invalid', /provided IP is already allocated/);
    ok(await client.delete(`${path}/a`));
    assert.equal(specOf(await make('b', { clusterIP })).clusterIP, clusterIP);
  });

  it('are refused ports of others, by field, and get them when those let go', async () => {
    const port = nodePortOf(await make('a', onNodes()));
    assert.ok(port >= 31000 && port <= 31099);
    const { details } = refused(await client.post(path, service('b', onNodes(port))), 422, 'Invalid');
    assert.deepEqual(details.causes, [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.ports[0].nodePort',
        message: `Invalid value: ${port}: provided port is already allocated`,
      },
    ]);
    ok(await client.patch(`${path}/a`, { spec: { type: 'ClusterIP' } }));
    assert.equal(nodePortOf(await make('b', onNodes(port))), port);
  });

  it('give back what they had when their collection is deleted', async () => {
    const ports: number[] = [];
    for (let i = 0; i < 5; i++) ports.push(nodePortOf(await make(`a${i}`, onNodes())));
    ok(await client.delete(path));
    for (const [i, port] of ports.entries()) await make(`b${i}`, onNodes(port));
  });

  it('hold nothing after a dry run, which tells what is taken', async () => {
    const dry = created(await client.post(`${path}?dryRun=All`, service('a', onNodes(ASKED_FOR))));
    assert.match(specOf(dry).clusterIP, /^10\.96\./);
    await make('a', onNodes(ASKED_FOR));
    refused(await client.post(`${path}?dryRun=All`, service('b', onNodes(ASKED_FOR))), 422, 'Invalid');
    await make('b');
    refused(await client.patch(`${path}/b?dryRun=All`, { spec: onNodes(ASKED_FOR) }), 422, 'Invalid');
    ok(await client.patch(`${path}/a?dryRun=All`, { spec: { type: 'ClusterIP' } }));
    refused(await client.post(path, service('c', onNodes(ASKED_FOR))), 422, 'Invalid');
    ok(await client.delete(`${path}/a`));
  });

  it('get addresses of both families', async () => {
    const { clusterIPs, ipFamilies } = specOf(await make('a', { ipFamilyPolicy: 'RequireDualStack' }));
    assert.deepEqual(ipFamilies, ['IPv4', 'IPv6']);
    assert.match(clusterIPs[1] ?? '', /^fd00:10::[\da-f]+$/);
    const one = ok(await client.patch(`${path}/a`, { spec: { ipFamilyPolicy: 'SingleStack' } }));
    assert.deepEqual(specOf(one).clusterIPs, clusterIPs.slice(0, 1));
    await make('b', { clusterIP: clusterIPs[1] });
  });

  it('are owned, but for what the server chose', async () => {
    const { metadata } = await make('a', onNodes());
    const [owner] = metadata['managedFields'] as { fieldsV1: { 'f:spec': object } }[];
    const fields = JSON.stringify(owner?.fieldsV1['f:spec']);
    assert.ok(fields.includes('f:ports') && !/clusterIP|nodePort|ipFamil/.test(fields), fields);
  });

  it('fill a range to its end, of many at once, each address once', async () => {
    const { items } = ok(await client.get('/api/v1/services'));
    const taken = new Set(items.map((it) => specOf(it).clusterIP).filter((ip) => ip.startsWith('10.')));
    const replies = await Promise.all(Array.from({ length: 260 }, (_, i) => client.post(path, service(`n${i}`))));
    const made = replies.filter(({ code }) => code === 201).map(({ body }) => specOf(body).clusterIP);
    assert.equal(new Set([...taken, ...made]).size, 254);
    assert.equal(made.length, 254 - taken.size);
    for (const reply of replies.filter(({ code }) => code !== 201)) {
      refused(reply, 500, 'InternalError', /failed to allocate a serviceIP: range is full/);
    }
    ok(await client.delete(path));
  });

  it('begin with the one that leads to the servers, which comes again when it is deleted', async () => {
    const platform = '/api/v1/namespaces/default/services/platform';
    const first = await eventually(async () => {
      const reply = await client.get(platform);
      return reply.code === 200 ? reply.body : undefined;
    });
    assert.equal(specOf(first).clusterIP, '10.96.0.1');
    assert.deepEqual(first.metadata.labels, { component: 'apiserver', provider: 'platform' });
    ok(await client.delete(platform));
    const again = await eventually(async () => {
      const reply = await client.get(platform);
      return reply.code === 200 && reply.body.metadata.uid !== first.metadata.uid ? reply.body : undefined;
    });
    assert.deepEqual(again.spec, first.spec);
  });
});

const never = new AbortController().signal;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const CLAIMS = '/registry/-/claims/';

/** What is claimed in the store, by claim. */
async function claimsIn(store: KeyValueStore): Promise<Map<string, string>> {
  const { kvs } = await store.range(CLAIMS, {}, never);
  return new Map(kvs.map(({ key, value }) => [key.slice(CLAIMS.length), value.toString()]));
}

/** What the services of a server should have claimed. */
async function claimsOfServices(client: Client): Promise<Map<string, string>> {
  const { items } = ok(await client.get('/api/v1/services'));
  const claims = items.flatMap((it) => {
    const key = `/registry/core/services/${it.metadata.namespace}/${it.metadata.name}`;
    const { clusterIPs, ports } = specOf(it);
    const held = [...clusterIPs.map((ip) => `clusterip/${ip}`), ...ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [`nodeport/${nodePort}`]))]; // prettier-ignore
    return held.map((claim): [string, string] => [claim, key]);
  });
  assert.equal(new Set(claims.map(([claim]) => claim)).size, claims.length, 'something is held twice');
  return new Map(claims.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Addresses {
  readonly subsets?: readonly { readonly addresses: readonly { readonly ip: string }[]; readonly ports: readonly { readonly port: number }[] }[]; // prettier-ignore
}

/** Where the service leads to, as `address:port`, by Endpoints and by slices, which have to agree. */
async function livingServers(client: Client): Promise<string[]> {
  const reply = await client.get('/api/v1/namespaces/default/endpoints/platform');
  if (reply.code !== 200) return [];
  const { subsets = [] } = reply.body as unknown as Addresses;
  const endpoints = subsets.flatMap(({ addresses, ports }) =>
    addresses.map(({ ip }) => `${ip}:${ports[0]?.port ?? 0}`),
  );
  const slices = ok(await client.get('/apis/discovery.platform.io/v1/namespaces/default/endpointslices?labelSelector=platform.io/service-name=platform')); // prettier-ignore
  const sliced = slices.items.flatMap((slice) => {
    const { endpoints: all, ports } = slice as unknown as { endpoints: { addresses: string[] }[]; ports: { port: number }[] }; // prettier-ignore
    return all.map(({ addresses }) => `${addresses[0] ?? ''}:${ports[0]?.port ?? 0}`);
  });
  return endpoints.sort().join() === sliced.sort().join() ? endpoints : [];
}

describe('services of two servers on one etcd', function () {
  this.timeout(90_000);
  let etcd: EtcdServer;
  let store: KeyValueStore;
  let one: TestServer;
  let two: TestServer;
  const hosts = (): string[] => [one, two].map(({ client }) => client.url.host).sort();
  const comesTo = (client: Client, wanted: readonly string[], withinMs?: number): Promise<unknown> =>
    eventually(async () => ((await livingServers(client)).join() === wanted.join() ? true : undefined), withinMs);

  before(async () => {
    etcd = await startEtcd();
    store = await openEtcdStore({ endpoints: [etcd.url], log: quiet });
    const flags = ['--service-cluster-ip-range=10.96.0.0/23'];
    one = await TestServer.start({ store: 'etcd', etcdUrl: etcd.url, flags });
    two = await TestServer.start({ store: 'etcd', etcdUrl: etcd.url, flags });
  });
  after(async () => {
    await one.close();
    await two.close();
    await store.close();
    await etcd.stop();
  });

  it('have an address each, 200 made at once through both', async () => {
    const path = servicesIn(await newNamespace(one.client));
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? one : two).client.post(path, service(`n${i}`, onNodes()))),
    );
    const made = replies.map((reply) => specOf(created(reply)));
    assert.equal(new Set(made.map(({ clusterIP }) => clusterIP)).size, 200);
    assert.equal(new Set(made.map(({ ports }) => ports[0]?.nodePort)).size, 200);
    assert.deepEqual(await claimsIn(store), await claimsOfServices(two.client));
    ok(await two.client.delete(path));
    assert.deepEqual(await claimsIn(store), await claimsOfServices(one.client));
  });

  it('leave nothing behind and nothing twice when a server is killed while it writes', async () => {
    const path = servicesIn(await newNamespace(one.client));
    for (let round = 0; round < 3; round++) {
      let acknowledged = 0;
      const write = async (i: number): Promise<void> => {
        const name = `r${round}-${i}`;
        const reply = await two.client.post(path, service(name, onNodes())).catch(() => undefined);
        if (reply?.code === 201 && ++acknowledged === 40) process.kill(two.pid, 'SIGKILL');
        if (i % 3 === 0) await two.client.delete(`${path}/${name}`).catch(() => undefined);
      };
      await Promise.all(Array.from({ length: 120 }, (_, i) => write(i)));
      assert.ok(acknowledged >= 40);
      await two.end();
      assert.deepEqual(await claimsIn(store), await claimsOfServices(one.client));
      await two.run();
    }
    ok(await one.client.delete(path));
  });

  it('are put right by a server that starts, when others wrote to the store', async () => {
    const path = servicesIn(await newNamespace(one.client));
    const { clusterIP, ports } = specOf(created(await one.client.post(path, service('a', onNodes()))));
    const operations = [
      { type: 'delete', key: `${CLAIMS}clusterip/${clusterIP}` },
      { type: 'put', key: `${CLAIMS}nodeport/30001`, value: Buffer.from('/registry/core/services/gone/gone') },
    ] as const;
    await store.transact({ conditions: [], operations }, never);
    await two.restart();
    const right = await claimsOfServices(one.client);
    assert.equal(right.has(`nodeport/${ports[0]?.nodePort ?? 0}`), true);
    await eventually(async () => {
      const claims = await claimsIn(store);
      return claims.size === right.size && claims.has(`clusterip/${clusterIP}`) ? true : undefined;
    });
    assert.deepEqual(await claimsIn(store), right);
  });

  it('lead to both servers, to one at once when the other stops, and to both again', async () => {
    await comesTo(one.client, hosts());
    await two.end();
    assert.deepEqual(await livingServers(one.client), [one.client.url.host]);
    await two.run();
    await comesTo(one.client, hosts());
  });

  it('lead to one server soon after the other is killed', async () => {
    await comesTo(one.client, hosts());
    process.kill(two.pid, 'SIGKILL');
    await comesTo(one.client, [one.client.url.host], 25_000);
    await two.restart();
    await comesTo(two.client, hosts());
  });

  it('lead to all servers again when somebody has taken them out', async () => {
    await comesTo(one.client, hosts());
    ok(await one.client.delete('/api/v1/namespaces/default/endpoints/platform'));
    ok(await one.client.patch('/api/v1/namespaces/default/services/platform', { metadata: { labels: { my: 'own' } } }));
    await comesTo(two.client, hosts());
    const kept = ok(await two.client.get('/api/v1/namespaces/default/services/platform'));
    assert.equal(kept.metadata.labels?.['my'], 'own');
  });
});

describe('flags of services', function () {
  this.timeout(90_000);

  for (const [flag, message] of [
    ['--service-cluster-ip-range=10.0.0.0/8', /--service-cluster-ip-range: "10.0.0.0\/8" is too large/],
    ['--service-node-port-range=1-99999', /--service-node-port-range: "1-99999" is no range of ports/],
    ['--advertise-address=here', /--advertise-address: "here" is no address/],
  ] as const) {
    it(`refuse ${flag} in one line`, async () => {
      const [port = 0] = await freePorts(1);
      await assert.rejects(TestServer.start({ store: 'embedded', flags: [flag, `--secure-port=${port}`] }), message);
    });
  }
});
